import StrataManifest

/// What the files of an app under development are for: its package, its manifest, or some rows' scripts.
struct DevFiles {
    enum Kind: Equatable {
        /// The manifest, a file that it includes, or one with settings.
        case manifest
        /// Source code that a build reads.
        case source
        /// A Python file.
        case script
        /// A row's program, which may be a script itself.
        case program
    }

    /// What a row runs.
    private struct Row {
        let name: String
        let program: String
        /// The Python files among the program and its arguments, by their absolute paths.
        let scripts: [String]
    }

    private static let sources: Set<Substring> = [
        "swift", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm", "s", "S", "modulemap",
    ]

    private let rows: [Row]
    private let programs: Set<String>

    /// - Parameter manifest: nil before one could be read.
    init(_ manifest: Manifest?) {
        rows = (manifest?.here ?? []).compactMap { _, process in
            guard let program = process.executable else { return nil }
            let words = [program] + process.run.dropFirst()
            return Row(
                name: process.name, program: program,
                scripts: words.filter { $0.hasSuffix(".py") }.map { $0.hasPrefix("/") ? $0 : "\(process.folder)/\($0)" }
            )
        }
        programs = Set(rows.map(\.program))
    }

    /// Whether a file or a folder of this name is passed over: hidden ones, as a build's, and caches.
    static func isIgnored(_ name: String) -> Bool {
        name.hasPrefix(".") || name == "__pycache__" || name == "node_modules"
    }

    /// What a file is for; nil if it doesn't matter.
    func kind(of path: String) -> Kind? {
        let name = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        let suffix = name.lastIndex(of: ".").map { name[name.index(after: $0)...] } ?? ""
        if programs.contains(path) { return .program }
        if suffix == "yaml" || suffix == "yml" { return .manifest }
        if suffix == "py" { return .script }
        return Self.sources.contains(suffix) ? .source : nil
    }

    /// Returns the rows that restart for a changed script. These are the rows that run it. If no row runs it, they are
    /// the rows whose own script is in its folder, or in a folder above. Otherwise any row may import it, so all rows
    /// that run Python restart.
    func rows(of script: String) -> Set<String> {
        let own = rows.filter { $0.scripts.contains(script) }
        guard own.isEmpty else { return Set(own.map(\.name)) }
        let python = rows.filter { !$0.scripts.isEmpty }
        let near = python.filter { row in row.scripts.contains { script.hasPrefix(Self.folder(of: $0) + "/") } }
        return Set((near.isEmpty ? python : near).map(\.name))
    }

    /// The folders in which the rows' Python files are.
    var scriptFolders: Set<String> {
        Set(rows.flatMap(\.scripts).map(Self.folder(of:)))
    }

    /// The program of each row.
    var programOfRow: [String: String] { Dictionary(rows.map { ($0.name, $0.program) }) { first, _ in first } }

    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
