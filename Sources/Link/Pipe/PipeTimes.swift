/// The times of a pipe, in nanoseconds.
public enum PipeTimes {
    public static let millisecond: UInt64 = 1_000_000
    public static let second: UInt64 = 1_000_000_000

    /// Between two signs of life, and between two hellos.
    public static let sign = second
    /// Between two signs while the carrier says that nobody listens.
    public static let signToNobody = 250 * millisecond
    /// How long the answer to a question may take until it seems to be lost.
    public static let longestAnswer = 10 * second
    /// The silence after which a session stalls, unless `lost` is short.
    public static let stalled = 2_500 * millisecond
    /// How long an acknowledgement may wait for a piece that takes it along.
    public static let acknowledgement = 25 * millisecond
    /// The shortest and the longest wait for progress before bytes are published again. It doubles
    /// each time.
    public static let shortestResend = 250 * millisecond
    public static let longestResend = second
    /// The shortest time between two resends that the other link asked for, so that it can't have
    /// the window sent all the time.
    public static let betweenAsked = 50 * millisecond
    /// The first and the longest wait after a session that the broker ended.
    public static let shortestPenalty = second
    public static let longestPenalty = 30 * second
}
