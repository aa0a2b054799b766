import StrataCore

extension ManifestReader {
    /// Returns a mapping's entries in order. If a key is given twice, the first entry counts, and
    /// the second is an error.
    /// - Parameter example: An example of such a mapping, for the error message.
    func entries(_ field: Field?, like example: String? = nil) -> [Field.Entry] {
        guard let field else { return [] }
        guard case .mapping(let pairs) = field.node.content else {
            expected("a mapping\(example.map { " such as \($0)" } ?? "")", field)
            return []
        }
        var firsts: [[UInt8]: YAMLNode.Pair] = [:]
        var result: [Field.Entry] = []
        for pair in pairs {
            let value = Field(node: pair.value, path: field.path(of: pair.key))
            let entry = Field.Entry(key: pair.key, value: value, keyLine: pair.line, keyColumn: pair.column)
            // Compared as bytes, because the equality of strings ignores different spellings of a
            // character.
            if let first = firsts[Array(pair.key.utf8)] {
                let file = first.value.file
                let place = file == pair.value.file ? "line \(first.line)" : "\(files[file]):\(first.line)"
                fail(key: entry, "expected each key once; \(place) has it already")
            } else {
                firsts[Array(pair.key.utf8)] = pair
                result.append(entry)
            }
        }
        return result
    }

    /// Returns the values of a mapping that may have only the keys of its shape.
    func members(_ field: Field?, _ shape: ManifestShape.Name) -> [String: Field] {
        let keys = shapes[shape].names
        var result: [String: Field] = [:]
        for entry in entries(field) {
            if keys.contains(entry.key) {
                result[entry.key] = entry.value
            } else {
                let nearest = nearestNames(to: entry.key, in: keys).first
                let hint = nearest.map { "did you mean \($0)?" } ?? "expected \(Self.oneOf(keys))"
                fail(key: entry, "unknown key; \(hint)")
            }
        }
        return result
    }

    /// Returns the elements of a list.
    func elements(_ field: Field?) -> [Field] {
        guard let field else { return [] }
        guard case .sequence(let nodes) = field.node.content else {
            expected("a list", field)
            return []
        }
        return nodes.enumerated().map { Field(node: $1, path: "\(field.path)[\($0)]") }
    }

    /// Returns a value as JSON; nil for a number that isn't finite.
    func json(_ field: Field) -> JSON? {
        switch field.node.content {
        case .sequence: return .array(elements(field).compactMap(json))
        case .mapping:
            return .object(
                entries(field).compactMap { entry in json(entry.value).map { JSON.Member(entry.key, $0) } })
        case .scalar:
            if case .number(let number)? = field.node.scalar, !number.isFinite {
                expected("a finite number", field)
                return nil
            }
            return field.node.scalar
        }
    }
}

extension ManifestReader {
    /// Reads a row's URLs. They must lead to the row's own interfaces, and no other row may have
    /// the same pattern.
    func urls(_ field: Field?, of row: AppTable.Row) -> [AppTable.URLMapping] {
        var result: [AppTable.URLMapping] = []
        for entry in entries(field, like: #"{"item/:name": Catalog/item}"#) {
            let (to, isPublic) = target(entry.value, of: row)
            let slash = entry.key.utf8.firstIndex(of: UInt8(ascii: "/")) ?? entry.key.endIndex
            // A host alone stands for its root, as in a URL.
            let path = slash == entry.key.endIndex ? "/" : String(entry.key[slash...])
            let host = entry.key[..<slash].lowercased()
            do throws(BusURLError) {
                let pattern = try URLPattern(path)
                if let other = mapped.value(of: pattern, host: host) {
                    fail(
                        key: entry,
                        "expected each pattern once for a host, whatever its bound names; \(other) maps it too")
                    continue
                }
                try mapped.add(pattern, host: host, value: row.name)
                if let to { result.append(.init(host: host, path: path, to: to, isPublic: isPublic)) }
            } catch {
                fail(key: entry, "expected HOST/PATH; \(error.message)")
            }
        }
        return result
    }

    /// Reads where a URL leads: `Interface/action`, or a mapping with `to` and `public`.
    private func target(_ field: Field, of row: AppTable.Row) -> (to: String?, isPublic: Bool) {
        guard case .mapping = field.node.content else { return (action(field, of: row), false) }
        let members = members(field, .urlTarget)
        guard let to = members["to"] else {
            fail(field, "expected the key to, an Interface/action; found none")
            return (nil, false)
        }
        return (action(to, of: row), bool(members["public"]) ?? false)
    }

    /// Returns the `Interface/action` that a URL leads to; the row must provide the interface.
    private func action(_ field: Field, of row: AppTable.Row) -> String? {
        guard let text = text(field, "Interface/action") else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let interface = Self.interface(String(parts[0])), Name.isAction(String(parts[1])) else {
            expected("Interface/action", field)
            return nil
        }
        guard row.provides.contains(interface) else {
            let known = row.provides.map { "\($0)/\(parts[1])" }
            expected("an interface that \(row.name) provides", field, among: known)
            return nil
        }
        return "\(interface)/\(parts[1])"
    }
}
