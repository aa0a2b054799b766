internal import StrataCore

/// Reads `Decodable` values from JSON. One pass over the bytes checks them and finds the position
/// of each value. Requested values are then read from there.
///
/// All bytes must follow RFC 8259, in UTF-8 without a byte order mark, even those that are never
/// requested. No object may have the same name twice; names are equal if their code points are. An
/// integer may be written with a fraction or an exponent if its value is an integer.
///
/// Errors are those of Foundation's decoder, and also give the position where that one gives none.
/// The keys of their coding paths come from the JSON. So a member's key has a name and an element's
/// key an index, but neither has the type of the key that was used for decoding.
///
/// Use it on one thread at a time.
public final class JSONReader {
    /// The limit on nested arrays and objects; the outermost has depth 1.
    public static let maximumDepth = 128
    /// The most entries for which an emptied tape keeps its memory.
    static let keptValues = 4096

    /// The state for the next value; nil while it is in use, since reading a value may read another
    /// one. Unchecked for exclusivity because each access is one load or store.
    @exclusivity(unchecked) private var idle: ReaderState?

    public init() {}

    /// Reads one value, which must span all of the bytes. The bytes need to stay valid only during
    /// the call.
    /// - Throws: `DecodingError`, or an error from the type's own decoding.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
        var state = idle ?? ReaderState()
        idle = nil
        defer {
            state.makers.valueEnds()
            if isKnownUniquelyReferenced(&state) {
                state.reset()
                idle = state
            } else {
                // A decoder or container is still referenced, and may be read from later.
                state.keepBytes()
            }
        }
        try state.scan(bytes)
        return try state.value(type, at: 0)
    }

    /// - Throws: the same errors as for a buffer.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }
}

/// A decoder of one value, which is also the container for a single value.
struct ValueReader: Decoder, SingleValueDecodingContainer {
    let state: ReaderState
    let index: UInt32

    var codingPath: [any CodingKey] { state.path(of: index) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard state.entry(index).pointee.kind == .object else {
            throw state.noContainer([String: Any].self, "keyed", at: index)
        }
        return state.makers.maker(for: Key.self) { ReaderMaker<KeyedReader<Key>, KeyedDecodingContainer<Key>>() }
            .make(ReaderPlace(state: state, index: index), reuses: !state.ownsBytes)
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

extension ValueReader: JSONSource {
    func json() throws -> JSON {
        do throws(JSONError) { return try JSON(state.tape, index) } catch {
            throw state.corrupted("The number is out of range.", at: index)
        }
    }
}
