public import StrataCore

/// A JSON value is a member like any other, for what has no type of its own.
extension JSON: Codable {
    public init(from decoder: any Decoder) throws {
        if let value = decoder as? ValueReader {
            self = try value.json()
        } else if let members = try? decoder.container(keyedBy: PathKey.self) {
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
            var container = encoder.container(keyedBy: PathKey.self)
            for member in members { try container.encode(member.value, forKey: PathKey(member.name)) }
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

extension ValueReader {
    /// Returns the value as a tree.
    fileprivate func json() throws -> JSON {
        do throws(JSONError) { return try JSON(state.tape, index) } catch {
            throw state.corrupted("The number is out of range.", at: index)
        }
    }
}
