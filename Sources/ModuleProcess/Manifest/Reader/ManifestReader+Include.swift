import Glibc
import StrataCore

/// `include`: rows that stand in files of their own.
extension ManifestReader {
    /// Returns the manifest's tree with the rows of the included files after its own. A file that
    /// can't be read is an error.
    func included(into root: YAMLNode, _ size: inout ManifestSize) -> YAMLNode {
        guard case .mapping(var pairs) = root.content, let include = pairs.first(where: { $0.key == "include" }) else {
            return root
        }
        var rows: [YAMLNode.Pair] = []
        for path in includedPaths(Field(node: include.value, path: "include")) {
            files.append(path)
            do throws(ManifestFile.Failure) {
                rows += try Self.rows(path, number: files.count - 1, &size)
            } catch {
                fail("", error.line, error.column, error.message, in: files.count - 1)
                if size.bytes > ManifestSize.mostBytes { break }
            }
        }
        let place = pairs.firstIndex { $0.key == "modules" } ?? pairs.count
        if place == pairs.count {
            let none = YAMLNode(content: .mapping([]), line: include.line, column: include.column)
            pairs.append(.init(key: "modules", line: include.line, column: include.column, value: none))
        }
        // Another value is an error that the reader of rows finds.
        guard case .mapping(let own) = pairs[place].value.content else { return root }
        pairs[place].value.content = .mapping(own + rows)
        var whole = root
        whole.content = .mapping(pairs)
        return whole
    }

    private static func rows(
        _ path: String, number: Int, _ size: inout ManifestSize
    ) throws(ManifestFile.Failure) -> [YAMLNode.Pair] {
        let tree = try ManifestFile.tree(path, number: number, &size)
        if case .mapping(let rows)? = tree?.content { return rows }
        // An empty file may be one that is still being written, so it is no way to write no rows.
        throw ManifestFile.Failure(
            message: "expected rows such as Storage: {run: [bin/storage]}, or {} for none; found "
                + (tree?.found ?? "an empty file"), line: tree?.line, column: tree?.column)
    }

    /// Returns the paths of the included files, each once, in the order of the patterns and then of
    /// their names.
    private func includedPaths(_ field: Field) -> [String] {
        var patterns = [field]
        if case .sequence = field.node.content { patterns = elements(field) }
        if !ManifestRules.includes.contains(patterns.count) {
            fail(field, "expected at most \(ManifestRules.includes.upperBound) paths; found \(patterns.count)")
            return []
        }
        var paths: [String] = []
        var seen: Set<String> = []
        for pattern in patterns {
            guard let text = text(pattern, "a file's path, in whose last part * may stand", where: Self.isPattern)
            else { continue }
            // One file may have several spellings.
            for path in self.paths(text, pattern) where seen.insert(ManifestFile.resolved(path)).inserted {
                paths.append(path)
            }
        }
        guard paths.count <= ManifestSize.mostIncluded else {
            fail(field, "expected at most \(ManifestSize.mostIncluded) files; found more")
            return []
        }
        return paths
    }

    private static func isPattern(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !last.isEmpty else { return false }
        return !parts.dropLast().contains { $0.contains("*") }
    }

    /// Returns the paths that a pattern matches, by name, each as the manifest's own path leads to
    /// it. A path without `*` needn't exist: reading it is an error then.
    private func paths(_ pattern: String, _ field: Field) -> [String] {
        let path = pattern.hasPrefix("/") ? pattern : (ManifestFile.parent(of: files[0]) ?? "") + pattern
        guard pattern.utf8.contains(UInt8(ascii: "*")) else { return [path] }
        do throws(ManifestFile.Failure) { return try Self.matching(path) } catch {
            fail(field, "its folder \(error.message)")
            return []
        }
    }

    /// Returns the paths that a path with `*` in its last part matches, by name.
    static func matching(_ path: String) throws(ManifestFile.Failure) -> [String] {
        let folder = ManifestFile.parent(of: path) ?? "./"
        guard let entries = opendir(folder) else { throw ManifestFile.failure("can't be opened") }
        defer { closedir(entries) }
        let prefix = ManifestFile.parent(of: path) ?? ""
        let last = Array(path.utf8.dropFirst(prefix.utf8.count))
        var names: [[UInt8]] = []
        // One more than allowed is enough to find that there are too many.
        while names.count <= ManifestSize.mostIncluded, let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if matches(name, last) { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { prefix + String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a name matches a pattern in which each `*` stands for any text. A name that begins
    /// with a dot, as those of many editors' temporary files do, needs a pattern that does.
    private static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        guard name.first != dot || pattern.first == dot, name != [dot], name != [dot, dot] else { return false }
        let parts = pattern.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, name.starts(with: first) else { return false }
        var rest = name.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            while !rest.starts(with: part) {
                if rest.isEmpty { return false }
                rest = rest.dropFirst()
            }
            rest = rest.dropFirst(part.count)
        }
        return rest.count >= last.count && rest.suffix(last.count) == last
    }
}
