internal import CUV
internal import Glibc
public import StrataCore

/// The descriptors of this process.
public enum Descriptors {
    /// Lets this process open as many as its hard limit (RLIMIT_NOFILE) allows.
    /// - Returns: how many those are.
    public static func raiseLimit() -> Int { Int(clamping: strata_raise_descriptor_limit()) }

    /// Gives one up.
    public static func close(_ descriptor: Int32) { Glibc.close(descriptor) }

    /// Whether a program that this process becomes, or starts, has a descriptor too.
    public static func hand(_ descriptor: Int32, on isHandedOn: Bool) throws(SystemError) {
        let status = strata_set_close_on_exec(descriptor, isHandedOn ? 0 : 1)
        guard status == 0 else { throw SystemError(status, "hand descriptor \(descriptor) on") }
    }
}

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

    /// The reading end opened once more, for another process: what that one sets
    /// on it, such as not to block, is its own affair then.
    /// - Returns: a descriptor, the caller's to close.
    public func reopenReading() throws(SystemError) -> Int32 {
        let descriptor = open("/proc/self/fd/\(reading)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open a pipe once more") }
        return descriptor
    }

    /// Lets a process of another user open its end by a path, such as `/dev/stderr`. Where
    /// this process may not change owners, that stays refused, and all else works.
    public func give(to user: UInt32) { _ = fchown(writing, user, gid_t.max) }

    public func closeReading() { Glibc.close(reading) }
    public func closeWriting() { Glibc.close(writing) }
}
