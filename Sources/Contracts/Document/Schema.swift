public import StrataCore

/// The type of a value on the wire: the part of JSON Schema 2020-12 that contracts use.
///
/// A schema is a form and what is said about it. Members that an object doesn't list are allowed
/// unless it is closed, because receivers ignore them.
public struct Schema: Sendable, Equatable {
    /// The values that the schema allows.
    public var form: Form
    /// What the values mean; nil if nobody says.
    public var doc: String?
    /// The value that stands for a missing member; nil if there is none.
    public var defaultValue: JSON?
    /// Values that the schema allows. For a pattern, and for a format that Strata doesn't know, they
    /// are the only values that samples are made of.
    public var examples: [JSON]
    /// Whether new code should do without it.
    public var isDeprecated: Bool
    /// Whether the value is a secret, which no tool shows (`writeOnly`).
    public var isSecret: Bool

    public init(
        _ form: Form, doc: String? = nil, defaultValue: JSON? = nil, examples: [JSON] = [],
        isDeprecated: Bool = false, isSecret: Bool = false
    ) {
        self.form = form
        self.doc = doc
        self.defaultValue = defaultValue
        self.examples = examples
        self.isDeprecated = isDeprecated
        self.isSecret = isSecret
    }

    /// What a schema allows. Each case names the keywords that it is written with.
    public indirect enum Form: Sendable, Equatable {
        /// Any value: `{}`.
        case any
        /// `type: null`.
        case null
        /// `type: boolean`.
        case boolean
        /// `type: integer`, with `minimum` and `maximum`.
        case integer(minimum: Int64?, maximum: Int64?)
        /// `type: number`, with `minimum` and `maximum`.
        case number(minimum: Double?, maximum: Double?, format: String?)
        /// `type: string`.
        case string(Text)
        /// `enum`: one of these strings or integers. Never empty.
        case enumeration([JSON])
        /// `type: array`, with `items`, `minItems` and `maxItems`.
        case array(Schema, minimum: Int?, maximum: Int?)
        /// `type: array`, with `prefixItems` and `items: false`: exactly these elements. Never empty.
        case tuple([Schema])
        /// `type: object`, with `properties` and `required`.
        case object(Members)
        /// `type: object`, with `propertyNames` and `additionalProperties`: each member has a value
        /// of one type.
        case map(keys: Schema?, values: Schema)
        /// `anyOf`: a value that one of these allows. Never empty.
        case union([Schema])
        /// `$ref`: the schema of this name in the document's `$defs`.
        case reference(String)
    }

    /// What a string may be.
    public struct Text: Sendable, Equatable {
        /// `format`, such as `date-time`, `uri-reference` or `uuid`.
        public var format: String?
        /// `contentEncoding`: `base64`, or nil.
        public var contentEncoding: String?
        /// `minLength` and `maxLength`, in code points.
        public var minimum: Int?
        public var maximum: Int?
        /// `pattern`: a regular expression that some part of the string matches. Receivers check it;
        /// here only `integerPattern` is checked.
        public var pattern: String?

        /// The pattern of a name that is an integer, for the keys of a dictionary by integers.
        public static let integerPattern = "^(0|-?[1-9][0-9]{0,17})$"

        public init(
            format: String? = nil, contentEncoding: String? = nil, minimum: Int? = nil, maximum: Int? = nil,
            pattern: String? = nil
        ) {
            self.format = format
            self.contentEncoding = contentEncoding
            self.minimum = minimum
            self.maximum = maximum
            self.pattern = pattern
        }
    }

    /// The members of an object, in the order in which the type has them.
    public struct Members: Sendable, Equatable {
        public var properties: [Property]
        /// Whether no other members are allowed (`additionalProperties: false`).
        public var isClosed: Bool

        public init(_ properties: [Property], isClosed: Bool = false) {
            self.properties = properties
            self.isClosed = isClosed
        }
    }

    /// One member of an object.
    public struct Property: Sendable, Equatable {
        public var name: String
        public var schema: Schema
        public var isRequired: Bool

        public init(_ name: String, _ schema: Schema, isRequired: Bool = true) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
        }
    }
}
