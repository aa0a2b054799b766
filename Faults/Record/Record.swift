internal import Glibc

/// One event in a process's log: 32 bytes. All processes of a run are from the same build, so
/// they read them alike.
public struct Record: Sendable, Equatable {
    /// What happened. The numbers are the log's own. 0 stands for no record, or for one during
    /// which its process was killed.
    public enum Event: UInt8, Sendable {
        /// A session with the bus has begun, and the process knows of it.
        case session = 1
        case setUp
        /// The start is finished.
        case ready
        /// The orderly end has begun.
        case tearDown
        /// A request is about to be sent: `kind` and `number`. `detail` is the request that it is
        /// made for, or 0. `extra` is the index of its callee's role plus 1, or 0. `code` is the number of
        /// its key, or 0.
        case sent
        /// The final answer of a request: `code` and `ran`. `extra` is the number of a report's
        /// observers.
        case answered
        /// The reply was that of another request, or not complete.
        case wrongReply
        /// The process itself gave up on a request, so no answer reaches it.
        case gaveUp
        /// A second final answer arrived.
        case answeredAgain
        /// A handler has begun, or has ended: `number` is the request.
        case started, ended
        /// A broadcast is about to be sent: `kind` is the role's index, `number` the sender's
        /// session, `detail` the sequence number in it.
        case published
        /// The process's own runtime refused that broadcast. Its number is used again.
        case refused
        /// A notice has arrived: `kind` is the name's index, and `ran` has the `NoticeTraits`.
        /// `extra` is `missed`, `number` the publisher's process and session,
        /// `detail` the sequence number.
        case noticed
        /// The broker has answered a ping that came after everything that this process sent in
        /// its current session.
        case flushed
        /// Everything that the broker had for this process at the time `detail` has arrived (0 if
        /// that is unknown). `number` requests are without an answer.
        case drained
        /// A peer without the runtime has lost or ended its session. `extra` is 1 for a loss,
        /// else 0.
        case closed
        /// A fault was done: `kind` is which, and `code` the node that it hit. `extra` is a process
        /// id, `number` the milliseconds that it took, `detail` its result.
        case fault
        /// The bus has emitted that the node `kind` was lost, or is connected.
        case nodeLost, nodeBack
    }

    /// The time by the machine's monotonic clock, in nanoseconds.
    public var time: UInt64
    public var eventNumber: UInt8
    public var kind: UInt8
    public var code: UInt8
    public var ran: UInt8
    public var extra: UInt32
    public var number: UInt64
    public var detail: UInt64

    public init(
        _ event: Event, kind: UInt8 = 0, code: UInt8 = 0, ran: UInt8 = 0, extra: UInt32 = 0, number: UInt64 = 0,
        detail: UInt64 = 0, time: UInt64 = Record.now
    ) {
        self.time = time
        eventNumber = event.rawValue
        self.kind = kind
        self.code = code
        self.ran = ran
        self.extra = extra
        self.number = number
        self.detail = detail
    }

    public var event: Event? { Event(rawValue: eventNumber) }
    /// The traits of a notice.
    public var traits: NoticeTraits { NoticeTraits(rawValue: ran) }

    public static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
