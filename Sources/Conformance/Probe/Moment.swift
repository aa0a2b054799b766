/// The moment until which the kit waits for something.
package struct Moment {
    private let end: ContinuousClock.Instant

    package init(after time: Duration) { end = .now + time }

    /// The milliseconds that are left, for `poll`, rounded up; 0 once the moment has passed.
    package var left: Int32 { Int32(clamping: max(0, Int64(((end - .now) / .milliseconds(1)).rounded(.up)))) }
}
