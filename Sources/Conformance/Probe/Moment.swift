/// The moment until which the kit waits for something.
struct Moment {
    private let end: ContinuousClock.Instant

    init(after time: Duration) { end = .now + time }

    /// The milliseconds that are left, for `poll`, rounded up; 0 once the moment has passed.
    var left: Int32 { Int32(clamping: max(0, Int64(((end - .now) / .milliseconds(1)).rounded(.up)))) }
}
