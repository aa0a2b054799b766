import StrataCore

extension ManifestReader {
    /// Reads the adapters; each must lead to an interface that some row provides.
    func adapters(_ field: Field?) {
        var names: Set<String> = []
        for entry in entries(field) {
            guard let name = Self.interface(entry.key) else {
                expected(Self.interfaceRule, key: entry)
                continue
            }
            if !names.insert(name).inserted {
                fail(key: entry, "expected each adapter once; \(name) is defined already")
            }
            let members = members(entry.value, .adapter)
            if members["to"] == nil { fail(key: entry, "expected the key to, an interface; found none") }
            let to = interface(members["to"])
            var adapter = AppTable.Adapter(name: name, to: to ?? "")
            adapter.actions = entries(members["actions"]).compactMap(action)
            adapter.notices = renames(members["notices"], "a name of 1 to 256 bytes", Self.isNotification)
            if let to, let field = members["to"] { adapterPlaces.append((name, to, field)) }
            table.adapters.append(adapter)
        }
        chains()
    }

    private func action(_ entry: Field.Entry) -> AppTable.AdaptedAction? {
        guard Name.isAction(entry.key) else {
            expected(Self.actionRule, key: entry)
            return nil
        }
        let members = members(entry.value, .adaptedAction)
        // An action that only renames members keeps its own name.
        let to = members["to"].map { text($0, Self.actionRule, where: Name.isAction) } ?? entry.key
        var action = AppTable.AdaptedAction(name: entry.key, to: to ?? entry.key)
        action.params = members["params"].map { oneToOne($0) } ?? []
        action.result = members["result"].map { oneToOne($0) } ?? []
        return action
    }

    private func renames(_ field: Field?, _ what: String, _ rule: (String) -> Bool) -> [AppTable.Rename] {
        entries(field).compactMap { entry in
            if !rule(entry.key) { expected(what, key: entry) }
            return text(entry.value, what, where: rule).map { AppTable.Rename(from: entry.key, to: $0) }
        }
    }

    /// Reads renamed members; two members can't have the same new name.
    private func oneToOne(_ field: Field) -> [AppTable.Rename] {
        let renames = renames(field, "a member's name") { _ in true }
        var seen: Set<[UInt8]> = []
        for rename in renames where !seen.insert(Array(rename.to.utf8)).inserted {
            fail(field, "expected each name once; found \(JSON.string(rename.to)) twice")
        }
        return renames
    }

    /// Follows each adapter to its end. An interface that a row provides ends a chain, even if an
    /// adapter has the same name.
    private func chains() {
        let next = Dictionary(adapterPlaces.map { ($0.name, $0.to) }, uniquingKeysWith: { first, _ in first })
        let known = providers.keys.sorted() + adapterPlaces.map(\.name)
        var ends: Set<String> = []
        for (name, to, field) in adapterPlaces where providers[name] == nil {
            var chain = [name]
            var seen: Set<String> = [name]
            var current = to
            while providers[current] == nil, !ends.contains(current), let following = next[current],
                seen.insert(current).inserted
            {
                chain.append(current)
                current = following
            }
            if providers[current] == nil, next[current] != nil, !ends.contains(current) {
                fail(field, "expected an end; found the cycle \((chain + [current]).joined(separator: " to "))")
            } else if current == to, providers[to] == nil, next[to] == nil {
                expected(
                    "an interface that a row provides, or another adapter", field, among: known.filter { $0 != name })
            }
            ends.formUnion(chain)
        }
    }
}
