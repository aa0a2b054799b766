/// The headers of nearly all frames, as clients write them: no white space,
/// these members in this order, nothing to unescape. Every byte is judged, as
/// in the full scan; a header that differs in anything is left to that.
///
///     {"kind":"call","id":7,"to":"Test/act"}   also with deadline, credit, or both
///     {"kind":"reply","id":7}
///     {"kind":"broadcast","name":"feed.full"}
extension HeaderScanner {
    /// Reads a plain header into an empty one; false where it isn't one, and
    /// then what was written into `header` says nothing.
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

/// Pieces of headers as they nearly always are, up to eight bytes each, as words.
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
