/// A stream that begins in the middle of an outbox, and whose reader counts its bytes.
///
/// The positions of an outbox also count removed frames, of which the reader never gets a byte. So
/// this notes where positions run ahead of the bytes.
struct OutboxStream {
    /// The position at which it begins.
    private let start: UInt64
    /// The number of its bytes that were written; below 0 until those before it are written.
    private var count: Int
    /// The position up to which everything was written or removed.
    private var position: UInt64
    /// The places at which frames were removed, in order: the number of bytes before the place, and
    /// of all removed bytes up to it. A place may be noted too early, but never too late.
    private var removed: [(before: Int, total: UInt64)] = []
    /// The removed bytes of places that were forgotten.
    private var forgotten: UInt64 = 0

    /// The most places that are known. Beyond it the older half is forgotten.
    private static let mostPlaces = 1_024

    /// - Parameters:
    ///   - position: the position up to which the outbox is written.
    ///   - pending: the bytes that wait before the stream.
    init(at start: UInt64, written position: UInt64, pending: Int) {
        self.start = start
        self.position = position
        count = -pending
    }

    /// Notes that bytes were written.
    /// - Parameter position: the position up to which everything is written or removed now.
    mutating func wrote(_ bytes: Int, upTo position: UInt64) {
        let removed = position - self.position - UInt64(bytes)
        if removed > 0 { note(removed) }
        self.position = position
        count += bytes
    }

    private mutating func note(_ bytes: UInt64) {
        if removed.count == Self.mostPlaces {
            forgotten = removed[Self.mostPlaces / 2 - 1].total
            removed.removeFirst(Self.mostPlaces / 2)
        }
        removed.append((count, (removed.last?.total ?? forgotten) + bytes))
    }

    /// Returns a position that every frame is behind that isn't wholly among the first bytes of the
    /// stream. A frame before it may not be among them, if a removed frame is near.
    func position(behind bytes: UInt64) -> UInt64 {
        let total = removed.last { $0.before < 0 || UInt64($0.before) < bytes }?.total ?? forgotten
        return start &+ bytes &+ total
    }
}
