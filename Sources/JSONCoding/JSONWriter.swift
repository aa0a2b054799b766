/// Writes `Encodable` values as compact JSON, straight into a buffer that is reused for the next
/// value.
///
/// Numbers, texts, dates (ISO 8601), data (base64), URLs and decimals look as Foundation's encoder
/// writes them, but slashes aren't escaped. Members are in the order in which they are encoded.
/// Those of dictionaries are sorted by the bytes of their names, since their own order differs from
/// process to process. So the same value gives the same bytes everywhere.
///
/// Coding paths are made from the written bytes, and only on request. Their keys have the texts of
/// the keys that were used for encoding, but not their types.
///
/// Use it on one thread at a time.
public final class JSONWriter {
    /// The limit on nested arrays and objects; the outermost has depth 1.
    public static let maximumDepth = 128
    /// The largest buffer that is kept for the next value, in bytes.
    static let keptCapacity = 64 << 10

    /// The state for the next value; nil while it is in use, since writing a value may write
    /// another one. Unchecked for exclusivity because each access is one load or store.
    @exclusivity(unchecked) private var idle: WriterState?

    public init() {}

    /// Returns the value's bytes.
    /// - Throws: `EncodingError`, or what the value's own encoding throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        try withEncoded(value) { Array($0) }
    }

    /// Calls `use` with the value's bytes, which are valid only during the call.
    /// - Throws: the same errors as `encode`, and those of `use`.
    public func withEncoded<Value: Encodable, Result>(
        _ value: Value, _ use: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let state = idle ?? WriterState()
        idle = nil
        defer {
            // If a container is still referenced, its scope's serial number tells it that the value
            // is finished.
            state.reset()
            idle = state
        }
        try state.encodeTop(value)
        return try use(UnsafeRawBufferPointer(start: state.base, count: state.count))
    }
}
