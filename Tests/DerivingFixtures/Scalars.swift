internal import FoundationEssentials
internal import Strata
internal import StrataCore

extension FixtureType {
    static let scalars = [
        FixtureType("flags", Flags.self), FixtureType("texts", Texts.self),
        FixtureType("signed-integers", SignedIntegers.self), FixtureType("unsigned-integers", UnsignedIntegers.self),
        FixtureType("numbers", Numbers.self), FixtureType("moments", Moments.self), FixtureType("bytes", Bytes.self),
        FixtureType("links", Links.self), FixtureType("identities", Identities.self),
        FixtureType("any-value", AnyValue.self), FixtureType("empty", Empty.self), FixtureType("a-text", String.self),
        FixtureType("lengths-of-time", LengthOfTime.self),
    ]
    static let optionals = [
        FixtureType("optional-scalars", OptionalScalars.self),
        FixtureType("optional-structures", OptionalStructures.self),
        FixtureType("optional-optionals", OptionalOptionals.self),
        FixtureType("optional-elements", OptionalElements.self),
        FixtureType("an-optional-structure", Texts?.self),
    ]
}

struct Flags: Codable { var isDone: Bool }

struct Texts: Codable, Hashable {
    var title: String
    var note = "none"
}

struct SignedIntegers: Codable {
    var any: Int
    var tiny: Int8
    var small: Int16
    var middle: Int32
    var large: Int64
    var huge: Int128
}

struct UnsignedIntegers: Codable {
    var any: UInt
    var tiny: UInt8
    var small: UInt16
    var middle: UInt32
    var large: UInt64
    var huge: UInt128
}

struct Numbers: Codable {
    var long: Double
    var short: Float
    var exact: Decimal
}

struct Moments: Codable { var createdAt: Date }
struct Bytes: Codable { var content: Data }
struct Links: Codable { var home: URL }
struct Identities: Codable { var id: UUID }

struct AnyValue: Codable {
    var extra: JSON
    var more: JSON?
    var list: [JSON]
}

struct Empty: Codable {}
struct LengthOfTime: Codable { var timeout: Duration }

struct OptionalScalars: Codable {
    var flag: Bool?
    var text: String?
    var integer: Int?
    var tiny: UInt8?
    var number: Double?
    var moment: Date?
    var content: Data?
    var link: URL?
}

struct OptionalStructures: Codable {
    var texts: Texts?
    var list: [Texts]?
    var map: [String: Texts]?
}

struct OptionalOptionals: Codable {
    var twice: Int??
    var thrice: Texts???
}

struct OptionalElements: Codable {
    var integers: [Int?]
    var texts: [Texts?]
    var map: [String: Int?]
}
