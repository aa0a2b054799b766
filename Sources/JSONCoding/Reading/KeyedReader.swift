/// Reads the members of an object.
struct KeyedReader<Key: CodingKey>: StateReading {
    private let place: ReaderPlace

    init(_ place: ReaderPlace) { self.place = place }

    private var state: ReaderState { place.state }
    private var index: UInt32 { place.index }
    var codingPath: [any CodingKey] { state.path(of: index) }
    var allKeys: [Key] { state.names(of: index).compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { state.find(key.stringValue, in: index) != 0 }

    func decodeNil(forKey key: Key) throws -> Bool { state.isNull(try member(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try state.bool(at: try member(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try state.text(at: try member(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try state.number(at: try member(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try state.number(at: try member(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try state.integer(at: try member(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try state.integer(at: try member(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try state.integer(at: try member(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try state.integer(at: try member(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try state.integer(at: try member(key)) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try state.integer(at: try member(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try state.integer(at: try member(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try state.integer(at: try member(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try state.integer(at: try member(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try state.integer(at: try member(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try state.integer(at: try member(key)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try state.integer(at: try member(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try state.value(type, at: try member(key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try state.bool(at: $0) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try state.text(at: $0) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try state.number(at: $0) }
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try present(key).map { try state.number(at: $0) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try present(key).map { try state.integer(at: $0) }
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try present(key).map { try state.value(type, at: $0) }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        try ValueReader(state: state, index: try member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try ValueReader(state: state, index: try member(key)).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { superDecoder(named: PathKey.ofSuper) }
    func superDecoder(forKey key: Key) -> any Decoder { superDecoder(named: PathKey(key.stringValue)) }

    /// A missing member reads as null.
    private func superDecoder(named key: PathKey) -> any Decoder {
        let found = state.find(key.stringValue, in: index)
        return ValueReader(state: state, index: found != 0 ? found : state.absentValue(key, of: index))
    }

    @inline(__always)
    private func member(_ key: Key) throws -> UInt32 {
        let found = state.find(key.stringValue, in: index)
        guard found != 0 else { throw missing(key) }
        return found
    }

    /// Returns the value, unless it is missing or null.
    @inline(__always)
    private func present(_ key: Key) -> UInt32? {
        let found = state.find(key.stringValue, in: index)
        return found == 0 || state.isNull(found) ? nil : found
    }

    @inline(never)
    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }
}
