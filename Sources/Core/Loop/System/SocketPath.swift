import StrataCore
import Glibc

/// The location of an app's socket, and the safety of its folder (protocol, section 1).
public enum SocketPath {
    /// The longest path of a Unix socket, in bytes.
    public static let longest = 107

    /// Returns the default path of an app's socket.
    ///
    /// - Parameters:
    ///   - app: the app's name, or with its node `moments@berlin`.
    ///   - hasGroup: whether the manifest names a `group`.
    ///   - user: the id of the broker's user.
    ///   - runtimeFolder: `XDG_RUNTIME_DIR`; an empty or relative one counts as unset, as its
    ///     specification demands.
    public static func standard(app: String, hasGroup: Bool, user: UInt32, runtimeFolder: String?) -> String {
        // The nodes of an app share its folder.
        if hasGroup { return "/tmp/strata-\(user)-\(app.prefix { $0 != "@" })/\(app).sock" }
        if let runtimeFolder, runtimeFolder.utf8.first == UInt8(ascii: "/") {
            var folder = runtimeFolder[...]
            while folder.utf8.count > 1, folder.utf8.last == UInt8(ascii: "/") { folder = folder.dropLast() }
            return "\(folder == "/" ? "" : folder)/strata/\(app).sock"
        }
        return "/tmp/strata-\(user)/\(app).sock"
    }

    /// Returns the default path of an app's socket for this process's user and environment.
    public static func standard(app: String, hasGroup: Bool) -> String {
        standard(app: app, hasGroup: hasGroup, user: geteuid(), runtimeFolder: runtimeFolder)
    }

    /// `XDG_RUNTIME_DIR` of this process.
    public static var runtimeFolder: String? { getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } }

    /// Refuses a path that no socket can have: an empty one, one with a null byte, or one of more
    /// than 107 bytes.
    public static func check(_ path: String) throws(SocketPathError) {
        let length = path.utf8.count
        guard length > 0, !path.utf8.contains(0) else { throw SocketPathError(path: path, message: "is not a path") }
        guard length <= longest else {
            throw SocketPathError(
                path: path,
                message: "has \(length) bytes; a socket's path may have \(longest); give a shorter one with --socket")
        }
    }

    /// Returns the folder of a socket's path.
    public static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the folder of a default path if it is missing, and sets its group and mode. An
    /// existing one must be a folder (not a link), belong to this process's user, and have no wider
    /// mode.
    ///
    /// The parent folder must exist. A path that the user chose doesn't get this treatment; it is
    /// the user's own responsibility. Blocks on the file system.
    ///
    /// - Parameter group: the socket's group, if the app has one: the mode is then 0710 instead of
    ///   0700.
    public static func prepareFolder(_ folder: String, group: UInt32?) throws(SocketPathError) {
        func refuse(_ what: String) -> SocketPathError { SocketPathError(path: folder, message: what) }
        func failed(_ what: String) -> SocketPathError { refuse("\(what): \(String(cString: strerror(errno)))") }
        if mkdir(folder, 0o700) != 0, errno != EEXIST { throw failed("can't be made") }
        // Checked through the descriptor, so that nothing can be swapped in after the checks.
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOTDIR || errno == ELOOP ? refuse("is a link or not a folder") : failed("can't be opened")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failed("can't be examined") }
        guard status.st_uid == geteuid() else {
            throw refuse("belongs to user \(status.st_uid), not to \(geteuid()); remove it, or give --socket")
        }
        let wanted: mode_t = group == nil ? 0o700 : 0o710
        let mode = status.st_mode & 0o7777
        guard mode & ~wanted == 0 else {
            let (found, most) = (String(mode, radix: 8), String(wanted, radix: 8))
            throw refuse("has mode 0\(found), wider than 0\(most); fix or remove it")
        }
        if let group, status.st_gid != group {
            guard fchmod(descriptor, 0o700) == 0, fchown(descriptor, uid_t.max, group) == 0 else {
                throw failed("can't be given to group \(group)")
            }
        }
        guard fchmod(descriptor, wanted) == 0 else { throw failed("can't be given its mode") }
    }
}

/// The reason why a socket can't be at a path.
public struct SocketPathError: Error, Equatable, CustomStringConvertible {
    /// The path of the socket or of its folder.
    public var path: String
    /// What is wrong with the path, and what to do about it.
    public var message: String

    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }

    public var description: String { "\(path) \(message)" }
}
