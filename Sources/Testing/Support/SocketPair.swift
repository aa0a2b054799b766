internal import CUV
internal import Glibc

/// Two connected descriptors that no child inherits by accident.
///
/// A pipe would do, but the C library's module has no `pipe2`. Another test could start a child
/// between `pipe` and `fcntl`.
enum SocketPair {
    static func make() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure.system("make a pair of sockets", errno)
        }
        return (ends[0], ends[1])
    }
}
