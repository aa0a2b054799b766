import StrataCore

/// A row that a command adds to a manifest.
public struct NewRow: Sendable {
    public var name: String
    public var level: String
    /// The program and its arguments.
    public var run: [String]
    public var provides: [String]
    /// The node on which it runs; nil in an app without nodes.
    public var node: String?

    public init(name: String, level: String, run: [String], provides: [String], node: String? = nil) {
        (self.name, self.level, self.run, self.provides, self.node) = (name, level, run, provides, node)
    }

    /// The row's keys and values, as they are written.
    private var pairs: [String] {
        func list(_ names: [String]) -> String { "[\(names.map(YAMLEditor.scalar).joined(separator: ", "))]" }
        return ["level: \(YAMLEditor.scalar(level))"] + (node.map { ["node: \(YAMLEditor.scalar($0))"] } ?? [])
            + ["run: \(list(run))", "provides: \(list(provides))"]
    }

    /// The row as an entry of `modules`.
    /// - Parameters:
    ///   - step: How far the keys are indented below the name.
    ///   - isApart: Whether a blank line comes before it.
    fileprivate func entry(step: Int, isApart: Bool) -> YAMLEditor.Entry {
        let indent = String(repeating: " ", count: step)
        return YAMLEditor.Entry(
            "\(name): {\(pairs.joined(separator: ", "))}",
            lines: (isApart ? [""] : []) + ["\(name):"] + pairs.map { indent + $0 })
    }
}

extension ManifestFix {
    /// Adds a row at the end of the manifest's own rows, in their style. Blocks on the file.
    /// - Parameter environment: As for `Manifest.load`.
    /// - Throws: Why it can't be added: no rows are written in this file, or the errors that the result
    ///   would have.
    public init(
        adding row: NewRow, to manifest: Manifest, environment: [String: String]
    ) throws(ManifestErrors) {
        let bytes: [UInt8]
        do throws(ManifestFile.Failure) {
            bytes = try ManifestFile.bytes(manifest.path, number: 0)
        } catch {
            throw ManifestErrors([manifest.problem([], error.message)])
        }
        guard let modules = YAMLSpan.tree(bytes)?["modules"]?.value, case .mapping(let rows) = modules.content,
            !modules.isAnchored
        else {
            throw ManifestErrors([
                manifest.problem(["modules"], "expected rows here, written as a mapping, to add one to; add it by hand")
            ])
        }
        var editor = YAMLEditor(bytes)
        let isApart = rows.count > 1 && rows.last.map { editor.hasBlankLine(before: $0.key) } == true
        editor.add([row.entry(step: RowEditor.step(of: modules) ?? 2, isApart: isApart)], to: modules)
        try self.init([File(path: manifest.path, before: bytes, after: editor.edited)], of: manifest, environment)
    }
}
