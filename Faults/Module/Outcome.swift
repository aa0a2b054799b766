/// What became of a request that was answered without an error.
enum Outcome {
    /// A reply; of a report, how many observers it had.
    case reply(UInt32)
    /// A reply that isn't the one to this request, or isn't whole.
    case wrong
    /// The caller left before the end.
    case gaveUp

    static func of(_ isRight: Bool) -> Outcome { isRight ? .reply(1) : .wrong }
    static func of(_ answer: UInt64, _ number: UInt64) -> Outcome { of(answer == number) }
}
