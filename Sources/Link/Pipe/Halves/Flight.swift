/// How many bytes may be under way to the other link, so that a slow carrier is not filled with more
/// than it carries in about a second.
///
/// A carrier that is slow holds what was published. If the window went there at once, signs of life
/// and cancels would wait behind it, and bytes that only wait would be published again. So the limit
/// begins small. It grows with the bytes that arrive, as in TCP's slow start (RFC 5681, 3.1), unless
/// the round trip shows that bytes wait. When nothing arrives in time, it begins anew with one small
/// piece.
struct Flight {
    static let first = 64 << 10
    static let least = 4 << 10
    /// The round trip from which on the limit no longer grows, in nanoseconds, beyond the shortest
    /// one that was measured.
    static let longestWait = PipeTimes.second / 2

    private let most: Int
    private var shortest = UInt64.max
    private(set) var limit: Int

    /// - Parameter most: the window.
    init(most: Int) {
        self.most = most
        limit = min(Self.first, most)
    }

    /// The most bytes of a piece. Several fit into the limit, so that each is a sign of life.
    var largestPiece: Int { max(limit / 4, Self.least) }

    /// Notes that bytes have arrived.
    /// - Parameters:
    ///   - count: how many.
    ///   - before: how many were under way.
    mutating func acknowledged(_ count: Int, of before: Int, roundTrip: UInt64) {
        if roundTrip > 0 { shortest = min(shortest, roundTrip) }
        let waits = roundTrip > 0 && roundTrip - shortest > Self.longestWait
        // A limit that wasn't used doesn't grow.
        guard limit < most, !waits, before >= limit / 2 else { return }
        limit = min(limit + count, most)
    }

    /// Notes that nothing has arrived in time.
    mutating func timedOut() { limit = Self.least }
}
