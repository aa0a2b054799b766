import Glibc

/// The system's users and groups by name. Blocks, where the system asks a server.
enum Accounts {
    static func user(named name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }

    static func group(named name: String) -> UInt32? {
        // A group's entry lists its members, so that it can be long.
        var buffer = [CChar](repeating: 0, count: 1 << 20)
        var entry = GroupEntry()
        var found: UnsafeMutablePointer<GroupEntry>?
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }
}

/// C's `struct group`, under a name that is not also a function's here.
private typealias GroupEntry = Glibc.group
