import TestSupport

/// The tests in the sources, as `Suite/name`.
enum TestNames {
    static func all() throws -> Set<String> {
        let examples = try Repository.entries("Examples").map { "Examples/\($0)/Tests" }
        let folders = ["Tests"] + examples.filter { (try? Repository.entries($0)) != nil }
        return try folders.flatMap(Repository.sources).reduce(into: []) { names, path in
            names.formUnion(in: try Repository.lines(path))
        }
    }
}

extension Set<String> {
    /// Adds the tests of one file. They are functions with `@Test` in a type that begins a line,
    /// or in a type after a line with `@Suite`.
    fileprivate mutating func formUnion(in lines: [String]) {
        var suite: Substring?
        var isMarked = false
        var isSuiteNext = false
        for line in lines {
            if line == "}" { suite = nil }
            defer { isSuiteNext = line.contains("@Suite") && name(in: line, behind: Self.types) == nil }
            guard line.hasPrefix(" "), !isSuiteNext else {
                if !line.hasPrefix("/"), let type = name(in: line, behind: Self.types) { suite = type }
                continue
            }
            if line.contains("@Test") { isMarked = true }
            guard let function = name(in: line, behind: ["func"]) else { continue }
            if isMarked, let suite { insert("\(suite)/\(function)") }
            isMarked = false
        }
    }

    private static let types: Set<Substring> = ["struct", "class", "enum", "extension"]

    /// Returns the name after the first of these words in a line.
    private func name(in line: String, behind keywords: Set<Substring>) -> Substring? {
        guard keywords.contains(where: line.contains) else { return nil }
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(where: keywords.contains), keyword + 1 < words.count else { return nil }
        return words[keyword + 1].prefix { $0.isLetter || $0.isNumber }
    }
}
