/// The bytes that a broker writes in a session: known from their place, so that they need not be kept.
struct KnownStream {
    /// A length that no power of two divides, so that bytes at a wrong place differ.
    private static let period = 65_521
    private static let pattern: [UInt8] = {
        var state: UInt64 = 1
        return (0..<period * 3).map { index in
            guard index < period else { return 0 }
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()
    /// The pattern, repeated so that a piece at any place is contiguous.
    private static let table: [UInt8] = (0..<period * 3).map { pattern[$0 % period] }

    static let longestPart = 2 * period

    /// Differs by session and by direction.
    let key: UInt64

    /// Lends the bytes at a place.
    func withBytes<Result>(at offset: UInt64, count: Int, _ use: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = Int((offset &+ key) % UInt64(Self.period))
        return Self.table.withUnsafeBytes { use(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    }

    /// Whether bytes are the stream's at a place.
    func holds(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        var place = 0
        while place < bytes.count {
            let count = min(Self.longestPart, bytes.count - place)
            let part = UnsafeRawBufferPointer(rebasing: bytes[place..<place + count])
            let isEqual = withBytes(at: offset + UInt64(place), count: count) { $0.elementsEqual(part) }
            guard isEqual else { return false }
            place += count
        }
        return true
    }
}
