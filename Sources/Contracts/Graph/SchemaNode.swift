internal import StrataCore

/// A schema in a `SchemaGraph`.
struct SchemaNode: Sendable {
    /// What it allows.
    var shape = Shape.any
    /// The schema as it was written.
    let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// The forms of `Schema`, with nodes in place of schemas.
    enum Shape: Sendable {
        case any, null, boolean
        case integer(minimum: Int64?, maximum: Int64?)
        case number(minimum: Double?, maximum: Double?, format: String?)
        case string(Schema.Text)
        case enumeration([JSON])
        case array(Int, minimum: Int?, maximum: Int?)
        case tuple([Int])
        case object(Members)
        case map(keys: Int, values: Int)
        case union([Int])
    }

    /// The members of an object.
    struct Members: Sendable {
        let list: [Member]
        let isClosed: Bool
        /// The places of the members in `list`.
        private let places: [ExactName: Int]

        init(_ list: [Member], isClosed: Bool) {
            self.list = list
            self.isClosed = isClosed
            places = Dictionary(list.enumerated().map { (ExactName($1.name), $0) }) { first, _ in first }
        }

        subscript(_ name: String) -> Member? { places[ExactName(name)].map { list[$0] } }
    }

    /// One member of an object.
    struct Member: Sendable {
        let name: String
        let node: Int
        let isRequired: Bool
        let notes: Notes

        init(_ property: Schema.Property, notes: Notes, node: Int) {
            name = property.name
            isRequired = property.isRequired
            self.notes = notes
            self.node = node
        }
    }

    /// What is said about a member's value beside what it may be.
    struct Notes: Sendable {
        private(set) var defaultValue: JSON?
        private(set) var isDeprecated: Bool
        private(set) var isSecret: Bool

        init(_ schema: Schema) {
            defaultValue = schema.defaultValue
            isDeprecated = schema.isDeprecated
            isSecret = schema.isSecret
        }

        /// Adds what is said at the target of a reference.
        mutating func add(_ target: Notes) {
            defaultValue = defaultValue ?? target.defaultValue
            isDeprecated = isDeprecated || target.isDeprecated
            isSecret = isSecret || target.isSecret
        }
    }
}
