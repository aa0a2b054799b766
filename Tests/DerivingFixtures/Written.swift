internal import FoundationEssentials
internal import StrataCore
internal import StrataDeriving

/// Types whose `init(from:)` is written by hand, straight through.
extension FixtureType {
    static let written = [
        FixtureType("nested-containers", NestedContainers.self), FixtureType("tuple", Coordinates.self),
        FixtureType("tuple-of-kinds", Mixed.self), FixtureType("flattened", Flattened.self),
        FixtureType("single-value", SingleValues.self), FixtureType("raw-structures", RawStructures.self),
        FixtureType("default-for-missing", DefaultForMissing.self), FixtureType("nullable", NullableUse.self),
        FixtureType("own-schema", OwnSchemaUse.self), FixtureType("optional-by-decode", OptionalByDecode.self),
        FixtureType("until-the-end", UntilTheEnd.self),
    ]
}

struct NestedContainers: Codable {
    var city: String
    var zip: Int
    var latitude: Double
    var longitude: Double

    private enum CodingKeys: CodingKey { case address, position }
    private enum AddressKeys: CodingKey { case city, zip }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let address = try container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
        city = try address.decode(String.self, forKey: .city)
        zip = try address.decode(Int.self, forKey: .zip)
        var position = try container.nestedUnkeyedContainer(forKey: .position)
        latitude = try position.decode(Double.self)
        longitude = try position.decode(Double.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var address = container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
        try address.encode(city, forKey: .city)
        try address.encode(zip, forKey: .zip)
        var position = container.nestedUnkeyedContainer(forKey: .position)
        try position.encode(latitude)
        try position.encode(longitude)
    }
}

struct Coordinates: Codable {
    var x: Int
    var y: Int

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        x = try container.decode(Int.self)
        y = try container.decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(x)
        try container.encode(y)
    }
}

struct Mixed: Codable {
    var name: String
    var texts: Texts
    var place: Coordinates
    var city: String

    private enum Keys: CodingKey { case city }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        name = try container.decode(String.self)
        texts = try container.decode(Texts.self)
        place = try Coordinates(from: container.superDecoder())
        city = try container.nestedContainer(keyedBy: Keys.self).decode(String.self, forKey: .city)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(name)
        try container.encode(texts)
        try place.encode(to: container.superEncoder())
        var nested = container.nestedContainer(keyedBy: Keys.self)
        try nested.encode(city, forKey: .city)
    }
}

/// The members of the inner structure stand beside its own.
struct Flattened: Codable {
    var texts: Texts
    var number: Int
    private enum CodingKeys: CodingKey { case number }

    init(from decoder: any Decoder) throws {
        texts = try Texts(from: decoder)
        number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number)
    }

    func encode(to encoder: any Encoder) throws {
        try texts.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
    }
}

struct Kilograms: Codable {
    var value: Double
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Double.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

struct Titled: Codable {
    var texts: Texts
    init(from decoder: any Decoder) throws { texts = try decoder.singleValueContainer().decode(Texts.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(texts)
    }
}

struct SingleValues: Codable {
    var weight: Kilograms
    var title: Titled
    var weights: [Kilograms]
    var maybe: Kilograms?
}

struct Mail: RawRepresentable, Codable { var rawValue: String }
struct Port: RawRepresentable, Codable { var rawValue: UInt16 }
struct Rights: OptionSet, Codable { var rawValue: Int }
/// The standard library has no `init(from:)` for such raw values, so the compiler makes one.
struct RawTexts: RawRepresentable, Codable { var rawValue: Texts }

struct RawStructures: Codable {
    var mail: Mail
    var port: Port?
    var rights: Rights
    var texts: RawTexts
}

struct DefaultForMissing: Codable {
    var page: Int
    var name: String
    private enum CodingKeys: CodingKey { case page, name }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        page = try container.decodeIfPresent(Int.self, forKey: .page) ?? 1
        name = try container.decode(String.self, forKey: .name)
    }
}

/// A wrapper that takes null itself.
struct Nullable<Value: Codable>: Codable {
    var value: Value?
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? nil : try container.decode(Value.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

struct NullableUse: Codable {
    var number: Nullable<Int>
    var texts: Nullable<Texts>
}

struct Price: Codable, ContractDescribing {
    var cents: Int
    static let contractSchema: JSON = [
        "type": "string", "pattern": "^[0-9]{1,9}\\.[0-9]{2}$", "description": "In euros.",
        "examples": ["9.50", "0.99"],
    ]

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let parts = text.split(separator: ".")
        guard parts.count == 2, parts[1].count == 2, let euros = Int(parts[0]), let cents = Int(parts[1]) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "No price."))
        }
        self.cents = euros * 100 + cents
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(cents / 100).\(cents % 100 / 10)\(cents % 10)")
    }
}

struct OwnSchemaUse: Codable {
    var price: Price
    var old: Price?
    var all: [Price]
}

struct OptionalByDecode: Codable {
    var number: Int?
    private enum CodingKeys: CodingKey { case number }
    init(from decoder: any Decoder) throws {
        number = try decoder.container(keyedBy: CodingKeys.self).decode(Int?.self, forKey: .number)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
    }
}

/// Reads elements until there are no more, as arrays do themselves.
struct UntilTheEnd: Codable {
    var texts: [Texts] = []
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        if let count = container.count { texts.reserveCapacity(count) }
        while !container.isAtEnd { texts.append(try container.decode(Texts.self)) }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for text in texts { try container.encode(text) }
    }
}
