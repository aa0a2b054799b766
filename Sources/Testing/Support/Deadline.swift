/// A moment until which something is waited for.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(_ duration: Duration = TestBus.patience) { end = .now + duration }

    /// For `poll`: milliseconds that are left, rounded up; 0 where it has passed.
    var milliseconds: Int32 {
        let left = end - .now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    var hasPassed: Bool { end <= .now }
}
