import StrataCore

/// Any JSON value, by way of the coder of modules' messages.
struct AnyValue: Codable {
    /// The value. A number that no type can hold, because it is too close to zero, becomes NaN.
    let json: JSON

    init(_ json: JSON) { self.json = json }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            json = .null
        } else if let bool = try? single.decode(Bool.self) {
            json = .bool(bool)
        } else if let string = try? single.decode(String.self) {
            json = .string(string)
        } else if let integer = try? single.decode(Int64.self) {
            json = .integer(integer)
        } else if let number = try? single.decode(Double.self) {
            json = .number(number)
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [JSON] = []
            while !elements.isAtEnd { values.append(try elements.decode(AnyValue.self).json) }
            json = .array(values)
        } else if let members = try? decoder.container(keyedBy: Name.self) {
            json = .object(
                try members.allKeys.map { .init($0.stringValue, try members.decode(AnyValue.self, forKey: $0).json) })
        } else {
            json = .number(.nan)
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch json {
        case .array(let values):
            var elements = encoder.unkeyedContainer()
            for value in values { try elements.encode(AnyValue(value)) }
        case .object(let values):
            var members = encoder.container(keyedBy: Name.self)
            for value in values { try members.encode(AnyValue(value.value), forKey: Name(stringValue: value.name)) }
        case .null, .bool, .string, .integer, .number:
            var single = encoder.singleValueContainer()
            switch json {
            case .bool(let bool): try single.encode(bool)
            case .string(let string): try single.encode(string)
            case .integer(let integer): try single.encode(integer)
            case .number(let number): try single.encode(number)
            case .null, .array, .object: try single.encodeNil()
            }
        }
    }
}
