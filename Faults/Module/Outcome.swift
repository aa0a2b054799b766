/// The result of a request that was answered without an error.
enum Outcome {
    /// A reply; for a report, the number of its observers.
    case reply(UInt32)
    /// A reply that belongs to another request, or isn't complete.
    case wrong
    /// The caller gave up before the end.
    case gaveUp

    static func of(_ isRight: Bool) -> Outcome { isRight ? .reply(1) : .wrong }
    static func of(_ answer: UInt64, _ number: UInt64) -> Outcome { of(answer == number) }
}
