/// Writes a frame's lengths, header and body into memory that has room for it.
///
/// The order of calls is the order on the wire: `kind` first, `id` second.
public struct HeaderWriter {
    @usableFromInline let start: UnsafeMutablePointer<UInt8>
    @usableFromInline var cursor: UnsafeMutablePointer<UInt8>

    /// Room for what isn't a text: lengths, names of members, numbers.
    public static let overhead = 512

    /// The room that a text may take once it is escaped.
    @inlinable
    public static func room(_ text: UnsafeRawBufferPointer) -> Int { text.count * 6 + 32 }

    /// Begins a frame. The memory has `overhead` bytes, `room` for each text,
    /// and the body's length where it is copied.
    @inlinable @inline(__always)
    public init(_ memory: UnsafeMutableRawPointer, _ kind: Header.Kind) {
        self.init(memory, opening: kind.opening)
    }

    @inlinable @inline(__always)
    public init(_ memory: UnsafeMutableRawPointer, opening: StaticString) {
        start = memory.assumingMemoryBound(to: UInt8.self)
        cursor = start + 8
        literal(opening)
    }

    /// Bytes that are written as they are.
    @inlinable @inline(__always)
    public mutating func literal(_ text: StaticString) {
        UnsafeMutableRawPointer(cursor).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        cursor += text.utf8CodeUnitCount
    }

    @inlinable @inline(__always)
    public mutating func integer(_ name: StaticString, _ value: UInt64) {
        key(name)
        if value < 10 {
            cursor.pointee = UInt8(truncatingIfNeeded: 0x30 + value)
            cursor += 1
        } else {
            digits(value)
        }
    }

    /// A string; what JSON must escape is escaped, and nothing else.
    public mutating func string(_ name: StaticString, _ text: UnsafeRawBufferPointer) {
        key(name)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
        escaped(text)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
    }

    /// A string without anything to escape: a name, or `Interface/action`.
    @inlinable @inline(__always)
    public mutating func name(_ name: StaticString, _ text: UnsafeRawBufferPointer) {
        key(name)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
        append(text)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
    }

    /// A string without anything to escape.
    @inlinable @inline(__always)
    public mutating func string(_ name: StaticString, _ text: StaticString) {
        key(name)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
        literal(text)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
    }

    public mutating func string(_ name: StaticString, _ text: String) {
        var text = text
        text.withUTF8 { string(name, UnsafeRawBufferPointer($0)) }
    }

    @inlinable @inline(__always)
    public mutating func boolean(_ name: StaticString, _ value: Bool) {
        key(name)
        literal(value ? "true" : "false")
    }

    /// A value that is JSON already.
    @inlinable @inline(__always)
    public mutating func raw(_ name: StaticString, _ json: UnsafeRawBufferPointer) {
        key(name)
        append(json)
    }

    /// Ends the header, copies the body and writes the lengths.
    /// - Returns: how many bytes of the memory the frame takes.
    @inlinable @inline(__always)
    public mutating func end(body: UnsafeRawBufferPointer) -> Int {
        let header = endHeader(bodyCount: body.count)
        append(body)
        return header + body.count
    }

    /// Ends the header of a frame whose body follows from elsewhere.
    @inlinable @inline(__always)
    public mutating func endHeader(bodyCount: Int) -> Int {
        cursor.pointee = UInt8(ascii: "}")
        cursor += 1
        let header = cursor - start - 8
        let memory = UnsafeMutableRawPointer(start)
        memory.storeBytes(of: UInt32(truncatingIfNeeded: 4 + header + bodyCount).bigEndian, as: UInt32.self)
        memory.storeBytes(of: UInt32(truncatingIfNeeded: header).bigEndian, toByteOffset: 4, as: UInt32.self)
        return 8 + header
    }

    @inlinable @inline(__always)
    mutating func key(_ name: StaticString) {
        cursor[0] = UInt8(ascii: ",")
        cursor[1] = UInt8(ascii: "\"")
        cursor += 2
        literal(name)
        cursor[0] = UInt8(ascii: "\"")
        cursor[1] = UInt8(ascii: ":")
        cursor += 2
    }

    @inlinable @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        UnsafeMutableRawPointer(cursor).copyMemory(from: base, byteCount: bytes.count)
        cursor += bytes.count
    }

    /// Two digits at a time, from the last.
    @usableFromInline
    mutating func digits(_ value: UInt64) {
        let count = Self.digitCount(value)
        let pairs = Self.pairs.utf8Start
        var end = cursor + count
        var rest = value
        while rest >= 100 {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 100)
            end -= 2
            end[0] = pairs[Int(remainder) * 2]
            end[1] = pairs[Int(remainder) * 2 + 1]
            rest = quotient
        }
        if rest >= 10 {
            end[-2] = pairs[Int(rest) * 2]
            end[-1] = pairs[Int(rest) * 2 + 1]
        } else {
            end[-1] = UInt8(truncatingIfNeeded: 0x30 + rest)
        }
        cursor += count
    }

    @inline(__always)
    private static func digitCount(_ value: UInt64) -> Int {
        var count = 1
        var rest = value
        while rest >= 10_000 {
            rest /= 10_000
            count += 4
        }
        return rest >= 1_000 ? count + 3 : rest >= 100 ? count + 2 : rest >= 10 ? count + 1 : count
    }

    private static let pairs: StaticString =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

    private mutating func escaped(_ text: UnsafeRawBufferPointer) {
        guard Self.hasSpecials(text) else { return append(text) }
        for byte in text {
            if byte >= 0x20 && byte != 0x22 && byte != 0x5C {
                cursor.pointee = byte
                cursor += 1
            } else {
                escape(byte)
            }
        }
    }

    /// Whether anything must be escaped: a control character, a quote, a backslash.
    /// Eight bytes at a time (Lamport's and Mycroft's word tricks).
    @inline(__always)
    private static func hasSpecials(_ text: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var index = 0
        while index + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let control = (word &- ones &* 0x20) & ~word
            let equal = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
            if (control | equal) & highs != 0 { return true }
            index += 8
        }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C { return true }
            index += 1
        }
        return false
    }

    private mutating func escape(_ byte: UInt8) {
        cursor[0] = UInt8(ascii: "\\")
        switch byte {
        case 0x22, 0x5C: cursor[1] = byte
        case 0x08: cursor[1] = UInt8(ascii: "b")
        case 0x09: cursor[1] = UInt8(ascii: "t")
        case 0x0A: cursor[1] = UInt8(ascii: "n")
        case 0x0C: cursor[1] = UInt8(ascii: "f")
        case 0x0D: cursor[1] = UInt8(ascii: "r")
        default:
            let hex = Array("0123456789abcdef".utf8)
            cursor[1] = UInt8(ascii: "u")
            cursor[2] = 0x30
            cursor[3] = 0x30
            cursor[4] = hex[Int(byte >> 4)]
            cursor[5] = hex[Int(byte & 15)]
            cursor += 4
        }
        cursor += 2
    }
}

extension Header.Kind {
    /// The first bytes of a header of this kind.
    public var opening: StaticString {
        switch self {
        case .unknown: preconditionFailure("nobody sends a frame of an unknown kind")
        case .call: "{\"kind\":\"call\""
        case .open: "{\"kind\":\"open\""
        case .reply: "{\"kind\":\"reply\""
        case .error: "{\"kind\":\"error\""
        case .cancel: "{\"kind\":\"cancel\""
        case .credit: "{\"kind\":\"credit\""
        case .broadcast: "{\"kind\":\"broadcast\""
        case .report: "{\"kind\":\"report\""
        case .notice: "{\"kind\":\"notice\""
        }
    }
}
