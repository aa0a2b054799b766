/// The moment until which a test waits for something.
package struct Deadline {
    package let end: ContinuousClock.Instant

    package init(_ duration: Duration = TestBus.patience, from start: ContinuousClock.Instant = .now) {
        end = start + duration
    }

    /// The milliseconds that are left, for `poll`. They are rounded up, and 0 once the deadline
    /// has passed.
    var milliseconds: Int32 {
        let left = end - .now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    var hasPassed: Bool { hasPassed(at: .now) }

    package func hasPassed(at now: ContinuousClock.Instant) -> Bool { end <= now }
}
