import Glibc
import StrataLoop

/// The folders below some roots, and the state of those files in them that matter.
struct DevTree {
    /// How many folders are looked at.
    static let mostFolders = 4_096

    private(set) var folders: Set<String> = []
    private(set) var marks: [String: ProgramFile.Identity] = [:]
    /// The first folder that was one too many; nil if all were looked at.
    private(set) var beyond: String?

    /// Looks at all folders but hidden ones and caches. Links to folders aren't followed. A folder that can't be read
    /// counts as empty.
    init(roots: Set<String>, _ files: DevFiles) {
        var left = roots.sorted()
        while let folder = left.popLast() {
            guard !folders.contains(folder) else { continue }
            guard folders.count < Self.mostFolders else {
                beyond = folder
                return
            }
            folders.insert(folder)
            guard let entries = opendir(folder) else { continue }
            defer { closedir(entries) }
            while let entry = readdir(entries) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard !DevFiles.isIgnored(name) else { continue }
                let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR {
                    left.append(path)
                } else if files.kind(of: path) != nil {
                    marks[path] = ProgramFile.Identity(path)
                }
            }
        }
    }

    /// The files that were made, changed or removed since an earlier look.
    func changes(since earlier: DevTree) -> [String] {
        let changed = marks.filter { earlier.marks[$0.key] != $0.value }.keys
        return (changed + earlier.marks.keys.filter { marks[$0] == nil }).sorted()
    }
}
