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
