/// The stream from the other node to the own broker: the bytes that the broker's socket has not
/// taken yet.
struct ReceivingHalf: ~Copyable {
    private var kept: ByteRing
    /// The number of bytes that the broker's socket has taken.
    private(set) var taken: UInt64 = 0
    /// The last `taken` and `wanted` that the other link was told.
    private var told: (taken: UInt64, wanted: UInt64) = (0, 0)
    /// The place from which a resend was last asked for.
    private var askedFrom: UInt64?
    let window: Int

    init(window: Int) {
        self.window = window
        kept = ByteRing(limit: window)
    }

    enum Outcome: Equatable {
        case taken(Int)
        case nothingNew
        /// Bytes before it are missing. Whether to ask for them: each gap is asked for once.
        case gap(asks: Bool)
    }

    var waiting: Int { kept.count }
    /// The place of the first byte that is missing.
    var wanted: UInt64 { taken + UInt64(kept.count) }
    /// Whether the other link doesn't know the newest places.
    var hasNews: Bool { told.taken != taken || told.wanted != wanted }
    /// Whether enough of the window has become free to tell the other link at once.
    var hasUrgentNews: Bool { taken - told.taken >= UInt64(window / 4) }
    var memory: Int { kept.capacity }

    /// Whether so many bytes at a place are within the window.
    func mayCome(_ count: Int, at offset: UInt64) -> Bool { offset + UInt64(count) <= taken + UInt64(window) }

    /// Takes the new bytes of a piece, as far as the window has room for them.
    mutating func received(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Outcome {
        let end = offset + UInt64(bytes.count)
        guard offset <= wanted else {
            let isNew = askedFrom != wanted
            askedFrom = wanted
            return .gap(asks: isNew)
        }
        guard end > wanted else { return .nothingNew }
        let new = UnsafeRawBufferPointer(rebasing: bytes[Int(wanted - offset)...])
        kept.append(new)
        return .taken(new.count)
    }

    /// Notes how many bytes the broker's socket has taken.
    mutating func brokerTook(_ count: Int) {
        kept.drop(count)
        taken += UInt64(count)
    }

    func withBytes<Result>(_ use: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result) -> Result {
        kept.withBytes(use)
    }

    /// Writes the newest places into a header, so that the other link knows them.
    mutating func tell(_ header: inout PieceHeader) {
        header.ack = taken
        header.waiting = UInt32(kept.count)
        told = (taken, wanted)
    }

    /// Lets the next gap be asked for, even if it is the one that was asked for last.
    mutating func forgetAsking() { askedFrom = nil }

    mutating func shrink() { kept.shrink() }
}
