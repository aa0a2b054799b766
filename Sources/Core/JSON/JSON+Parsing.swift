extension JSON {
    /// Reads one JSON value as RFC 8259 has it, from valid UTF-8, with nothing
    /// but white space around it. A byte order mark, a lone surrogate and a key
    /// given twice in one object (compared after unescaping, byte by byte) are
    /// errors.
    ///
    /// Takes time in proportion to the bytes. Reading is recursive, so
    /// `maximumDepth` (the outermost array or object being 1) is what keeps the
    /// stack small: it is no place for a peer's number. Reading stops at the first
    /// value beyond `maximumValues`, each array, object and element counted.
    public init(
        parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64, maximumValues: Int = .max
    ) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth, maximumValues: maximumValues)
        self = try parser.document()
    }

    /// Reads one JSON value from an array's bytes.
    public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
        self = try bytes.withUnsafeBytes { raw in
            Result { () throws(JSONError) in try JSON(parsing: raw, maximumDepth: maximumDepth) }
        }.get()
    }

    /// Reads one JSON value from a string.
    public init(parsing text: String, maximumDepth: Int = 64) throws(JSONError) {
        var text = text
        self = try text.withUTF8 { buffer in
            Result { () throws(JSONError) in
                try JSON(parsing: UnsafeRawBufferPointer(buffer), maximumDepth: maximumDepth)
            }
        }.get()
    }

    /// Whether bytes are one JSON value of at most so many values, itself counted, and
    /// how many of them were read to know it.
    package static func check(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, maximumValues: Int
    ) -> (isJSON: Bool, values: Int) {
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth, maximumValues: maximumValues)
        let isJSON = (try? parser.document()) != nil
        return (isJSON, parser.values)
    }
}
