/// When to connect again: after 10 ms, twice as long each time up to 1 s, and
/// for 30 s in all since the connection was lost.
struct Reconnection {
    static let first: UInt64 = 10
    static let longest: UInt64 = 1_000
    static let patience: UInt64 = 30_000

    private var lostAt: UInt64?
    private var delay = first

    init() {}

    /// Whether the connection is lost.
    var isTrying: Bool { lostAt != nil }

    /// Milliseconds until the next try; nil where it has been long enough.
    mutating func next(now: UInt64) -> UInt64? {
        let since = lostAt ?? now
        lostAt = since
        guard now < since + Self.patience else { return nil }
        defer { delay = min(delay * 2, Self.longest) }
        return delay
    }

    /// Hello was answered.
    mutating func succeeded() { self = Reconnection() }
}
