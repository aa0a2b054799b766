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

    /// Goes on with a frame that begins as another did.
    @inlinable @inline(__always)
    public init(_ memory: UnsafeMutableRawPointer, copying begun: UnsafeRawBufferPointer) {
        start = memory.assumingMemoryBound(to: UInt8.self)
        cursor = start
        bytes(begun)
    }

    /// How many bytes are written, the place of the lengths counted.
    @inlinable
    public var count: Int { cursor - start }

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
        bytes(text)
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
        bytes(json)
    }

    /// Ends the header, copies the body and writes the lengths.
    /// - Returns: how many bytes of the memory the frame takes.
    @inlinable @inline(__always)
    public mutating func end(body: UnsafeRawBufferPointer) -> Int {
        cursor.pointee = UInt8(ascii: "}")
        cursor += 1
        bytes(body)
        return finish(copiedBody: body.count, restOfBody: 0)
    }

    /// Ends the header of a frame whose body follows from elsewhere.
    @inlinable @inline(__always)
    public mutating func endHeader(bodyCount: Int) -> Int {
        cursor.pointee = UInt8(ascii: "}")
        cursor += 1
        return finish(copiedBody: 0, restOfBody: bodyCount)
    }

    /// Writes the lengths of a frame whose header, and what is copied of its
    /// body, are written already.
    /// - Returns: how many bytes of the memory the frame takes.
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

    /// Bytes that are written as they are.
    @inlinable @inline(__always)
    public mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        UnsafeMutableRawPointer(cursor).copyMemory(from: base, byteCount: bytes.count)
        cursor += bytes.count
    }

    /// Eight digits at once.
    @inlinable @inline(__always)
    mutating func digits(_ value: UInt64) {
        if value < 100_000_000 { shortDigits(value) } else { longDigits(value) }
    }

    /// Of a number from 1 to 99,999,999.
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
        digits(high)
        store(Self.eightDigits(low) | 0x3030_3030_3030_3030)
        cursor += 8
    }

    /// Eight bytes, of which what is too many is written over.
    @inlinable @inline(__always)
    func store(_ word: UInt64) {
        UnsafeMutableRawPointer(cursor).storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    /// The eight digits of a number below 10^8, one a byte, the first in the
    /// lowest (Paul Khuong, "How to print integers really fast", 2017).
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
