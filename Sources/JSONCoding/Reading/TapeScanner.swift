/// Why bytes are no JSON, and where.
struct JSONSyntaxError: Error {
    let offset: Int
    let message: StaticString
}

/// The entries of all values of a text, in memory that is kept for the next.
struct Tape {
    private(set) var entries: UnsafeMutablePointer<TapeEntry>
    private(set) var count: UInt32 = 0
    private var capacity: UInt32

    init(capacity: UInt32) {
        self.capacity = capacity
        entries = .allocate(capacity: Int(capacity))
    }

    /// Adds an entry, and gives its index.
    @inline(__always)
    @discardableResult
    mutating func append(_ entry: TapeEntry) -> UInt32 {
        if count == capacity { grow() }
        (entries + Int(count)).initialize(to: entry)
        count += 1
        return count - 1
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        let larger = UnsafeMutablePointer<TapeEntry>.allocate(capacity: Int(capacity))
        larger.moveInitialize(from: entries, count: Int(count))
        entries.deallocate()
        entries = larger
    }

    /// Forgets all entries, and gives back memory beyond so much.
    mutating func clear(keeping kept: UInt32) {
        count = 0
        guard capacity > kept else { return }
        entries.deallocate()
        self = Tape(capacity: kept)
    }

    func deallocate() { entries.deallocate() }
}

/// Checks JSON in one pass and writes down where each value is. It doesn't
/// call itself, so that what is nested deep takes no stack.
struct TapeScanner {
    private let base: UnsafeRawPointer
    private let count: Int
    private var position = 0
    private var tape: Tape
    private static let none = UInt32.max

    /// Adds the entries of a text to an empty tape.
    /// - Parameter bytes: fewer than 32 bits can count.
    static func scan(_ bytes: UnsafeRawBufferPointer, into tape: inout Tape) throws(JSONSyntaxError) {
        guard let base = bytes.baseAddress else { throw JSONSyntaxError(offset: 0, message: "there is nothing") }
        var scanner = TapeScanner(base: base, count: bytes.count, tape: tape)
        defer { tape = scanner.tape }
        try scanner.document()
    }

    private init(base: UnsafeRawPointer, count: Int, tape: Tape) {
        self.base = base
        self.count = count
        self.tape = tape
    }

    private mutating func document() throws(JSONSyntaxError) {
        skipWhiteSpace()
        try values()
        skipWhiteSpace()
        if position < count { throw error("something follows the value") }
    }

    private mutating func values() throws(JSONSyntaxError) {
        var container = Self.none
        var isObject = false
        var depth = 0
        while true {
            switch byte {
            case UInt8(ascii: "\""): try string()
            case UInt8(ascii: "{"):
                let inner = try open(.object, in: container, depth)
                if byte == UInt8(ascii: "}") {
                    closeEmpty(inner)
                } else {
                    (container, isObject, depth) = (inner, true, depth + 1)
                    try name()
                    continue
                }
            case UInt8(ascii: "["):
                let inner = try open(.array, in: container, depth)
                if byte == UInt8(ascii: "]") {
                    closeEmpty(inner)
                } else {
                    (container, isObject, depth) = (inner, false, depth + 1)
                    continue
                }
            case UInt8(ascii: "t"): try word("true", .yes)
            case UInt8(ascii: "f"): try word("false", .no)
            case UInt8(ascii: "n"): try word("null", .null)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
            default: throw error(position < count ? "no value begins so" : "a value is missing at the end")
            }
            // A value is complete, and with it perhaps what is around it.
            while container != Self.none {
                let entry = tape.entries + Int(container)
                entry.pointee.end += 1
                skipWhiteSpace()
                if byte == UInt8(ascii: ",") {
                    position += 1
                    skipWhiteSpace()
                    if isObject { try name() }
                    break
                }
                guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw error(isObject ? "a comma or } is missing" : "a comma or ] is missing")
                }
                position += 1
                depth -= 1
                let outer = entry.pointee.start
                entry.pointee.start = container + 1
                entry.pointee.next = tape.count
                container = outer
                isObject = outer != Self.none && tape.entries[Int(outer)].kind == .object
            }
            if container == Self.none { return }
        }
    }

    /// Enters a container, up to what is in it.
    private mutating func open(
        _ kind: TapeEntry.Kind, in container: UInt32, _ depth: Int
    ) throws(JSONSyntaxError) -> UInt32 {
        guard depth < JSONReader.maximumDepth else { throw error("arrays and objects are nested too deep") }
        position += 1
        skipWhiteSpace()
        return tape.append(TapeEntry(start: container, end: 0, next: 0, kind: kind))
    }

    private mutating func closeEmpty(_ container: UInt32) {
        position += 1
        tape.entries[Int(container)].start = container + 1
        tape.entries[Int(container)].next = container + 1
    }

    private mutating func name() throws(JSONSyntaxError) {
        guard byte == UInt8(ascii: "\"") else { throw error("a name in quotes is missing") }
        try string()
        skipWhiteSpace()
        guard byte == UInt8(ascii: ":") else { throw error("a colon is missing behind the name") }
        position += 1
        skipWhiteSpace()
    }

    private mutating func word(_ word: StaticString, _ kind: TapeEntry.Kind) throws(JSONSyntaxError) {
        let start = position
        for offset in 0..<word.utf8CodeUnitCount {
            guard byte == word.utf8Start[offset] else { throw error("no value begins so", at: start) }
            position += 1
        }
        append(kind, from: start, to: position)
    }

    // MARK: Bytes

    /// The byte at the position; at the end 0, which is nothing in JSON.
    private var byte: UInt8 {
        @inline(__always) get {
            position < count ? base.load(fromByteOffset: position, as: UInt8.self) : 0
        }
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        while byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func error(_ message: StaticString, at offset: Int? = nil) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset ?? position, message: message)
    }

    @inline(__always)
    private mutating func append(
        _ kind: TapeEntry.Kind, from start: Int, to end: Int, _ flags: TapeEntry.Flags = []
    ) {
        tape.append(
            TapeEntry(
                start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end), next: tape.count + 1,
                kind: kind, flags: flags))
    }

    // MARK: Numbers

    private mutating func number() throws(JSONSyntaxError) {
        let start = position
        if byte == UInt8(ascii: "-") { position += 1 }
        let isZero = byte == UInt8(ascii: "0")
        let integer = try digits()
        guard !isZero || integer == 1 else { throw error("a number begins with a zero", at: start) }
        var flags: TapeEntry.Flags = []
        if byte == UInt8(ascii: ".") {
            flags = .fraction
            position += 1
            _ = try digits()
        }
        if byte | 0x20 == UInt8(ascii: "e") {
            flags = .fraction
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            _ = try digits()
        }
        append(.number, from: start, to: position, flags)
    }

    @inline(__always)
    private mutating func digits() throws(JSONSyntaxError) -> Int {
        let start = position
        while byte &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else { throw error("a digit is missing") }
        return position - start
    }

    // MARK: Strings

    @inline(__always)
    private mutating func string() throws(JSONSyntaxError) {
        position += 1
        let start = position
        var flags: TapeEntry.Flags = []
        while true {
            while position + 8 <= count {
                let word = base.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                let found = JSONText.special(word) | JSONText.beyondASCII(word)
                if found != 0 {
                    position += found.trailingZeroBitCount / 8
                    break
                }
                position += 8
            }
            switch byte {
            case UInt8(ascii: "\""):
                append(.string, from: start, to: position, flags)
                position += 1
                return
            case UInt8(ascii: "\\"):
                flags = .escaped
                try escape()
            case 0..<0x20: throw error(position < count ? "a control character isn't escaped" : "a text doesn't end")
            case 0x20..<0x80: position += 1
            default: try sequence()
            }
        }
    }

    @inline(never)
    private mutating func escape() throws(JSONSyntaxError) {
        let start = position
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let first = try unit(start)
            if Unicode.Scalar(first) != nil { return }
            guard byte == UInt8(ascii: "\\") else { throw error("a surrogate stands alone", at: start) }
            position += 1
            guard byte == UInt8(ascii: "u"), JSONText.pair(first, try unit(start)) != nil else {
                throw error("a surrogate stands alone", at: start)
            }
        default: throw error("there is no such escape", at: start)
        }
    }

    /// The four digits behind a `u`.
    private mutating func unit(_ start: Int) throws(JSONSyntaxError) -> UInt32 {
        position += 1
        let bytes = UnsafeRawBufferPointer(start: base, count: count)
        guard let unit = JSONText.fourDigits(bytes, at: position) else {
            throw error("four hexadecimal digits are missing", at: start)
        }
        position += 4
        return unit
    }

    /// Passes one well-formed sequence of several bytes (Unicode, table 3-7).
    @inline(never)
    private mutating func sequence() throws(JSONSyntaxError) {
        let second: ClosedRange<UInt8>
        let length: Int
        switch byte {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: throw error("it is no UTF-8")
        }
        let start = position
        position += 1
        guard second.contains(byte) else { throw error("it is no UTF-8", at: start) }
        for _ in 2..<length {
            position += 1
            guard byte & 0xC0 == 0x80 else { throw error("it is no UTF-8", at: start) }
        }
        position += 1
    }
}
