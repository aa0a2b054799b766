/// An encoder of one value, which is also the container for a single value.
struct ValueWriter: Encoder, SingleValueEncodingContainer {
    let state: WriterState
    let id: ScopeID

    var codingPath: [any CodingKey] { state.path(of: id) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        state.open(id, as: ObjectIdentifier(type) == DictionaryKey.type ? .dictionary : .object)
        // `valueEnds` has come already for a value that is finished: a box that is kept then would keep its state alive.
        return state.makers.maker(for: Key.self) { WriterMaker<KeyedWriter<Key>, KeyedEncodingContainer<Key>>() }
            .make(WriterPlace(state: state, id: id), reuses: state.isAlive(id))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        state.open(id, as: .array)
        return UnkeyedWriter(state: state, id: id)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {
        try state.beginScalar(id)
        state.writeNull()
    }

    func encode(_ value: Bool) throws {
        try state.beginScalar(id)
        state.write(value)
    }

    func encode(_ value: String) throws {
        try state.beginScalar(id)
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
        if let failure = state.failure { throw failure }
        try state.select(id)
        if try state.writeFoundationValue(value, in: id) { return }
        do { try value.encode(to: self) } catch {
            state.empty(id, after: error)
            throw error
        }
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger) throws {
        try state.beginScalar(id)
        state.write(integer: value)
    }

    @inline(__always)
    private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ value: Number) throws {
        guard value.isFinite else { throw state.notANumber(value, "\(Number.self).\(value)", codingPath) }
        try state.beginScalar(id)
        state.write(finite: value)
    }
}

/// Returns the value as `type` if that is exactly its type. This avoids a cast, which would search
/// for conformances.
@inline(__always)
func known<Value, Known>(_ value: Value, as type: Known.Type) -> Known? {
    // because the two types are the same
    Value.self == Known.self ? unsafeBitCast(value, to: Known.self) : nil
}
