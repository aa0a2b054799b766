import Glibc
import StrataManifest

/// The files of an app that belong to a package of it, by their paths in the manifest's folder.
struct AppFiles {
    /// The manifest, and what it includes.
    private(set) var manifests: [String] = []
    /// Programs, scripts, and what was asked for.
    private(set) var files: Set<String> = []
    /// Those of them that are Python.
    private(set) var python: Set<String> = []
    /// The rows' working folders.
    private(set) var folders: Set<String> = []
    /// The programs that aren't in the manifest's folder, and the files that programs get as arguments: the
    /// other machine must have them.
    private(set) var outside: Set<String> = []
    /// The rows whose program or script is in the package.
    private(set) var rows: [String] = []

    private let folder: String

    /// Finds the files.
    /// - Parameter further: paths of files and folders in the manifest's folder that are packed, too.
    /// - Throws: `usage` for a file that isn't there, or lies outside of the manifest's folder.
    init(_ manifest: Manifest, further: [String]) throws(Failure) {
        folder = manifest.folder
        for path in manifest.files {
            guard let inner = inner(path) else {
                throw Failure(
                    .usage, "\(path) is included from outside of \(folder), so it can't be packed: move it there")
            }
            manifests.append(inner)
        }
        for process in manifest.processes {
            guard let program = process.executable else { continue }
            let words = process.run.dropFirst().map { $0.hasPrefix("/") ? $0 : "\(process.folder)/\($0)" }
            var isPacked = false
            let own = inner(program)
            guard own == nil && process.run[0].hasPrefix("/") || isFile(program) else {
                throw Failure(.usage, "\(process.name): \(program) isn't there: build it first")
            }
            if let inner = own {
                add(inner)
                isPacked = true
            } else if process.run[0].hasPrefix("/") {
                outside.insert(program)
            } else {
                throw Failure(
                    .usage,
                    "\(process.name): \(process.run[0]) leads out of \(folder), so it can't be packed: move it there")
            }
            for word in words where isFile(word) {
                guard let inner = inner(word) else { continue }
                // A program's own arguments may be what it writes, or a key: an upgrade would replace it, and
                // everybody could read it.
                guard own == nil else {
                    outside.insert(word)
                    continue
                }
                add(inner)
                isPacked = true
            }
            if isPacked { rows.append(process.name) }
            if let inner = inner(process.folder), inner != "." { folders.insert(inner) }
        }
        for path in further {
            guard access(path, F_OK) == 0 else {
                throw Failure(.usage, "--include \(path): \(String(cString: strerror(errno)))")
            }
            guard let inner = inner(path) else {
                throw Failure(.usage, "--include \(path): it isn't in \(folder), the manifest's folder")
            }
            try addAll(of: inner)
        }
    }

    /// Adds a file; with a Python file also what it may import: the others of its folder, and packages there.
    private mutating func add(_ path: String) {
        files.insert(path)
        guard Self.isPython("\(folder)/\(path)") else { return }
        python.insert(path)
        addPython(in: path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".", depth: 16)
    }

    private mutating func addPython(in parent: String, depth: Int) {
        for name in names(in: parent) where depth > 0 && !name.hasPrefix(".") {
            let path = parent == "." ? name : "\(parent)/\(name)"
            if name.hasSuffix(".py"), isFile("\(folder)/\(path)") {
                files.insert(path)
                python.insert(path)
            } else if isFile("\(folder)/\(path)/__init__.py") {
                addPython(in: path, depth: depth - 1)
            }
        }
    }

    /// Whether a file is Python by its name, or by its first line.
    private static func isPython(_ path: String) -> Bool {
        if path.hasSuffix(".py") { return true }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = max(0, read(descriptor, &bytes, bytes.count))
        let line = String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return line.hasPrefix("#!") && line.contains("python")
    }

    /// Whether a Python file imports strata's client, and no copy of it is packed.
    var needsPythonClient: Bool {
        guard !python.contains(where: { "/\($0)".hasSuffix("/strata_bus.py") || $0.contains("strata_bus/__init__.py") })
        else { return false }
        return python.contains { path in
            let text = String(decoding: ReplacedFile.content("\(folder)/\(path)") ?? [], as: UTF8.self)
            return text.split(separator: "\n").contains { line in
                let words = line.split { " \t,.;".contains($0) }
                return (words.first == "import" || words.first == "from")
                    && words.contains { $0 == "strata_bus" || $0 == "strata_testing" }
            }
        }
    }

    private mutating func addAll(of path: String) throws(Failure) {
        var status = stat()
        guard stat("\(folder)/\(path)", &status) == 0 else {
            throw Failure(.usage, "--include \(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            // A pipe or a device can't be packed: reading it may never end.
            guard isFile("\(folder)/\(path)") else { throw Failure(.usage, "--include \(path): it is not a file") }
            return _ = files.insert(path)
        }
        for name in names(in: path) where !name.hasPrefix(".") && name != "__pycache__" {
            let inner = path == "." ? name : "\(path)/\(name)"
            // A link to a folder may lead back here.
            if isFile("\(folder)/\(inner)") || !isLink("\(folder)/\(inner)") { try addAll(of: inner) }
        }
    }

    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// A path in the manifest's folder, from there; nil for one that leads elsewhere.
    private func inner(_ path: String) -> String? {
        if path == folder { return "." }
        // As it is written: a folder such as .build/release may be a link to another one here.
        if path.hasPrefix(folder + "/"), !path.split(separator: "/").contains("..") {
            return String(path.dropFirst(folder.utf8.count + 1))
        }
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let found = String(cString: resolved)
        if found == folder { return "." }
        return found.hasPrefix(folder + "/") ? String(found.dropFirst(folder.utf8.count + 1)) : nil
    }

    private func names(in path: String) -> [String] {
        guard let entries = opendir("\(folder)/\(path)") else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
