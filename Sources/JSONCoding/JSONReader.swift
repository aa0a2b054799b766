/// Reads `Decodable` values from JSON: one pass over the bytes checks them and
/// finds where each value is; what is asked for is then read at its place.
///
/// All bytes must be as RFC 8259 says, in UTF-8 and without a byte order mark,
/// whether they are asked for or not. No object may have a name twice; names are
/// the same where their characters' codes are. An integer may be written with a
/// fraction or an exponent if it is one.
///
/// Errors are those of Foundation's decoder, with the place where it tells none.
/// The keys of their coding paths are made of the JSON, so that their types
/// aren't those of the keys decoded with: a member's has a name, an element's
/// an index.
///
/// It is for one thread at a time.
public final class JSONReader {
    /// How deep arrays and objects may be nested, the outermost being 1.
    public static let maximumDepth = 128
    /// A tape that grew beyond so many values is given back.
    static let keptValues = 4096

    /// Nil while it is in use: a value may read another while it is read.
    /// Unchecked for exclusivity because each access is one load or store.
    @exclusivity(unchecked) private var idle: ReaderState?

    public init() {}

    /// Reads one value, which must be all of the bytes; they must outlive the
    /// call, and no longer.
    /// - Throws: `DecodingError`, or what the type's own decoding throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
        var state = idle ?? ReaderState()
        idle = nil
        defer {
            if isKnownUniquelyReferenced(&state) {
                state.reset()
                idle = state
            } else {
                // A decoder or container is left over, and may yet be read from.
                state.keepBytes()
            }
        }
        try state.scan(bytes)
        return try state.value(type, at: 0)
    }

    /// - Throws: what the other does.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }
}

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
