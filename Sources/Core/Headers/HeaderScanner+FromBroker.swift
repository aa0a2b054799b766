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
