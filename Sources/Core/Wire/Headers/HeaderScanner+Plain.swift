/// A fast path for the headers of nearly all frames, as clients write them: no white space, these
/// members in this order, no escapes. Every byte is checked, as in the full scan. A header that
/// differs in any way goes to the full scan.
///
///     {"kind":"call","id":7,"to":"Test/act"}   also with deadline, credit, or both
///     {"kind":"reply","id":7}
///     {"kind":"broadcast","name":"feed.full"}
extension HeaderScanner {
    /// Reads a plain header into an empty one. Returns false if it isn't plain; the contents of
    /// `header` are then meaningless.
    @inline(__always)
    func scanPlain(_ bytes: UnsafeRawBufferPointer, into header: inout Header) -> Bool {
        guard bytes.count >= 23 else { return false }
        var cursor = JSONCursor(bytes, hasSlack: true)
        guard cursor.pass(Plain.kind) else { return false }
        if cursor.pass(Plain.reply), cursor.pass(Plain.replyID, 5) {
            guard let id = cursor.passPlainNumber() else { return false }
            header.kind = .reply
            header.id = id
            header.members = [.kind, .id]
        } else if cursor.pass(Plain.call), cursor.pass(Plain.callID, 4) {
            guard let id = cursor.passPlainNumber(), cursor.pass(Plain.to, 7), let to = cursor.passText() else {
                return false
            }
            header.kind = .call
            header.id = id
            header.to = to
            header.members = [.kind, .id, .to]
            if cursor.pass(Plain.deadline) {
                guard cursor.pass(Plain.deadlineEnd, 4), let value = cursor.passPlainNumber() else { return false }
                header.deadline = Int64(value)
                header.members.insert(.deadline)
            }
            if cursor.pass(Plain.credit) {
                guard cursor.pass(Plain.creditEnd, 2), let value = cursor.passPlainNumber() else { return false }
                header.credit = value
                header.members.insert(.credit)
            }
        } else if cursor.pass(Plain.broadcast), cursor.pass(Plain.broadcastName), cursor.pass(Plain.nameEnd, 4) {
            guard let name = cursor.passText(), (1...Self.longestName).contains(name.count) else { return false }
            header.kind = .broadcast
            header.name = name
            header.members = [.kind, .name]
        } else {
            return false
        }
        return cursor.take(UInt8(ascii: "}")) && cursor.isAtEnd
    }
}

/// Parts of typical headers, of up to eight bytes each, as words.
enum Plain {
    /// `{"kind":`
    static let kind = 0x3a22_646e_696b_227b as UInt64
    /// `"reply",`
    static let reply = 0x2c22_796c_7065_7222 as UInt64
    /// `"id":`
    static let replyID = 0x3a_2264_6922 as UInt64
    /// `"call","`
    static let call = 0x222c_226c_6c61_6322 as UInt64
    /// `id":`
    static let callID = 0x3a22_6469 as UInt64
    /// `,"to":"`
    static let to = 0x22_3a22_6f74_222c as UInt64
    /// `,"from":`
    static let from = 0x3a22_6d6f_7266_222c as UInt64
    /// `"`
    static let quote = 0x22 as UInt64
    /// `,"deadli`
    static let deadline = 0x696c_6461_6564_222c as UInt64
    /// `ne":`
    static let deadlineEnd = 0x3a22_656e as UInt64
    /// `,"credit`
    static let credit = 0x7469_6465_7263_222c as UInt64
    /// `":`
    static let creditEnd = 0x3a22 as UInt64
    /// `"broadca`
    static let broadcast = 0x6163_6461_6f72_6222 as UInt64
    /// `st","nam`
    static let broadcastName = 0x6d61_6e22_2c22_7473 as UInt64
    /// `e":"`
    static let nameEnd = 0x223a_2265 as UInt64
}

/// The steps that read typical headers.
extension JSONCursor {
    /// Passes the first `count` bytes of a word if they come next. It may read past the end; then
    /// the final position of the cursor isn't the end. Only numbers and texts check that they begin
    /// before it. So at most 24 bytes may be passed between two of these: with the 14 of a number
    /// that it may exceed the end by, and a word, that is within `ReadBuffer.slack`.
    @inline(__always)
    mutating func pass(_ word: UInt64, _ count: Int = 8) -> Bool {
        let next = UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self).littleEndian
        let mask = count == 8 ? UInt64.max : (1 << UInt64(count * 8)) - 1
        guard next & mask == word else { return false }
        pointer += count
        return true
    }

    /// Passes a number of 1 to 15 digits that is 0 or doesn't begin with 0.
    @inline(__always)
    mutating func passPlainNumber() -> UInt64? {
        guard pointer < end else { return nil }
        let digits = UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self).littleEndian ^ 0x3030_3030_3030_3030
        // The high bit of each byte that isn't a digit.
        let others = ((digits &+ 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080
        let startsWithZero = digits & 0xFF == 0
        guard others != 0 else { return startsWithZero ? nil : passLongNumber(digits) }
        let bits = UInt64(others.trailingZeroBitCount & ~7)
        guard bits > 0, !startsWithZero || bits == 8 else { return nil }
        pointer += Int(bits >> 3)
        return Self.value(digits << (64 - bits))
    }

    /// Passes a number of 8 to 15 digits, of which the first eight are known.
    @inline(__always)
    private mutating func passLongNumber(_ digits: UInt64) -> UInt64? {
        var value = Self.value(digits)
        pointer += 8
        let last = min(end, pointer + 7)
        while pointer < last {
            let digit = pointer.pointee &- 0x30
            guard digit < 10 else { break }
            value = value &* 10 &+ UInt64(digit)
            pointer += 1
        }
        return value
    }

    /// Returns the value of eight digits, one per byte, with the first in the lowest byte. It
    /// combines them into pairs, fours and eights in parallel (after Johnny Lee and Daniel Lemire).
    @inline(__always)
    private static func value(_ digits: UInt64) -> UInt64 {
        let pairs = (digits &* 10) &+ (digits >> 8)
        let low = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return (low &+ high) >> 32
    }

    /// Passes a string without escapes and without bytes to check, from after its first quote to
    /// after its last.
    @inline(__always)
    mutating func passText() -> Header.Text? {
        guard pointer < end else { return nil }
        let first = pointer
        passPlain()
        guard pointer < end, pointer.pointee == UInt8(ascii: "\"") else { return nil }
        let text = Header.Text(start: first, count: pointer - first)
        pointer += 1
        return text
    }
}

/// A fast path for the headers of calls, as the broker writes them: no white space, these members
/// in this order, no escapes. Every byte is checked, as in the full scan. A header that differs in
/// any way goes to the full scan.
///
///     {"kind":"call","id":7,"to":"Test/act","from":"Menu","deadline":2000,"credit":16}
extension HeaderScanner {
    /// Scans a header that a client received. `ReadBuffer.slack` bytes after it must be readable.
    @inline(__always)
    package func scanFromBroker(_ bytes: UnsafeRawBufferPointer, into header: inout Header) throws(HeaderError) {
        if scanCall(bytes, into: &header) { return }
        try scan(bytes, into: &header)
    }

    /// Reads such a header of a call. Returns false if it is different; the contents of `header`
    /// are then meaningless.
    @inline(__always)
    func scanCall(_ bytes: UnsafeRawBufferPointer, into header: inout Header) -> Bool {
        guard bytes.count >= 16 else { return false }
        var cursor = JSONCursor(bytes, hasSlack: true)
        guard cursor.pass(Plain.kind), cursor.pass(Plain.call), cursor.pass(Plain.callID, 4),
            let id = cursor.passPlainNumber(), cursor.pass(Plain.to, 7), let to = cursor.passText(),
            cursor.pass(Plain.from), cursor.pass(Plain.quote, 1), let from = cursor.passText(),
            cursor.pass(Plain.deadline), cursor.pass(Plain.deadlineEnd, 4), let deadline = cursor.passPlainNumber(),
            cursor.pass(Plain.credit), cursor.pass(Plain.creditEnd, 2), let credit = cursor.passPlainNumber(),
            cursor.take(UInt8(ascii: "}")), cursor.isAtEnd
        else { return false }
        header = Header()
        header.kind = .call
        header.id = id
        header.to = to
        header.from = from
        header.deadline = Int64(deadline)
        header.credit = credit
        header.isPlain = false
        header.members = [.kind, .id, .to, .from, .deadline, .credit]
        return true
    }
}
