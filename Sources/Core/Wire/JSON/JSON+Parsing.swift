extension JSON {
    /// Reads one JSON value as RFC 8259 defines it, from valid UTF-8, with only white space around
    /// it. These are errors: a byte order mark, a lone surrogate, and a name that occurs twice in
    /// one object. Names are compared byte by byte after decoding.
    ///
    /// The time is proportional to the number of bytes. The tree is built recursively, so
    /// `maximumDepth` (the outermost array or object has depth 1) limits the use of the stack.
    /// Don't let a peer choose it. Reading stops at the first value over `maximumValues`; each
    /// array, object and element counts.
    public init(
        parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = 64, maximumValues: Int = .max
    ) throws(JSONError) {
        var tape = JSONTape()
        try tape.scan(bytes, maximumDepth: maximumDepth, maximumValues: maximumValues)
        try self.init(tape, 0)
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

    /// Returns whether bytes are one JSON value with at most `maximumValues` values, including
    /// itself, and how many of them were read to find out.
    package static func check(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, maximumValues: Int
    ) -> (isJSON: Bool, values: Int) {
        var tape = JSONTape()
        do throws(JSONError) {
            try tape.scan(bytes, maximumDepth: maximumDepth, maximumValues: maximumValues)
            _ = try JSON(tape, 0)
            return (true, tape.values)
        } catch {
            return (false, tape.values)
        }
    }

    /// Makes the value of an entry.
    /// - Throws: if a number is out of range.
    package init(_ tape: borrowing JSONTape, _ index: UInt32) throws(JSONError) {
        let entry = tape.entry(index).pointee
        switch entry.kind {
        case .null: self = .null
        case .no: self = .bool(false)
        case .yes: self = .bool(true)
        case .string: self = .string(tape.string(index))
        case .number: self = try Self.number(tape, index)
        case .array:
            var elements: [JSON] = []
            elements.reserveCapacity(Int(entry.end))
            var next = index + 1
            while next < entry.next {
                elements.append(try JSON(tape, next))
                next = tape.entry(next).pointee.next
            }
            self = .array(elements)
        case .object:
            var members: [Member] = []
            members.reserveCapacity(Int(entry.end))
            var next = index + 1
            while next < entry.next {
                members.append(Member(tape.string(next), try JSON(tape, next + 1)))
                next = tape.entry(next + 1).pointee.next
            }
            self = .object(members)
        }
    }

    /// Returns an integer if it is written as one and fits, else a double.
    private static func number(_ tape: borrowing JSONTape, _ index: UInt32) throws(JSONError) -> JSON {
        let text = String(decoding: tape.text(index), as: UTF8.self)
        let entry = tape.entry(index).pointee
        if !entry.isFraction, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else {
            throw JSONError(offset: Int(entry.start), message: "the number is out of range")
        }
        return .number(double)
    }
}

/// The reason why bytes are not a JSON value, and the position.
public struct JSONError: Error, Equatable, CustomStringConvertible {
    /// The offset in bytes of the part that couldn't be read.
    public var offset: Int
    /// What was expected or found there.
    public var message: String
    /// Whether there are more values than the reader accepts; the rest was not read.
    public var hasTooManyValues: Bool

    public init(offset: Int, message: String, hasTooManyValues: Bool = false) {
        self.offset = offset
        self.message = message
        self.hasTooManyValues = hasTooManyValues
    }

    public var description: String { "at byte \(offset): \(message)" }
}
