import Glibc
import Strata

/// A file of JSON lines that appears under its name when it is complete. All of
/// it blocks.
struct LinesFile: Sendable {
    let output: LineOutput
    /// From the root.
    var fullPath: String { output.name }
    private var partPath: String { Self.part(of: fullPath) }

    init(path: String) throws {
        let fullPath = path.hasPrefix("/") ? path : Self.workingFolder + "/" + path
        let number = open(Self.part(of: fullPath), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw LineOutput.problem(fullPath, "opened") }
        output = LineOutput(descriptor: Descriptor(number), name: fullPath)
    }

    /// Ends writing: now the file is there, also after a loss of power.
    func complete() throws {
        try output.sync()
        guard rename(partPath, fullPath) == 0 else { throw LineOutput.problem(fullPath, "written") }
    }

    func abandon() { unlink(partPath) }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func part(of path: String) -> String { path + ".part" }

    private static var workingFolder: String {
        guard let folder = getcwd(nil, 0) else { return "." }
        defer { free(folder) }
        return String(cString: folder)
    }
}
