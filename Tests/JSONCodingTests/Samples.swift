import FoundationEssentials

/// One member of each kind that the compiler generates coding for.
struct Sample: Codable, Equatable {
    var flag: Bool
    var text: String
    var int: Int
    var small: Int8
    var unsigned: UInt64
    var signed: Int64
    var huge: Int128
    var double: Double
    var float: Float
    var maybe: Int?
    var words: [String]
    var counts: [String: Int]
    var numbered: [Int: String]
    var date: Date
    var data: Data
    var url: URL?
    var decimal: Decimal
    var shape: Shape
    var suit: Suit
    var inner: [Inner]
    var optionals: [Int?]
    var wrapped: Wrapper?
    var pairs: [Pair: Bool]

    enum CodingKeys: String, CodingKey {
        case flag, text, int, small, unsigned, signed, huge, double, float, maybe, words, counts, numbered, date
        case data, url, decimal, shape, suit, inner, optionals, wrapped, pairs
    }
}

enum Shape: Codable, Equatable {
    case none
    case circle(Double)
    case box(width: Int, height: Int?)
    indirect case both(Shape, Shape)
}

enum Suit: String, Codable, CaseIterable { case clubs, hearts }

struct Inner: Codable, Equatable {
    var name: String
    var deeper: [String: [Inner]]?
    private enum CodingKeys: String, CodingKey {
        case name = "a name"
        case deeper = "\"tief\"\n"
    }
}

struct Wrapper: RawRepresentable, Codable, Equatable { var rawValue: [Int] }

/// A key that is neither a string nor an integer, so the dictionary becomes an array.
struct Pair: Codable, Hashable { var one: Int }

/// A class whose subclass encodes to the same object, with the superclass in `super`.
class Animal: Codable {
    var legs = 4
    init() {}
}

final class Dog: Animal {
    var name = "Rex"
    private enum CodingKeys: CodingKey { case name }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try super.init(from: try container.superDecoder())
        name = try container.decode(String.self, forKey: .name)
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let above = container.superEncoder()
        try container.encode(name, forKey: .name)
        try super.encode(to: above)
    }
}

/// A key that is made up on the fly.
struct Name: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral value: String) { stringValue = value }
    init?(intValue: Int) { nil }
}

/// Encodes with a closure.
struct Written: Encodable {
    let write: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try write(encoder) }
}

/// Decodes with the closure of the current test.
struct Read: Decodable {
    @TaskLocal static var body: @Sendable (any Decoder) throws -> Void = { _ in }
    init(from decoder: any Decoder) throws { try Self.body(decoder) }
}
