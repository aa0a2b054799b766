public import StrataCore

/// A type that says its own schema, because none can be derived from its `init(from:)`: it reads
/// other members for other values, or takes only values that a schema has to describe.
///
///     struct Price: Codable, ContractDescribing {
///         static let contractSchema: JSON = [
///             "type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$", "examples": ["9.50"],
///         ]
///         …
///     }
public protocol ContractDescribing {
    /// The type's JSON Schema, of the keywords that contracts have, without `$ref`.
    ///
    /// The first of its `examples` must decode. Without examples, a value that the schema allows is
    /// made up; a `pattern` needs an example.
    static var contractSchema: JSON { get }
}
