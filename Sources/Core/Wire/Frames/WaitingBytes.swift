/// Bytes that wait in a broker, on their way into a state's file or out of it. They are
/// referred to where they stand, and not copied.
public enum WaitingBytes {
    case array([UInt8])
    /// Pieces in their order, which belong to somebody else: to the broker that is written
    /// down, or to the mapped file that is read.
    case pieces([UnsafeRawBufferPointer])

    public init() { self = .array([]) }

    public var count: Int {
        switch self {
        case .array(let bytes): bytes.count
        case .pieces(let pieces): pieces.reduce(0) { $0 + $1.count }
        }
    }

    /// Calls back once with all pieces, which are valid until it returns.
    public func withPieces<Result>(_ use: ([UnsafeRawBufferPointer]) -> Result) -> Result {
        switch self {
        case .array(let bytes): bytes.withUnsafeBytes { use([$0]) }
        case .pieces(let pieces): use(pieces)
        }
    }

    /// An array of them all; made by a copy where they are no array yet.
    public var array: [UInt8] {
        switch self {
        case .array(let bytes): return bytes
        case .pieces(let pieces):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count)
            for piece in pieces { bytes += piece }
            return bytes
        }
    }
}
