extension FixtureType {
    static let classes = [
        FixtureType("class", Plain.self), FixtureType("subclass", Dog.self),
        FixtureType("subclass-with-super", Truck.self), FixtureType("super-by-name", Ship.self),
    ]
}

final class Plain: Codable, Sendable { let name: String }

/// `@unchecked Sendable`, as `Dog` is, because nothing changes one that is made.
class Animal: Codable, @unchecked Sendable {
    var name: String
    init(name: String) { self.name = name }
}

final class Dog: Animal, @unchecked Sendable {
    var tricks: [String]
    private enum CodingKeys: String, CodingKey { case tricks = "knows" }

    required init(from decoder: any Decoder) throws {
        tricks = try decoder.container(keyedBy: CodingKeys.self).decode([String].self, forKey: .tricks)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tricks, forKey: .tricks)
    }
}

/// `@unchecked Sendable`, as its subclasses are, because nothing changes one that is made.
class Vehicle: Codable, @unchecked Sendable {
    var wheels: Int
    init(wheels: Int) { self.wheels = wheels }
}

final class Truck: Vehicle, @unchecked Sendable {
    var load: Double
    private enum CodingKeys: CodingKey { case load }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        load = try container.decode(Double.self, forKey: .load)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(load, forKey: .load)
        try super.encode(to: container.superEncoder())
    }
}

final class Ship: Vehicle, @unchecked Sendable {
    var masts: Int?
    private enum CodingKeys: CodingKey { case masts, vehicle }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        masts = try container.decodeIfPresent(Int.self, forKey: .masts)
        try super.init(from: container.superDecoder(forKey: .vehicle))
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(masts, forKey: .masts)
        try super.encode(to: container.superEncoder(forKey: .vehicle))
    }
}
