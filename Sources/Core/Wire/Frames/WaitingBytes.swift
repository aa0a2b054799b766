/// Waiting bytes of a broker, on their way into a state's file or out of it. They are referred to
/// in place, not copied.
public enum WaitingBytes {
    case array([UInt8])
    /// Buffers in order. They belong to the broker whose state is being written, or to the mapped
    /// file that is being read.
    case pieces([UnsafeRawBufferPointer])

    public init() { self = .array([]) }

    public var count: Int {
        switch self {
        case .array(let bytes): bytes.count
        case .pieces(let pieces): pieces.reduce(0) { $0 + $1.count }
        }
    }

    /// Calls `use` once with all buffers, which are valid until it returns.
    public func withPieces<Result>(_ use: ([UnsafeRawBufferPointer]) -> Result) -> Result {
        switch self {
        case .array(let bytes): bytes.withUnsafeBytes { use([$0]) }
        case .pieces(let pieces): use(pieces)
        }
    }

    /// All bytes as an array, copied if they aren't one yet.
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
