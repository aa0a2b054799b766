/// The headers of calls, as the broker writes them: no white space, these
/// members in this order, nothing to unescape. Every byte is judged, as in the
/// full scan; a header that differs in anything is left to that.
///
///     {"kind":"call","id":7,"to":"Test/act","from":"Menu","deadline":2000,"credit":16}
extension HeaderScanner {
    /// Scans a header that a client got. `ReadBuffer.slack` bytes behind it must
    /// be readable.
    @inline(__always)
    package func scanFromBroker(_ bytes: UnsafeRawBufferPointer, into header: inout Header) throws(HeaderError) {
        if scanCall(bytes, into: &header) { return }
        try scan(bytes, into: &header)
    }

    /// False where it is no such header, and then what was written into `header`
    /// says nothing.
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
