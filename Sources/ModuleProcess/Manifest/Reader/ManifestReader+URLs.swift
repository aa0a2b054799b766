import StrataCore

extension ManifestReader {
    /// A row's URLs. Their interfaces are the row's own, and no pattern is
    /// another's.
    func urls(_ field: Field?, of row: AppTable.Row) -> [AppTable.URLMapping] {
        var result: [AppTable.URLMapping] = []
        for entry in entries(field, like: #"{"item/:name": Catalog/item}"#) {
            let to = target(entry.value, of: row)
            let slash = entry.key.utf8.firstIndex(of: UInt8(ascii: "/")) ?? entry.key.endIndex
            // The host alone stands for its root, as in a URL.
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
                if let to { result.append(.init(host: host, path: path, to: to)) }
            } catch {
                fail(key: entry, "expected HOST/PATH; \(error.message)")
            }
        }
        return result
    }

    /// `Interface/action` of an interface that the row provides.
    private func target(_ field: Field, of row: AppTable.Row) -> String? {
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
