/// A moment until which something is waited for.
package struct Deadline {
    package let end: ContinuousClock.Instant

    package init(_ duration: Duration = TestBus.patience, from start: ContinuousClock.Instant = .now) {
        end = start + duration
    }

    /// For `poll`: milliseconds that are left, rounded up; 0 where it has passed.
    var milliseconds: Int32 {
        let left = end - .now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    var hasPassed: Bool { hasPassed(at: .now) }

    package func hasPassed(at now: ContinuousClock.Instant) -> Bool { end <= now }
}
