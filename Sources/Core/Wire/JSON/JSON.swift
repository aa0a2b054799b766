/// A JSON value, for control traffic: hello, the broker's own actions, the table. The broker never
/// turns the bodies that it forwards into values.
public enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number that is written without fraction or exponent, and fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    /// The members in the order written; names are unique.
    case object([Member])

    public struct Member: Sendable, Equatable {
        public var name: String
        public var value: JSON
        public init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }
}

extension JSON {
    /// The member of an object with that name, byte for byte. Nil if there is none, or if this
    /// isn't an object. It searches the members one by one.
    public subscript(_ name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.isNamed(name) }?.value
    }

    /// The string; nil for any other kind of value.
    public var string: String? {
        guard case .string(let string) = self else { return nil }
        return string
    }

    /// The integer; nil for anything else. A number that was written with a fraction or an exponent
    /// counts if its value is an integer.
    public var integer: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Self.integer(of: number)
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The number, integers included; nil for anything else. An integer beyond 2^53 is rounded.
    public var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// True or false; nil for any other kind of value.
    public var bool: Bool? {
        guard case .bool(let bool) = self else { return nil }
        return bool
    }

    /// The elements; nil for any other kind of value.
    public var array: [JSON]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members in order; nil for any other kind of value.
    public var object: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// Avoids `Int64(exactly:)`, which would need the C library's math functions.
    private static func integer(of number: Double) -> Int64? {
        guard number >= -0x1p63, number < 0x1p63 else { return nil }
        let integer = Int64(number)
        return Double(integer) == number ? integer : nil
    }
}

extension JSON.Member {
    /// Whether the member has this name, byte for byte.
    func isNamed(_ other: String) -> Bool {
        name == other && name.utf8.elementsEqual(other.utf8)
    }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }

    /// Keeps the order written; the caller ensures that no key occurs twice.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
