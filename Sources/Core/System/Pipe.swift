internal import CUV
internal import Glibc

/// A pipe's two ends. Neither is inherited by a program that is executed, but
/// for what `ChildProcess` hands on by name.
public struct Pipe: Sendable {
    public let reading: Int32
    public let writing: Int32

    /// - Parameter blocks: whether reading waits; writing always does.
    public init(readingBlocks blocks: Bool = false) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let status = strata_pipe(&ends)
        guard status == 0 else { throw SystemError(status, "make a pipe") }
        reading = ends[0]
        writing = ends[1]
        if !blocks { _ = fcntl(reading, F_SETFL, O_NONBLOCK) }
    }

    public func closeReading() { Glibc.close(reading) }
    public func closeWriting() { Glibc.close(writing) }
}
