public import StrataCore

// A member with a raw value is written as that value. The standard library sees to texts, numbers and
// truth values; here are the others. Each has an extension of its own: one for all raw values would
// compete with the standard library's, and the compiler would take neither.

extension InterfaceMember where Self: RawRepresentable, RawValue: Codable & ExpressibleByArrayLiteral {
    /// Reads the raw value.
    public init(from decoder: any Decoder) throws { try self.init(rawValueFrom: decoder) }
    /// Writes the raw value.
    public func encode(to encoder: any Encoder) throws { try encodeRawValue(to: encoder) }
}

extension InterfaceMember where Self: RawRepresentable, RawValue: Codable & ExpressibleByDictionaryLiteral {
    /// Reads the raw value.
    public init(from decoder: any Decoder) throws { try self.init(rawValueFrom: decoder) }
    /// Writes the raw value.
    public func encode(to encoder: any Encoder) throws { try encodeRawValue(to: encoder) }
}

extension InterfaceMember where Self: RawRepresentable, RawValue == JSON {
    /// Reads the raw value.
    public init(from decoder: any Decoder) throws { try self.init(rawValueFrom: decoder) }
    /// Writes the raw value.
    public func encode(to encoder: any Encoder) throws { try encodeRawValue(to: encoder) }
}

extension InterfaceMember where Self: RawRepresentable, RawValue: Codable {
    fileprivate init(rawValueFrom decoder: any Decoder) throws {
        let rawValue = try decoder.singleValueContainer().decode(RawValue.self)
        guard let value = Self(rawValue: rawValue) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(Self.self) doesn't take this value."))
        }
        self = value
    }

    fileprivate func encodeRawValue(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
