/// Checks JSON in one pass and records the position of each value. It isn't recursive, so deep
/// nesting takes no stack.
extension JSONTape {
    private static let none = UInt32.max

    /// Reads one value, with only white space around it, onto an empty tape.
    /// - Parameters:
    ///   - maximumDepth: the limit on nested arrays and objects; the outermost has depth 1.
    ///   - maximumValues: the most values; reading stops at the first one beyond.
    package mutating func scan(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, maximumValues: Int = .max
    ) throws(JSONError) {
        var cursor = JSONCursor(bytes, hasSlack: false)
        try begin(with: cursor)
        cursor.skipSpace()
        cursor.pointer = try scanValue(from: cursor, depth: 0, maximumDepth, maximumValues)
        try cursor.passEnd()
    }

    /// Reads the value at the cursor as a member of the tape's object, which the first call makes.
    /// Repeated names are checked elsewhere.
    /// - Parameter name: the bytes of its name, with the quotes.
    mutating func scanMember(
        named name: UnsafeRawBufferPointer, isEscaped: Bool, _ cursor: inout JSONCursor, maximumDepth: Int
    ) throws(JSONError) {
        if count == 0 {
            try begin(with: cursor)
            append(Entry(start: 1, end: 0, next: 1, kind: .object))
        }
        let start = name.baseAddress.unsafelyUnwrapped - UnsafeRawPointer(cursor.base) + 1
        append(.string, from: start, to: start + name.count - 2, isEscaped: isEscaped)
        cursor.pointer = try scanValue(from: cursor, depth: 1, maximumDepth, .max)
        let object = entry(0)
        object.pointee.end += 1
        object.pointee.next = count
    }

    private mutating func begin(with cursor: JSONCursor) throws(JSONError) {
        bytes = UnsafeRawBufferPointer(start: cursor.base, count: cursor.end - cursor.base)
        guard bytes.count < UInt32.max else { throw JSONError(offset: 0, message: "over 4 GiB can't be read") }
    }

    /// Reads the value at the cursor.
    /// - Parameter outerDepth: the depth of the value's container.
    /// - Returns: the end of the value.
    private mutating func scanValue(
        from start: JSONCursor, depth outerDepth: Int, _ maximumDepth: Int, _ maximumValues: Int
    ) throws(JSONError) -> UnsafePointer<UInt8> {
        var cursor = start
        var container = Self.none
        var isObject = false
        var depth = outerDepth
        while true {
            if isObject { try name(&cursor) }
            guard values < maximumValues else {
                throw JSONError(
                    offset: cursor.position, message: "over \(maximumValues) values", hasTooManyValues: true)
            }
            values += 1
            switch cursor.peek() {
            case UInt8(ascii: "\""): try string(&cursor)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < maximumDepth else { throw cursor.error("nested deeper than \(maximumDepth)") }
                let opensObject = cursor.peek() == UInt8(ascii: "{")
                cursor.pointer += 1
                cursor.skipSpace()
                let inner = append(Entry(start: container, end: 0, next: 0, kind: opensObject ? .object : .array))
                if cursor.take(opensObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    entry(inner).pointee.start = inner + 1
                    entry(inner).pointee.next = inner + 1
                } else {
                    (container, isObject, depth) = (inner, opensObject, depth + 1)
                    continue
                }
            case UInt8(ascii: "t"): try word("true", .yes, &cursor)
            case UInt8(ascii: "f"): try word("false", .no, &cursor)
            case UInt8(ascii: "n"): try word("null", .null, &cursor)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let start = cursor.position
                let isFraction = try cursor.passNumber()
                append(.number, from: start, to: cursor.position, isFraction: isFraction)
            case 0xEF where cursor.position == 0: throw cursor.error("a byte order mark is not allowed")
            default: throw cursor.error(cursor.isAtEnd ? "a value is missing" : "no value begins like this")
            }
            // A value is complete, and perhaps its containers are too.
            while container != Self.none {
                let entry = entry(container)
                entry.pointee.end += 1
                if try cursor.passComma(inObject: isObject) { break }
                depth -= 1
                let outer = entry.pointee.start
                entry.pointee.start = container + 1
                entry.pointee.next = count
                if isObject { try refuseRepeatedNames(of: container) }
                container = outer
                isObject = outer != Self.none && self.entry(outer).pointee.kind == .object
            }
            if container == Self.none { return cursor.pointer }
        }
    }

    @inline(__always)
    private mutating func name(_ cursor: inout JSONCursor) throws(JSONError) {
        guard cursor.peek() == UInt8(ascii: "\"") else { throw cursor.error("a name in quotes is missing") }
        try string(&cursor)
        try cursor.passColon()
    }

    @inline(__always)
    private mutating func string(_ cursor: inout JSONCursor) throws(JSONError) {
        cursor.pointer += 1
        let start = cursor.position
        let isEscaped = try cursor.passString()
        append(.string, from: start, to: cursor.position - 1, isEscaped: isEscaped)
    }

    @inline(__always)
    private mutating func word(
        _ word: StaticString, _ kind: Entry.Kind, _ cursor: inout JSONCursor
    ) throws(JSONError) {
        let start = cursor.position
        try cursor.passWord(word)
        append(kind, from: start, to: cursor.position)
    }

    @inline(__always)
    private mutating func append(
        _ kind: Entry.Kind, from start: Int, to end: Int, isEscaped: Bool = false, isFraction: Bool = false
    ) {
        append(
            Entry(
                start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end), next: count + 1,
                kind: kind, isEscaped: isEscaped, isFraction: isFraction))
    }
}
