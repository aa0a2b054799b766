extension FixtureType {
    static let wrappers = [
        FixtureType("property-wrappers", WrappedMembers.self), FixtureType("wrapped-optionals", WrappedOptionals.self),
        FixtureType("wrapper-with-default", WrapperWithDefault.self),
    ]
}

/// Written as the value itself.
@propertyWrapper
struct Bare<Value: Codable>: Codable {
    var wrappedValue: Value
    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    init(from decoder: any Decoder) throws { wrappedValue = try Value(from: decoder) }
    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

/// Written as the compiler writes it: as an object.
@propertyWrapper
struct Boxed<Value: Codable>: Codable { var wrappedValue: Value }

struct WrappedMembers: Codable {
    @Bare var text: String
    @Bare var texts: Texts
    @Boxed var number: Int
}

struct WrappedOptionals: Codable {
    @Bare var numbers: [Int]
    @Boxed var maybe: Texts?
}

@propertyWrapper
struct OrFalse: Codable {
    var wrappedValue = false
    init() {}
    init(from decoder: any Decoder) throws { wrappedValue = try decoder.singleValueContainer().decode(Bool.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// What the compiler calls for a member with this wrapper.
    func decode(_ type: OrFalse.Type, forKey key: Key) throws -> OrFalse {
        try decodeIfPresent(type, forKey: key) ?? OrFalse()
    }
}

struct WrapperWithDefault: Codable {
    @OrFalse var isDone: Bool
    var title: String
}
