public import StrataCore

/// A JSON value is a member like any other, for what has no type of its own.
///
/// The conformance is in this module, so that a module needs no other import.
extension JSON: Codable {
    public init(from decoder: any Decoder) throws {
        if let value = decoder as? any JSONSource {
            self = try value.json()
        } else if let members = try? decoder.container(keyedBy: MemberKey.self) {
            self = .object(
                try members.allKeys.map { Member($0.stringValue, try members.decode(JSON.self, forKey: $0)) })
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [JSON] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSON.self)) }
            self = .array(values)
        } else {
            self = try JSON(scalar: try decoder.singleValueContainer())
        }
    }

    private init(scalar: any SingleValueDecodingContainer) throws {
        if scalar.decodeNil() {
            self = .null
        } else if let bool = try? scalar.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? scalar.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? scalar.decode(Double.self) {
            self = .number(number)
        } else {
            self = .string(try scalar.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            var container = encoder.container(keyedBy: MemberKey.self)
            for member in members { try container.encode(member.value, forKey: MemberKey(member.name)) }
        case .null, .bool, .integer, .number, .string:
            var container = encoder.singleValueContainer()
            try encode(scalar: &container)
        }
    }

    private func encode(scalar container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let bool): try container.encode(bool)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        case .null, .array, .object: try container.encodeNil()
        }
    }
}

/// The name of a member, whatever it is.
private struct MemberKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}
