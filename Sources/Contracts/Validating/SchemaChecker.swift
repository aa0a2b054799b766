public import StrataCore

/// Checks JSON values against one schema.
///
/// It says what JSON Schema says, with these differences. `format`, `contentEncoding` and `pattern`
/// aren't checked, except `Schema.Text.integerPattern`: their receiver does. A name that occurs
/// twice in an object isn't JSON for Strata.
///
/// The work is bounded: a check gives up after `mostSteps` comparisons, or where values are nested
/// over `deepest` arrays and objects deep.
public struct SchemaChecker: Sendable {
    /// The most values that are compared with schemas. A value counts again for each alternative of
    /// a union, but not for the same schema.
    public static let mostSteps = 1_000_000
    /// How deeply arrays and objects are looked into.
    public static let deepest = 128

    private let graph: SchemaGraph
    private let root: Int

    /// Prepares a schema. The time is proportional to it and to what it refers to.
    /// - Parameter definitions: the schemas that it may refer to.
    public init(_ schema: Schema, definitions: [String: Schema] = [:]) {
        var graph = SchemaGraph(definitions)
        root = graph.add(schema)
        self.graph = graph
    }

    /// Checks a value. The ranges of bytes in the verdict are of the value as `encoded()` writes it.
    public func check(_ value: JSON) -> SchemaVerdict {
        do throws(JSONError) { return try check(text: value.encoded()) } catch {
            // A tree that code has made may have a name twice, which no text may have.
            return .undecided("the value can't be written as JSON: \(error)")
        }
    }

    /// Checks a value's text.
    /// - Throws: if it isn't JSON.
    public func check(text: [UInt8]) throws(JSONError) -> SchemaVerdict {
        try text.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try check(text: bytes) }
        }.get()
    }

    /// Checks a value's text, as from an array.
    public func check(text bytes: UnsafeRawBufferPointer) throws(JSONError) -> SchemaVerdict {
        var tape = JSONTape()
        try tape.scan(bytes, maximumDepth: Int.max)
        var check = ValueCheck(graph, tape)
        return check.verdict(root)
    }
}

extension Contract {
    /// Returns a checker for one of this contract's schemas.
    public func checker(for schema: Schema) -> SchemaChecker { SchemaChecker(schema, definitions: definitions) }
}
