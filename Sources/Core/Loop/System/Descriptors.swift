internal import CUV
internal import Glibc
public import StrataCore

/// Operations on the descriptors of this process.
public enum Descriptors {
    /// Raises the limit of open descriptors to the hard limit (RLIMIT_NOFILE).
    /// - Returns: the new limit.
    public static func raiseLimit() -> Int { Int(clamping: strata_raise_descriptor_limit()) }

    /// Closes a descriptor.
    public static func close(_ descriptor: Int32) { Glibc.close(descriptor) }

    /// Sets whether programs that this process starts or executes inherit a descriptor.
    public static func hand(_ descriptor: Int32, on isHandedOn: Bool) throws(SystemError) {
        let status = strata_set_close_on_exec(descriptor, isHandedOn ? 0 : 1)
        guard status == 0 else { throw SystemError(status, "hand descriptor \(descriptor) on") }
    }
}

/// The two ends of a pipe. Executed programs don't inherit either one, except as one of
/// `ChildProcess`'s `descriptors`.
public struct Pipe: Sendable {
    public let reading: Int32
    public let writing: Int32

    /// - Parameter blocks: whether reading blocks; writing always does.
    public init(readingBlocks blocks: Bool = false) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let status = strata_pipe(&ends)
        guard status == 0 else { throw SystemError(status, "make a pipe") }
        reading = ends[0]
        writing = ends[1]
        if !blocks { _ = fcntl(reading, F_SETFL, O_NONBLOCK) }
    }

    /// Opens the reading end a second time, for another process. The flags that process sets, such
    /// as O_NONBLOCK, don't affect this descriptor.
    /// - Returns: a descriptor, which the caller closes.
    public func reopenReading() throws(SystemError) -> Int32 {
        let descriptor = open("/proc/self/fd/\(reading)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open a pipe once more") }
        return descriptor
    }

    /// Lets a process of another user open the writing end by a path, such as `/dev/stderr`. If
    /// this process may not change owners, only opening by a path fails; everything else works.
    public func give(to user: UInt32) { _ = fchown(writing, user, gid_t.max) }

    public func closeReading() { Glibc.close(reading) }
    public func closeWriting() { Glibc.close(writing) }
}
