import Glibc
import StrataCore
import StrataLoop

/// The folder of an app whose nodes all run on this machine: their keys, and the configuration of
/// their NATS server.
///
/// It is beside the app's sockets, and no other user may read it. Its lock is held as long as it is
/// in use, so what a killed process left behind is replaced.
final class LocalFolder {
    let path: String
    private let descriptor: Int32

    /// Makes the folder, or takes over one that isn't in use.
    /// - Throws: a `LaunchError` with code 3 if another process uses it.
    init(_ table: AppTable) throws(LaunchError) {
        let sockets = SocketPath.folder(of: SocketPath.standard(app: table.app, hasGroup: table.group != nil))
        path = "\(sockets)/\(table.app).nodes"
        do throws(SocketPathError) {
            try SocketPath.prepareFolder(sockets, group: table.group)
            try SocketPath.prepareFolder(path, group: table.group)
        } catch {
            throw LaunchError(2, "the folder for the nodes' keys can't be used: \(error)")
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LaunchError(2, "\(path) can't be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw LaunchError(3, "all nodes of \(table.app) run already, with the keys in \(path): end them first")
        }
        clear()
    }

    /// Returns the path of a file in the folder.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file that only this user may read.
    func write(_ name: String, _ text: String) throws(LaunchError) {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        defer { if descriptor >= 0 { close(descriptor) } }
        let bytes = Array(text.utf8)
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw LaunchError(1, "\(file(name)) can't be written: \(String(cString: strerror(errno)))")
        }
    }

    /// Removes the folder and what is in it.
    func remove() {
        clear()
        rmdir(path)
        close(descriptor)
    }

    private func clear() {
        guard let folder = opendir(path) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { unlink(file(name)) }
        }
    }
}
