/// A decoder of one value, and what reads that value where it is a single one.
struct ValueReader: Decoder, SingleValueDecodingContainer {
    let state: ReaderState
    let index: UInt32

    var codingPath: [any CodingKey] { state.path(of: index) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard state.entry(index).pointee.kind == .object else {
            throw state.noContainer([String: Any].self, "keyed", at: index)
        }
        return KeyedDecodingContainer(KeyedReader<Key>(state: state, index: index))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard state.entry(index).pointee.kind == .array else {
            throw state.noContainer([Any].self, "unkeyed", at: index)
        }
        return UnkeyedReader(state: state, array: index)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { state.isNull(index) }
    func decode(_ type: Bool.Type) throws -> Bool { try state.bool(at: index) }
    func decode(_ type: String.Type) throws -> String { try state.text(at: index) }
    func decode(_ type: Double.Type) throws -> Double { try state.number(at: index) }
    func decode(_ type: Float.Type) throws -> Float { try state.number(at: index) }
    func decode(_ type: Int.Type) throws -> Int { try state.integer(at: index) }
    func decode(_ type: Int8.Type) throws -> Int8 { try state.integer(at: index) }
    func decode(_ type: Int16.Type) throws -> Int16 { try state.integer(at: index) }
    func decode(_ type: Int32.Type) throws -> Int32 { try state.integer(at: index) }
    func decode(_ type: Int64.Type) throws -> Int64 { try state.integer(at: index) }
    func decode(_ type: Int128.Type) throws -> Int128 { try state.integer(at: index) }
    func decode(_ type: UInt.Type) throws -> UInt { try state.integer(at: index) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try state.integer(at: index) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try state.integer(at: index) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try state.integer(at: index) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try state.integer(at: index) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try state.integer(at: index) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try state.value(type, at: index) }
}
