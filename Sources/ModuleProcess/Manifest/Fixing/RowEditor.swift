import StrataCore

/// Writes what a row lacks into the row's text.
struct RowEditor {
    /// The row's key and its value.
    let row: YAMLSpan.Pair
    /// The mapping that the row stands in.
    let rows: YAMLSpan

    /// The keys whose lists and mappings show the row's style.
    private static let keys = ["provides", "requires", "urls", "observes", "broadcasts", "reports"]

    /// What stands in the way of an edit.
    struct Obstacle: Error {
        /// The path of the value in the row.
        var steps: [ManifestPlaces.Step]
        var message: String
    }

    /// Adds facts to the row.
    func add(_ facts: [MissingFact], to editor: inout YAMLEditor) throws(Obstacle) {
        try check(row.value, [])
        var added: [YAMLEditor.Entry] = []
        var lists: [(key: String, names: [String])] = []
        func note(_ key: String, _ name: String) {
            let place = lists.firstIndex { $0.key == key }
            if let place { lists[place].names.append(name) } else { lists.append((key, [name])) }
        }
        var urls: [YAMLEditor.Entry] = []
        var reports: [(module: String, names: [String])] = []
        for fact in facts {
            switch fact {
            case .provides(let interface): note("provides", interface)
            case .requires(let interface): note("requires", interface)
            case .broadcasts(let name): note("broadcasts", name)
            case .url(let url):
                urls.append(.init("\(YAMLEditor.scalar(url.host + url.path)): \(YAMLEditor.scalar(url.to))"))
            case .reports(let name, let module):
                let place = reports.firstIndex { $0.module == module }
                if let place { reports[place].names.append(name) } else { reports.append((module, [name])) }
            }
        }
        for (key, names) in lists {
            let entries = names.map { YAMLEditor.Entry(YAMLEditor.scalar($0)) }
            guard let value = row.value[key]?.value else {
                added.append(list(key, entries))
                continue
            }
            try check(value, [.key(key)])
            editor.add(entries, to: value)
        }
        if !urls.isEmpty { try add(urls, to: "urls", &added, &editor) }
        var targets: [YAMLEditor.Entry] = []
        for (module, names) in reports {
            let names = names.map { YAMLEditor.Entry(YAMLEditor.scalar($0)) }
            guard let list = row.value["reports"]?.value[module]?.value else {
                let inline = names.map(\.inline).joined(separator: ", ")
                targets.append(.init("\(YAMLEditor.scalar(module)): [\(inline)]"))
                continue
            }
            try check(row.value["reports"]!.value, ["reports"])  // because the list was found in it
            try check(list, ["reports", .key(module)])
            editor.add(names, to: list)
        }
        if !targets.isEmpty { try add(targets, to: "reports", &added, &editor) }
        guard !added.isEmpty else { return }
        if case .mapping = row.value.content { return editor.add(added, to: row.value) }
        editor.fill(row.value, of: row.key, with: added, step: step)
    }

    /// Adds entries to one of the row's mappings, or notes that the row needs it.
    private func add(
        _ entries: [YAMLEditor.Entry], to key: String, _ added: inout [YAMLEditor.Entry], _ editor: inout YAMLEditor
    ) throws(Obstacle) {
        guard let value = row.value[key]?.value else {
            let inline = "\(key): {\(entries.map(\.inline).joined(separator: ", "))}"
            let lines = ["\(key):"] + entries.map { "  " + $0.inline }
            return added.append(.init(inline, lines: isInLines ? lines : nil))
        }
        try check(value, [.key(key)])
        editor.add(entries, to: value)
    }

    private func list(_ key: String, _ entries: [YAMLEditor.Entry]) -> YAMLEditor.Entry {
        let inline = "\(key): [\(entries.map(\.inline).joined(separator: ", "))]"
        let indent = String(repeating: " ", count: listIndent)
        return .init(inline, lines: isInLines ? ["\(key):"] + entries.map { "\(indent)- \($0.inline)" } : nil)
    }

    /// The lists and mappings that show the row's style, with their keys.
    private var samples: [YAMLSpan.Pair] {
        guard case .mapping(let pairs) = row.value.content else { return [] }
        return pairs.filter { pair in
            if case .scalar = pair.value.content { return false }
            return Self.keys.contains(pair.key.text ?? "")
        }
    }

    /// Whether the row's lists are written in lines, not in brackets.
    private var isInLines: Bool { !samples.isEmpty && samples.allSatisfy { !$0.value.isFlow } }

    /// How far the row's lists are indented below their keys.
    private var listIndent: Int {
        for sample in samples {
            if case .sequence = sample.value.content { return max(0, sample.value.column - sample.key.column) }
        }
        return 2
    }

    /// How far an empty row's keys are indented, as those of the other rows; nil if rows are in braces.
    private var step: Int? { Self.step(of: rows) }

    /// Returns how far keys of rows are indented; nil if rows are in braces.
    static func step(of rows: YAMLSpan) -> Int? {
        guard !rows.isFlow, case .mapping(let pairs) = rows.content else { return nil }
        for pair in pairs where !pair.value.isFlow {
            if case .mapping = pair.value.content { return max(1, pair.value.column - pair.key.column) }
        }
        return 2
    }

    /// Refuses a value that may stand in other places, too, or that isn't written here.
    private func check(_ value: YAMLSpan, _ steps: [ManifestPlaces.Step]) throws(Obstacle) {
        if case .alias = value.content {
            throw Obstacle(steps: steps, message: "an alias stands here, so nothing can be added: write its value out")
        }
        if value.isAnchored {
            throw Obstacle(
                steps: steps, message: "aliases may stand for this value, so nothing is added: write it without &")
        }
    }
}
