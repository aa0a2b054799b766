internal import Glibc

/// One event in a process's log: 32 bytes that mean the same in each process of
/// the run, which all run the same build.
public struct Record: Sendable, Equatable {
    /// What happened. The numbers are the log's own; 0 is a record that isn't
    /// there, or that its process was killed in the midst of.
    public enum Event: UInt8, Sendable {
        /// A session with the bus has begun, of which the process knows.
        case session = 1
        case setUp
        /// Its start is done.
        case ready
        /// Its orderly end has begun.
        case tearDown
        /// A request is about to be sent: `kind`, `number`, in `detail` the
        /// request it is made for, or 0, in `extra` the index of its callee's role
        /// and 1, or 0.
        case sent
        /// Its final answer: `code`, `ran`; in `extra` a report's observers.
        case answered
        /// Its reply was another's, or not whole.
        case wrongReply
        /// The process itself gave up on it, so that no answer reaches it.
        case gaveUp
        /// A second final answer came.
        case answeredAgain
        /// A handler has begun, or is done: `number`.
        case started, ended
        /// A broadcast is about to be sent: `kind` is the role's index, `number`
        /// the sender's session, `detail` the sequence number in it.
        case published
        /// That broadcast was refused by the own runtime; its number comes again.
        case refused
        /// A notice has come: `kind` is the name's index, `ran` is 1 where the
        /// observation keeps `latest`, `extra` is `missed`, `number` the
        /// publisher's process and session, `detail` the sequence number.
        case noticed
        /// The broker has answered a ping behind all that this process sent, in
        /// the session that it is in.
        case flushed
        /// All that the broker had for this process at the time `detail` has come
        /// (0: nobody knows); `number` requests are without an answer.
        case drained
        /// A peer without runtime has ended its own session; in `extra` how.
        case closed
        /// Harm was done: `kind` is which, `extra` a process's id, `number` the
        /// milliseconds that it took, `detail` what came of it.
        case fault
    }

    /// Nanoseconds of the machine's monotonic clock.
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

    public static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
