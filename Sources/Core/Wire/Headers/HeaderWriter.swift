/// Writes a frame's lengths, header and body into memory with enough space.
///
/// The order of the calls is the order on the wire: `kind` first, `id` second.
public struct HeaderWriter {
    @usableFromInline let start: UnsafeMutablePointer<UInt8>
    @usableFromInline var cursor: UnsafeMutablePointer<UInt8>

    /// The space for everything that isn't a text, in bytes: lengths, member names, numbers.
    public static let overhead = 512

    /// Returns the space that a text may take once it is escaped, in bytes.
    @inlinable
    public static func room(_ text: UnsafeRawBufferPointer) -> Int { text.count * 6 + 32 }

    /// Begins a frame. The memory needs `overhead` bytes, `room` for each text, and the body's
    /// length if it is copied.
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

    /// The number of bytes written, including the space for the lengths.
    @inlinable
    public var count: Int { cursor - start }

    /// Writes bytes unchanged.
    @inlinable @inline(__always)
    public mutating func literal(_ text: StaticString) {
        UnsafeMutableRawPointer(cursor).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        cursor += text.utf8CodeUnitCount
    }

    @inlinable @inline(__always)
    public mutating func integer(_ name: StaticString, _ value: UInt64) {
        key(name)
        // The credit of most calls: a fifth of what any number takes.
        if value < 100 { fewDigits(value) } else { digits(value) }
    }

    /// Writes a string member, and escapes only what JSON requires.
    public mutating func string(_ name: StaticString, _ text: UnsafeRawBufferPointer) {
        key(name)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
        escaped(text)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
    }

    /// Writes a string member with nothing to escape: a name, or `Interface/action`.
    @inlinable @inline(__always)
    public mutating func name(_ name: StaticString, _ text: UnsafeRawBufferPointer) {
        key(name)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
        bytes(text)
        cursor.pointee = UInt8(ascii: "\"")
        cursor += 1
    }

    /// Writes a string member with nothing to escape.
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

    /// Writes a member whose value is already JSON.
    @inlinable @inline(__always)
    public mutating func raw(_ name: StaticString, _ json: UnsafeRawBufferPointer) {
        key(name)
        bytes(json)
    }

    /// Ends the header, copies the body and writes the lengths.
    /// - Returns: the number of bytes that the frame takes in the memory.
    @inlinable @inline(__always)
    public mutating func end(body: UnsafeRawBufferPointer) -> Int {
        cursor.pointee = UInt8(ascii: "}")
        cursor += 1
        bytes(body)
        return finish(copiedBody: body.count, restOfBody: 0)
    }

    /// Ends the header of a frame whose body is sent from other memory.
    @inlinable @inline(__always)
    public mutating func endHeader(bodyCount: Int) -> Int {
        cursor.pointee = UInt8(ascii: "}")
        cursor += 1
        return finish(copiedBody: 0, restOfBody: bodyCount)
    }

    /// Writes the lengths of a frame whose header, and the copied part of its body, are already
    /// written.
    /// - Returns: the number of bytes that the frame takes in the memory.
    @inlinable @inline(__always)
    public func finish(copiedBody copied: Int, restOfBody rest: Int) -> Int {
        let written = count
        let memory = UnsafeMutableRawPointer(start)
        memory.storeBytes(of: UInt32(truncatingIfNeeded: written &- 4 &+ rest).bigEndian, as: UInt32.self)
        memory.storeBytes(
            of: UInt32(truncatingIfNeeded: written &- 8 &- copied).bigEndian, toByteOffset: 4, as: UInt32.self)
        return written
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

    /// Writes bytes unchanged.
    @inlinable @inline(__always)
    public mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        UnsafeMutableRawPointer(cursor).copyMemory(from: base, byteCount: bytes.count)
        cursor += bytes.count
    }

    /// Writes a number, eight digits at once.
    @inlinable @inline(__always)
    mutating func digits(_ value: UInt64) {
        if value < 100_000_000 { shortDigits(value) } else { longDigits(value) }
    }

    /// Writes a number from 0 to 99.
    @inlinable @inline(__always)
    mutating func fewDigits(_ value: UInt64) {
        if value < 10 {
            cursor.pointee = UInt8(truncatingIfNeeded: 0x30 &+ value)
            cursor += 1
        } else {
            cursor[0] = UInt8(truncatingIfNeeded: 0x30 &+ value / 10)
            cursor[1] = UInt8(truncatingIfNeeded: 0x30 &+ value % 10)
            cursor += 2
        }
    }

    /// Writes a number from 1 to 99,999,999.
    @inlinable @inline(__always)
    mutating func shortDigits(_ value: UInt64) {
        let digits = Self.eightDigits(value)
        let zeros = UInt64(digits.trailingZeroBitCount & ~7)
        store((digits | 0x3030_3030_3030_3030) >> zeros)
        cursor += 8 - Int(zeros >> 3)
    }

    @usableFromInline
    mutating func longDigits(_ value: UInt64) {
        let (high, low) = value.quotientAndRemainder(dividingBy: 100_000_000)
        // The broker's numbers of calls have nine or ten digits for a long time.
        if high < 100 { fewDigits(high) } else { digits(high) }
        store(Self.eightDigits(low) | 0x3030_3030_3030_3030)
        cursor += 8
    }

    /// Stores eight bytes; later writes overwrite the surplus ones.
    @inlinable @inline(__always)
    func store(_ word: UInt64) {
        UnsafeMutableRawPointer(cursor).storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    /// Returns the eight digits of a number below 10^8, one per byte, with the first in the lowest
    /// byte (Paul Khuong, "How to print integers really fast", 2017).
    @inlinable @inline(__always)
    static func eightDigits(_ value: UInt64) -> UInt64 {
        let fours = (value / 10_000) | ((value % 10_000) << 32)
        let tops = ((fours &* 10_486) >> 20) & 0x0000_007F_0000_007F
        let pairs = ((fours &- 100 &* tops) << 16) &+ tops
        let tens = ((pairs &* 103) >> 10) & 0x000F_000F_000F_000F
        return tens &+ ((pairs &- 10 &* tens) << 8)
    }

    private mutating func escaped(_ text: UnsafeRawBufferPointer) {
        guard JSONString.plainPrefix(of: text, from: 0) < text.count else { return bytes(text) }
        for byte in text {
            if JSONString.isSpecial(byte) {
                cursor += JSONString.escape(byte, into: cursor)
            } else {
                cursor.pointee = byte
                cursor += 1
            }
        }
    }
}

extension Header.Kind {
    /// The first bytes of a header of this kind.
    @inlinable
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
