internal import StrataCore

/// A request of this side that has no final answer yet.
struct OpenRequest {
    /// What an answer goes to.
    enum Receiver {
        case once(UnsafeContinuation<[UInt8], any Error>)
        /// Called as the answer is read, before any frame behind it.
        case callback((Result<[UInt8], BusError>) -> Void)
        case stream(ReplyBuffer)
        /// Nobody waits any more; the id is still the broker's.
        case nobody
    }

    var receiver: Receiver
    /// Where its frame ends in the connection's outgoing bytes.
    var position: UInt64
    /// What was asked, for messages.
    var what: String
}
