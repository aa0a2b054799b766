/// A request's number, unique in the run: the process that made it, and its place among that
/// process's requests. It is less than 2^53.
public struct RequestNumber: Hashable, Sendable, CustomStringConvertible {
    public let value: UInt64

    public init(_ value: UInt64) { self.value = value }

    public init(process: UInt32, index: UInt64) { value = UInt64(process) << 36 | index }

    public var process: UInt32 { UInt32(truncatingIfNeeded: value >> 36) }
    /// The place among the process's requests, from 1.
    public var index: UInt64 { value & (1 << 36 - 1) }

    public var description: String { "\(process)/\(index)" }
}
