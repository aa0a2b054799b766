/// Writes `Encodable` values as compact JSON, each straight into one buffer
/// that is kept from one value to the next.
///
/// Numbers, texts, dates (ISO 8601), data (base64), URLs and decimals look as
/// Foundation's encoder makes them, without escaped slashes. Members come in
/// the order in which they are encoded, but those of dictionaries in that of
/// their names' bytes, since their own differs from process to process: the
/// same value gives the same bytes everywhere.
///
/// Coding paths are made of what was written, and only when asked for: their
/// keys have the texts of the keys encoded with, not their types.
///
/// It is for one thread at a time.
public final class JSONWriter {
    /// How deep arrays and objects may be nested, the outermost being 1.
    public static let maximumDepth = 128
    /// A buffer that grew beyond it is given back.
    static let keptCapacity = 64 << 10

    /// Nil while it is in use: a value may write another while it is written.
    /// Unchecked for exclusivity because each access is one load or store.
    @exclusivity(unchecked) private var idle: WriterState?

    public init() {}

    /// The value's bytes.
    /// - Throws: `EncodingError`, or what the value's own encoding throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        try withEncoded(value) { Array($0) }
    }

    /// Hands over the value's bytes, which are gone when it returns.
    /// - Throws: what `encode` does, and what `use` does.
    public func withEncoded<Value: Encodable, Result>(
        _ value: Value, _ use: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let state = idle ?? WriterState()
        idle = nil
        defer {
            // A container that is left over knows from its scope's number that
            // its value is finished.
            state.reset()
            idle = state
        }
        try state.encodeTop(value)
        return try use(UnsafeRawBufferPointer(start: state.base, count: state.count))
    }
}
