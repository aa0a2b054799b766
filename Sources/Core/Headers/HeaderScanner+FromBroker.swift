/// The headers of calls, as the broker writes them: no white space, these
/// members in this order, nothing to unescape. Every byte is judged, as in the
/// full scan; a header that differs in anything is left to that.
///
///     {"kind":"call","id":7,"to":"Test/act","from":"Menu","deadline":2000,"credit":16}
extension HeaderScanner {
    /// Scans a header that a client got. `ReadBuffer.slack` bytes behind it must
    /// be readable.
    @inline(__always)
    func scanFromBroker(_ bytes: UnsafeRawBufferPointer, into header: inout Header) throws(HeaderError) {
        if scanCall(bytes, into: &header) { return }
        try scan(bytes, into: &header)
    }

    /// False where it is no such header, and then what was written into `header`
    /// says nothing.
    @inline(__always)
    func scanCall(_ bytes: UnsafeRawBufferPointer, into header: inout Header) -> Bool {
        guard bytes.count >= 16, let base = bytes.baseAddress else { return false }
        var cursor = JSONCursor(base: base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        guard cursor.pass(Piece.kind), cursor.pass(Piece.call), cursor.pass(Piece.id, 4),
            let id = cursor.passNumber(), cursor.pass(Piece.to, 7), let to = cursor.passText(),
            cursor.pass(Piece.from), cursor.pass(Piece.quote, 1), let from = cursor.passText(),
            cursor.pass(Piece.deadline), cursor.pass(Piece.deadlineEnd, 4), let deadline = cursor.passNumber(),
            cursor.pass(Piece.credit), cursor.pass(Piece.creditEnd, 2), let credit = cursor.passNumber(),
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

/// Pieces of such headers, up to eight bytes each, as words.
private enum Piece {
    /// `{"kind":`
    static let kind = 0x3a22_646e_696b_227b as UInt64
    /// `"call","`
    static let call = 0x222c_226c_6c61_6322 as UInt64
    /// `id":`
    static let id = 0x3a22_6469 as UInt64
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
}

extension JSONCursor {
    /// Passes a word's first `count` bytes, where they come next. Bytes behind
    /// the end may be read, and then the end is not where the cursor stands at
    /// last.
    @inline(__always)
    fileprivate mutating func pass(_ word: UInt64, _ count: Int = 8) -> Bool {
        guard pointer < end else { return false }
        let next = UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self).littleEndian
        let mask = count == 8 ? UInt64.max : (1 << UInt64(count * 8)) - 1
        guard next & mask == word else { return false }
        pointer += count
        return true
    }

    /// Passes a number of 1 to 15 digits that doesn't begin with 0, or 0.
    @inline(__always)
    fileprivate mutating func passNumber() -> UInt64? {
        let last = min(end, pointer + 15)
        let first = pointer
        var value: UInt64 = 0
        while pointer < last {
            let digit = pointer.pointee &- 0x30
            guard digit < 10 else { break }
            value = value &* 10 &+ UInt64(digit)
            pointer += 1
        }
        let count = pointer - first
        return count == 1 || (count > 1 && first.pointee != 0x30) ? value : nil
    }

    /// Passes a string without anything to unescape or to check, from behind its
    /// first quote to behind its last.
    @inline(__always)
    fileprivate mutating func passText() -> Header.Text? {
        guard pointer < end else { return nil }
        let first = pointer
        passPlain()
        guard pointer < end, pointer.pointee == UInt8(ascii: "\"") else { return nil }
        let text = Header.Text(start: first, count: pointer - first)
        pointer += 1
        return text
    }
}
