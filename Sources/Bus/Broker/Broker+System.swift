internal import Glibc

extension Broker {
    /// The user that this process runs as.
    public static var processUser: UInt32 { geteuid() }

    var processID: Int32 { getpid() }
}

enum FileRemoval {
    static func remove(_ path: String) { unlink(path) }
}
