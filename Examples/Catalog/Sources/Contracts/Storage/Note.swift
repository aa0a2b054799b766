/// What a person wrote about a package.
public struct Note: Codable, Sendable, Equatable {
    public var id: Int64
    /// The package's name.
    public var item: String
    public var text: String
    /// Who wrote it; nil where it was written when nobody had to sign in.
    public var writer: String?
    /// When it was written, in UTC: `2026-01-31T12:00:00Z`.
    public var at: String

    public init(id: Int64, item: String, text: String, writer: String?, at: String) {
        self.id = id
        self.item = item
        self.text = text
        self.writer = writer
        self.at = at
    }
}
