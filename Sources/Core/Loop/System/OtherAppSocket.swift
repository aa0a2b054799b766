internal import CUV
internal import Glibc
public import StrataCore

/// The socket of another app's broker, which may be another user's: first found, then connected to.
/// Only a socket that this user alone can have put there is used, and only if the user, or root,
/// listens on it.
///
/// Nothing here waits: each step asks the kernel alone. The folder and the socket are examined
/// through descriptors, so that nothing can be swapped in between a check and its use.
public struct OtherAppSocket: ~Copyable {
    private let file: Int32
    private let user: UInt32

    /// Why a socket wasn't used, as a part of a message.
    public struct Problem: Error {
        public let message: String
        public init(_ message: String) { self.message = message }
    }

    /// Returns the paths at which an app may listen, in the order of the protocol's section 1.
    /// - Parameters:
    ///   - user: the user that its broker runs as.
    ///   - own: the user of this process.
    ///   - runtimeFolder: `XDG_RUNTIME_DIR` of this process.
    public static func paths(
        _ place: OtherApp.Place, user: UInt32, own: UInt32, runtimeFolder: String?
    ) -> [String] {
        guard case .name(let app) = place else {
            if case .socket(let path) = place { return [path] }
            return []
        }
        let runtime = user == own ? runtimeFolder : "/run/user/\(user)"
        var paths = [SocketPath.standard(app: app, hasGroup: true, user: user, runtimeFolder: nil)]
        for folder in [runtime, nil] {
            let path = SocketPath.standard(app: app, hasGroup: false, user: user, runtimeFolder: folder)
            if !paths.contains(path), path.utf8.count <= SocketPath.longest { paths.append(path) }
        }
        return paths
    }

    /// Finds a socket.
    /// - Parameters:
    ///   - user: the user that must be listening. Root may, too: a service manager listens as root on
    ///     the sockets of system units, and root can pretend to be anyone anyway.
    ///   - isShared: whether the path is a default one of another user. Nothing of it may then be a
    ///     file system of its own: that user's program could let this process wait.
    ///   - own: the path on which this app itself listens; nil for none.
    public init(_ path: String, user: UInt32, isShared: Bool, own: String?) throws(Problem) {
        let folder = try Self.openFolder(of: path, user, isShared: isShared)
        defer { close(folder) }
        if isShared, strata_is_mount_root(folder) == 1 { throw Problem("its folder is a file system of its own") }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw Self.problem(errno) }
        guard status.st_uid == user || status.st_uid == 0 else {
            throw Problem("its folder belongs to user \(status.st_uid), not to \(user)")
        }
        guard status.st_mode & 0o022 == 0 else { throw Problem("other users may write to its folder") }

        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let file = strata_open_path(folder, name, 0)
        guard file >= 0 else { throw Self.problem(errno) }
        do throws(Problem) { try Self.check(file, user, isShared: isShared, own: own) } catch {
            close(file)
            throw error
        }
        (self.file, self.user) = (file, user)
    }

    deinit { close(file) }

    private static func check(_ file: Int32, _ user: UInt32, isShared: Bool, own: String?) throws(Problem) {
        if isShared, strata_is_mount_root(file) == 1 { throw Problem("it is a file system of its own") }
        var (status, ownStatus) = (stat(), stat())
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { throw Problem("it isn't a socket") }
        guard status.st_uid == user || status.st_uid == 0 else {
            throw Problem("it belongs to user \(status.st_uid), not to \(user)")
        }
        if let own, lstat(own, &ownStatus) == 0, ownStatus.st_dev == status.st_dev, ownStatus.st_ino == status.st_ino {
            throw Problem("it is this app's own socket, whose URLs have the manifest's schemes and need no opens")
        }
    }

    /// Connects to it, without waiting.
    /// - Returns: a connected, non-blocking descriptor, and who listens.
    public borrowing func connect() throws(Problem) -> (descriptor: Int32, listener: PeerCredentials) {
        let descriptor = strata_unix_socket()
        guard descriptor >= 0 else { throw Problem("the broker has no free file descriptor") }
        let code = strata_unix_connect(descriptor, "/proc/self/fd/\(file)")
        guard code == 0 else {
            close(descriptor)
            throw code == EAGAIN ? Problem("too many connections wait for it") : Self.problem(code)
        }
        var (pid, uid, gid) = (Int32(0), UInt32(0), UInt32(0))
        guard strata_peer_credentials(descriptor, &pid, &uid, &gid) == 0, uid == user || uid == 0 else {
            close(descriptor)
            throw Problem("user \(uid) listens on it, not \(user)")
        }
        return (descriptor, PeerCredentials(pid: pid, uid: uid, gid: gid, seenAt: strata_boot_ticks()))
    }

    /// Opens the folder of a socket. A user may mount a file system over its own `/run/user/UID`, and
    /// a look into it would wait for that one's program. The system mounts a tmpfs there.
    private static func openFolder(of path: String, _ user: UInt32, isShared: Bool) throws(Problem) -> Int32 {
        let runtime = "/run/user/\(user)"
        guard isShared, path.hasPrefix("\(runtime)/") else {
            return try openFolder(AT_FDCWD, SocketPath.folder(of: path))
        }
        let parent = try openFolder(AT_FDCWD, runtime)
        defer { close(parent) }
        guard strata_is_mount_root(parent) != 1 || fileSystem(of: parent) == "tmpfs" else {
            throw Problem("\(runtime) is a file system of its own, and no tmpfs")
        }
        return try openFolder(parent, String(SocketPath.folder(of: path).dropFirst(runtime.count + 1)))
    }

    private static func openFolder(_ parent: Int32, _ path: String) throws(Problem) -> Int32 {
        let folder = strata_open_path(parent, path, 1)
        guard folder >= 0 else { throw problem(errno, "its folder is a link or not a folder") }
        return folder
    }

    /// Returns the type of the file system that a folder is in; nil if the kernel doesn't say. Unlike
    /// `statfs`, this asks no program behind it.
    private static func fileSystem(of folder: Int32) -> Substring? {
        let words = { (text: String) in text.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\n" }) }
        let facts = words(ProcessFiles.text(of: "/proc/self/fdinfo/\(folder)") ?? "")
        guard let key = facts.firstIndex(of: "mnt_id:"), key + 1 < facts.count else { return nil }
        let mounts = ProcessFiles.text(of: "/proc/self/mountinfo") ?? ""
        guard let line = mounts.split(separator: "\n").first(where: { $0.hasPrefix("\(facts[key + 1]) ") }) else {
            return nil
        }
        // The mount's own facts end with a dash.
        let mount = words(String(line))
        return mount.firstIndex(of: "-").flatMap { $0 + 1 < mount.count ? mount[$0 + 1] : nil }
    }

    /// Returns the problem of an errno.
    private static func problem(_ code: Int32, _ link: String = "it is a link") -> Problem {
        switch code {
        case ENOENT: Problem("there is no socket")
        case ECONNREFUSED: Problem("nobody listens")
        case ELOOP, ENOTDIR: Problem(link)
        default: Problem(String(cString: strerror(code)))
        }
    }
}
