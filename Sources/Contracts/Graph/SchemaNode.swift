package import StrataCore

/// A schema in a `SchemaGraph`.
package struct SchemaNode: Sendable {
    /// What it allows.
    package var shape = Shape.any
    /// The schema as it was written.
    package let schema: Schema

    package init(_ schema: Schema) { self.schema = schema }

    /// The forms of `Schema`, with nodes in place of schemas.
    package enum Shape: Sendable {
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
    package struct Members: Sendable {
        package let list: [Member]
        package let isClosed: Bool
        /// The places of the members in `list`.
        private let places: [ExactName: Int]

        package init(_ list: [Member], isClosed: Bool) {
            self.list = list
            self.isClosed = isClosed
            places = Dictionary(list.enumerated().map { (ExactName($1.name), $0) }) { first, _ in first }
        }

        package subscript(_ name: String) -> Member? { places[ExactName(name)].map { list[$0] } }
    }

    /// One member of an object.
    package struct Member: Sendable {
        package let name: String
        package let node: Int
        package let isRequired: Bool
        package let notes: Notes

        package init(_ property: Schema.Property, notes: Notes, node: Int) {
            name = property.name
            isRequired = property.isRequired
            self.notes = notes
            self.node = node
        }
    }

    /// What is said about a member's value beside what it may be.
    package struct Notes: Sendable {
        package private(set) var defaultValue: JSON?
        package private(set) var isDeprecated: Bool
        package private(set) var isSecret: Bool

        package init(_ schema: Schema) {
            defaultValue = schema.defaultValue
            isDeprecated = schema.isDeprecated
            isSecret = schema.isSecret
        }

        /// Adds what is said at the target of a reference.
        package mutating func add(_ target: Notes) {
            defaultValue = defaultValue ?? target.defaultValue
            isDeprecated = isDeprecated || target.isDeprecated
            isSecret = isSecret || target.isSecret
        }
    }
}
