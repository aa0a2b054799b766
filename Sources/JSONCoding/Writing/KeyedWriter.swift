/// Writes the members of an object.
struct KeyedWriter<Key: CodingKey>: StateWriting {
    private let place: WriterPlace

    init(_ place: WriterPlace) { self.place = place }

    private var state: WriterState { place.state }
    private var id: ScopeID { place.id }
    var codingPath: [any CodingKey] { state.path(of: id) }

    func encodeNil(forKey key: Key) throws {
        _ = try state.beginMember(id, key.stringValue)
        state.writeNull()
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        _ = try state.beginMember(id, key.stringValue)
        state.write(value)
    }

    func encode(_ value: String, forKey key: Key) throws {
        _ = try state.beginMember(id, key.stringValue)
        state.write(value)
    }

    func encode(_ value: Double, forKey key: Key) throws { try number(value, key) }
    func encode(_ value: Float, forKey key: Key) throws { try number(value, key) }
    func encode(_ value: Int, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int128, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try integer(value, key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if let text = known(value, as: String.self) { return try encode(text, forKey: key) }
        if let integer = known(value, as: Int.self) { return try encode(integer, forKey: key) }
        if let number = known(value, as: Double.self) { return try encode(number, forKey: key) }
        if let bool = known(value, as: Bool.self) { return try encode(bool, forKey: key) }
        try state.encode(value, at: try state.beginMember(id, key.stringValue))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<
        Nested
    > {
        ValueWriter(state: state, id: member(key.stringValue)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ValueWriter(state: state, id: member(key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { superEncoder(named: PathKey.ofSuper.stringValue) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(named: key.stringValue) }

    private func superEncoder(named name: String) -> any Encoder {
        state.looseSlots += 1
        return ValueWriter(state: state, id: member(name))
    }

    /// Begins a member whose value is written later.
    private func member(_ name: String) -> ScopeID {
        guard let mark = try? state.beginMember(id, name) else { return .none }
        return state.push(start: mark.start)
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger, _ key: Key) throws {
        _ = try state.beginMember(id, key.stringValue)
        state.write(integer: value)
    }

    @inline(__always)
    private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ value: Number, _ key: Key) throws {
        guard value.isFinite else { throw state.notANumber(value, "\(Number.self).\(value)", codingPath + [key]) }
        _ = try state.beginMember(id, key.stringValue)
        state.write(finite: value)
    }
}
