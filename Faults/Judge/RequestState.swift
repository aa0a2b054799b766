/// What the logs say of one request.
struct RequestState {
    /// 0 where it was never sent.
    var sentAt: UInt64 = 0
    var kind: UInt8 = 0
    /// The index of its callee's role and 1, or 0.
    var callee: UInt32 = 0
    /// The request it was made for, or 0.
    var parent: UInt64 = 0
    var answeredAt: UInt64 = 0
    var answers: UInt8 = 0
    var code: UInt8 = 0
    var ran: UInt8 = 0
    var starts: UInt8 = 0
    var ends: UInt8 = 0
    /// The caller left, or its session ended.
    var isOut = false
    var hasWrongReply = false
    var extra: UInt32 = 0

    var isOpen: Bool { sentAt > 0 && answers == 0 && !isOut && !hasWrongReply }
}
