/// Writes the elements of an array.
struct UnkeyedWriter: UnkeyedEncodingContainer {
    let state: WriterState
    let id: ScopeID

    var codingPath: [any CodingKey] { state.path(of: id) }
    var count: Int { state.isAlive(id) ? Int(state.scopes[Int(id.index)].count) : 0 }

    func encodeNil() throws {
        _ = try state.beginElement(id)
        state.writeNull()
    }

    func encode(_ value: Bool) throws {
        _ = try state.beginElement(id)
        state.write(value)
    }

    func encode(_ value: String) throws {
        _ = try state.beginElement(id)
        state.write(value)
    }

    func encode(_ value: Double) throws { try number(value) }
    func encode(_ value: Float) throws { try number(value) }
    func encode(_ value: Int) throws { try integer(value) }
    func encode(_ value: Int8) throws { try integer(value) }
    func encode(_ value: Int16) throws { try integer(value) }
    func encode(_ value: Int32) throws { try integer(value) }
    func encode(_ value: Int64) throws { try integer(value) }
    func encode(_ value: Int128) throws { try integer(value) }
    func encode(_ value: UInt) throws { try integer(value) }
    func encode(_ value: UInt8) throws { try integer(value) }
    func encode(_ value: UInt16) throws { try integer(value) }
    func encode(_ value: UInt32) throws { try integer(value) }
    func encode(_ value: UInt64) throws { try integer(value) }
    func encode(_ value: UInt128) throws { try integer(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        if let text = known(value, as: String.self) { return try encode(text) }
        if let integer = known(value, as: Int.self) { return try encode(integer) }
        if let number = known(value, as: Double.self) { return try encode(number) }
        if let bool = known(value, as: Bool.self) { return try encode(bool) }
        try state.encode(value, at: try state.beginElement(id))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        ValueWriter(state: state, id: element()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ValueWriter(state: state, id: element()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        state.looseSlots += 1
        return ValueWriter(state: state, id: element())
    }

    /// Begins an element whose value is written later.
    private func element() -> ScopeID {
        guard let mark = try? state.beginElement(id) else { return .none }
        return state.push(start: mark.start)
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger) throws {
        _ = try state.beginElement(id)
        state.write(integer: value)
    }

    @inline(__always)
    private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ value: Number) throws {
        guard value.isFinite else {
            throw state.notANumber(value, "\(Number.self).\(value)", codingPath + [PathKey(count)])
        }
        _ = try state.beginElement(id)
        state.write(finite: value)
    }
}
