import Glibc
import Strata

enum Folder {
    /// Makes the folder that a file is to be in, where there is none.
    static func make(for path: String) throws {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        try make(for: folder)
        guard mkdir(folder, 0o755) != 0, errno != EEXIST else { return }
        throw ModuleError("Storage.no-folder", "\(folder) can't be made: \(String(cString: strerror(errno)))")
    }
}
