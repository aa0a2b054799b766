internal import Glibc

/// Writes a frame's lengths, header and body into memory that has room for it.
///
/// The order of calls is the order on the wire: `kind` first, `id` second.
public struct HeaderWriter {
    private let start: UnsafeMutablePointer<UInt8>
    private var cursor: UnsafeMutablePointer<UInt8>

    /// Room for what isn't a text: lengths, names of members, numbers.
    public static let overhead = 512

    /// The room that a text may take once it is escaped.
    @inlinable
    public static func room(_ text: UnsafeRawBufferPointer) -> Int { text.count * 6 + 32 }

    /// Begins a frame. The memory has `overhead` bytes, `room` for each text,
    /// and the body's length where it is copied.
    @inlinable
    public init(_ memory: UnsafeMutableRawPointer, _ kind: Header.Kind) {
        self.init(memory, opening: kind.opening)
    }

    public init(_ memory: UnsafeMutableRawPointer, opening: StaticString) {
        start = memory.assumingMemoryBound(to: UInt8.self)
        cursor = start + 8
        literal(opening)
    }

    /// Bytes that are written as they are.
    @inline(__always)
    public mutating func literal(_ text: StaticString) {
        cursor.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        cursor += text.utf8CodeUnitCount
    }

    public mutating func integer(_ name: StaticString, _ value: UInt64) {
        key(name)
        digits(value)
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

    /// A string without anything to escape.
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

    public mutating func boolean(_ name: StaticString, _ value: Bool) {
        key(name)
        literal(value ? "true" : "false")
    }

    /// A value that is JSON already.
    public mutating func raw(_ name: StaticString, _ json: UnsafeRawBufferPointer) {
        key(name)
        append(json)
    }

    /// Ends the header, copies the body and writes the lengths.
    /// - Returns: how many bytes of the memory the frame takes.
    public mutating func end(body: UnsafeRawBufferPointer) -> Int {
        let header = endHeader(bodyCount: body.count)
        append(body)
        return header + body.count
    }

    /// Ends the header of a frame whose body follows from elsewhere.
    public mutating func endHeader(bodyCount: Int) -> Int {
        cursor.pointee = UInt8(ascii: "}")
        cursor += 1
        let header = cursor - start - 8
        let memory = UnsafeMutableRawPointer(start)
        memory.storeBytes(of: UInt32(4 + header + bodyCount).bigEndian, as: UInt32.self)
        memory.storeBytes(of: UInt32(header).bigEndian, toByteOffset: 4, as: UInt32.self)
        return 8 + header
    }

    @inline(__always)
    private mutating func key(_ name: StaticString) {
        cursor[0] = UInt8(ascii: ",")
        cursor[1] = UInt8(ascii: "\"")
        cursor += 2
        literal(name)
        cursor[0] = UInt8(ascii: "\"")
        cursor[1] = UInt8(ascii: ":")
        cursor += 2
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        memcpy(cursor, base, bytes.count)
        cursor += bytes.count
    }

    private mutating func digits(_ value: UInt64) {
        var value = value
        var count = 1
        var bound: UInt64 = 10
        while value >= bound && count < 20 {
            count += 1
            bound = count < 20 ? bound &* 10 : .max
        }
        var index = count
        repeat {
            index -= 1
            let (quotient, remainder) = value.quotientAndRemainder(dividingBy: 10)
            cursor[index] = UInt8(truncatingIfNeeded: 0x30 + remainder)
            value = quotient
        } while index > 0
        cursor += count
    }

    private mutating func escaped(_ text: UnsafeRawBufferPointer) {
        for byte in text {
            if byte >= 0x20 && byte != 0x22 && byte != 0x5C {
                cursor.pointee = byte
                cursor += 1
            } else {
                escape(byte)
            }
        }
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
