/// Reads one JSON value by recursive descent. Owns only its position; the bytes
/// are its caller's, and must outlive it.
struct JSONParser {
    let bytes: UnsafeRawBufferPointer
    let maximumDepth: Int
    let maximumValues: Int
    var position = 0
    /// The values that were begun: each array and object, and what stands in them. Keys are none.
    private(set) var values = 0
    private var depth = 0
    static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    init(bytes: UnsafeRawBufferPointer, maximumDepth: Int, maximumValues: Int = .max) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
    }

    /// The one value and the end of the bytes behind it.
    mutating func document() throws(JSONError) -> JSON {
        skipWhiteSpace()
        let value = try value()
        skipWhiteSpace()
        guard position == bytes.count else { throw error("nothing may follow the value") }
        return value
    }

    func error(_ message: String, at offset: Int? = nil) -> JSONError {
        JSONError(offset: offset ?? position, message: message)
    }

    /// The byte at the position; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value() throws(JSONError) -> JSON {
        guard values < maximumValues else {
            throw JSONError(offset: position, message: "over \(maximumValues) values", hasTooManyValues: true)
        }
        values += 1
        switch current {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || Self.digits.contains(byte): return try number()
        case nil: throw error("a value is missing")
        case 0xEF where position == 0: throw error("a byte order mark is not allowed")
        default: throw error("no value begins so")
        }
    }

    private mutating func nested(
        _ read: (inout JSONParser) throws(JSONError) -> JSON
    ) throws(JSONError) -> JSON {
        guard depth < maximumDepth else { throw error("nested deeper than \(maximumDepth)") }
        depth += 1
        defer { depth -= 1 }
        position += 1
        skipWhiteSpace()
        return try read(&self)
    }

    private mutating func object() throws(JSONError) -> JSON {
        var members: [JSON.Member] = []
        var names = UniqueNames()
        if take("}") { return .object(members) }
        while true {
            guard current == UInt8(ascii: "\"") else { throw error("a key in quotes is missing") }
            let start = position
            let name = try string()
            guard names.insert(name, unlessIn: members) else {
                throw error("key \(JSON.string(name)) is there twice", at: start)
            }
            skipWhiteSpace()
            guard take(":") else { throw error("a colon is missing after the key") }
            skipWhiteSpace()
            members.append(JSON.Member(name, try value()))
            skipWhiteSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("a comma or } is missing") }
            skipWhiteSpace()
        }
    }

    private mutating func array() throws(JSONError) -> JSON {
        var elements: [JSON] = []
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value())
            skipWhiteSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw error("a comma or ] is missing") }
            skipWhiteSpace()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[index] else {
                throw error("\(word) is misspelt", at: start)
            }
            position += 1
        }
        return value
    }

    private mutating func skipWhiteSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }
}

/// The keys of one object so far. A set is made only for an object of many, so
/// that the usual small one costs no table and a huge one no quadratic time.
private struct UniqueNames {
    private var set: Set<[UInt8]>?
    private static let few = 16

    /// False where the name is there already. Names are compared as bytes: a
    /// string's own equality would make one of two spellings of "é".
    mutating func insert(_ name: String, unlessIn members: [JSON.Member]) -> Bool {
        if set == nil {
            if members.count < Self.few { return !members.contains { $0.isNamed(name) } }
            set = Set(members.map { Array($0.name.utf8) })
        }
        // Because it was made above where it was not there.
        return set!.insert(Array(name.utf8)).inserted
    }
}

extension JSON.Member {
    /// Whether this is the member's name, byte for byte.
    func isNamed(_ other: String) -> Bool {
        name == other && name.utf8.elementsEqual(other.utf8)
    }
}
