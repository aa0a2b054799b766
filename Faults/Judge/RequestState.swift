/// The logs' records about one request, brought together.
struct RequestState {
    /// The time at which it was sent; 0 if it was never sent.
    var sentAt: UInt64 = 0
    var kind: UInt8 = 0
    /// The index of its callee's role plus 1; 0 if it has no callee.
    var callee: UInt32 = 0
    /// The number of its key; 0 for none.
    var key: UInt8 = 0
    /// The process that began to handle it, and the time; 0 if none did.
    var handler: UInt32 = 0
    var startedAt: UInt64 = 0
    /// The request that it was made for; 0 for none.
    var parent: UInt64 = 0
    var answeredAt: UInt64 = 0
    var answers: UInt8 = 0
    var code: UInt8 = 0
    var ran: UInt8 = 0
    var starts: UInt8 = 0
    var ends: UInt8 = 0
    /// Whether the caller gave up, or its session ended.
    var isOut = false
    var hasWrongReply = false
    var extra: UInt32 = 0

    var isOpen: Bool { sentAt > 0 && answers == 0 && !isOut && !hasWrongReply }
}
