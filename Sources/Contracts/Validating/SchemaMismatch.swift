/// Where a value isn't one that a schema allows, for people: the first such place.
public struct SchemaMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// The place in the value: `$.items[3].name`.
    public let path: String
    /// What is allowed there: `a string`.
    public let expected: String
    /// What is there: `the number 5`, or `nothing`. It may quote the value, with JSON's escapes.
    public let found: String
    /// What was probably meant; nil if that isn't known.
    public let hint: String?
    /// The bytes of what is wrong, in the text that was checked. For a missing member they are a
    /// similar name, or the object without the member.
    public let range: Range<Int>

    public var description: String {
        "\(path): expected \(expected), found \(found)" + (hint.map { " (\($0))" } ?? "")
    }
}

/// What a check of a value says.
public enum SchemaVerdict: Sendable, Equatable {
    /// The schema allows the value.
    case allowed
    /// The schema doesn't allow it.
    case refused(SchemaMismatch)
    /// The check gave up, because the value is too large or nested too deep; the text says which.
    /// The receiver must judge.
    case undecided(String)
}
