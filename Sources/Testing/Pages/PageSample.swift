/// A fenced block of a ``Page``.
public struct PageSample: Sendable {
    /// The page's file.
    public let page: String
    /// The number of its first line in the page.
    public let line: Int
    /// What stands behind the fence: `swift`, `console`, `yaml`.
    public let language: String
    /// What the comment before it says; empty where there is none.
    public let marking: String
    /// Lines that it needs, and that the page doesn't show; before a `console`
    /// block a script.
    public let given: [String]
    /// Its lines, without the fences.
    public let lines: [String]

    /// Its lines as a file has them.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Nobody runs or compiles it.
    public var isOnlyShown: Bool { marking == "only shown" }

    /// What follows a word that its marking begins with: of `file` the path. Nil
    /// where it begins with another word.
    public func marked(_ word: String) -> String? {
        marking.hasPrefix(word + " ") ? String(marking.dropFirst(word.count + 1)) : nil
    }
}
