import Glibc
import StrataCore

/// Writes a folder of files: all of it, or nothing.
enum NewFolder {
    /// Writes into a temporary folder beside the wanted one, and renames it at the end.
    /// - Throws: `usage` if the path exists, or can't be written.
    static func write(_ files: [NewFile], to path: String) throws(Failure) {
        var path = path
        while path.utf8.count > 1, path.last == "/" { path.removeLast() }
        var status = stat()
        guard lstat(path, &status) != 0 else {
            throw Failure(.usage, "\(path) already exists: choose another folder with --path, or remove it")
        }
        guard errno == ENOENT, !path.isEmpty else { throw failure("\(path) can't be made") }
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        var template = Array("\(parent).strata-new-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw failure("no folder can be made in \(parent.isEmpty ? "." : parent)")
        }
        let temporary = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        do throws(Failure) {
            for file in files { try write(file, in: temporary) }
            // mkdtemp makes a folder that only its user may enter.
            let mask = umask(0)
            umask(mask)
            guard chmod(temporary, 0o777 & ~mask) == 0, rename(temporary, path) == 0 else {
                throw failure("\(path) can't be made")
            }
        } catch {
            remove(files, from: temporary)
            throw error
        }
    }

    /// Writes files into a folder that is there: all of them, or nothing.
    /// - Parameter last: What follows, and may fail, too.
    /// - Throws: `usage` if one exists, or can't be written.
    static func add(_ files: [NewFile], to folder: String, then last: () throws(Failure) -> Void) throws(Failure) {
        var written: [NewFile] = []
        let missing = files.flatMap { folders(of: $0.path) }.filter { access("\(folder)/\($0)", F_OK) != 0 }
        do throws(Failure) {
            for file in files {
                var status = stat()
                guard lstat("\(folder)/\(file.path)", &status) != 0 else {
                    throw Failure(.usage, "\(file.path) already exists: choose another name, or remove it")
                }
                written.append(file)
                try write(file, in: folder)
            }
            try last()
        } catch {
            for file in written { unlink("\(folder)/\(file.path)") }
            for inner in missing.reversed() { rmdir("\(folder)/\(inner)") }
            throw error
        }
    }

    private static func write(_ file: NewFile, in folder: String) throws(Failure) {
        for inner in folders(of: file.path) where mkdir("\(folder)/\(inner)", 0o777) != 0 && errno != EEXIST {
            throw failure("the folder \(inner) can't be made")
        }
        let mode: mode_t = file.isProgram ? 0o777 : 0o666
        let descriptor = open("\(folder)/\(file.path)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure("\(file.path) can't be made") }
        let code = Descriptor.write(Array(file.text.utf8), to: descriptor)
        guard close(descriptor) == 0, code == 0 else {
            throw Failure(
                .usage, "\(file.path) can't be written: \(String(cString: strerror(code == 0 ? errno : code)))")
        }
    }

    /// Removes the files that were written so far.
    private static func remove(_ files: [NewFile], from folder: String) {
        for file in files { unlink("\(folder)/\(file.path)") }
        for file in files { for inner in folders(of: file.path).reversed() { rmdir("\(folder)/\(inner)") } }
        rmdir(folder)
    }

    /// Returns `a` and `a/b` for `a/b/c`.
    private static func folders(of path: String) -> [String] {
        let parts = path.split(separator: "/").dropLast()
        return parts.indices.map { parts[...$0].joined(separator: "/") }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(.usage, "\(what): \(String(cString: strerror(errno)))")
    }
}

/// A file of a new folder.
struct NewFile {
    /// The path of the file inside the folder.
    var path: String
    var text: String
    /// Whether it may be executed.
    var isProgram = false
}
