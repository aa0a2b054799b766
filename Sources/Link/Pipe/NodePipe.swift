/// A stream of bytes each way between the brokers of two nodes, over a carrier that loses, doubles
/// and reorders messages.
///
/// It is a state machine without I/O: events go in, and `next` says what to do. Its only clock is
/// `now`, in nanoseconds, which never goes back. It owns the handshake, the windows, the signs of
/// life and the verdict on a lost session. It leaves the carrier, the broker's connection and the
/// timer to its driver.
///
/// The driver reports each event, and then calls `next` until that returns nil. Then it writes what
/// waits for the broker (`withWaiting`, `brokerTook`), reads from the broker at most `room` bytes,
/// and sets its timer to `deadline`.
public struct NodePipe: ~Copyable {
    public let settings: PipeSettings
    public private(set) var figures = PipeFigures()
    /// The state of the other node, for people.
    public internal(set) var state: NodeState
    /// The stage of the session.
    public internal(set) var life = PipeLife.idle
    /// The number of the session, or of the last one.
    public internal(set) var session: UInt64 = 0
    /// The round trip to the other link and back, smoothed, in nanoseconds; 0 before the first.
    public private(set) var roundTrip: UInt64 = 0
    /// The last round trip of the session, as measured; 0 before the first.
    private(set) var lastRoundTrip: UInt64 = 0

    /// The streams of the session; after its end what is left of them.
    var sending: SendingHalf
    var receiving: ReceivingHalf
    /// Whether the carrier is connected, and may be trusted.
    var carrierIsUp = false
    var carrierHasRoom = true
    /// The most bytes that a piece carries.
    var largestPayload = PieceHeader.largestPayload
    var isShutDown = false

    // What is to be done.
    var closeDue: NodeLoss?
    var openIsDue = false
    var byeDue: (session: UInt64, code: ByeCode)?
    var welcomeIsDue = false
    /// The number of the question to answer.
    var answerDue: UInt16?
    var resendIsDue = false
    var nextHelloAt: UInt64 = 0
    var signDueAt: UInt64 = 0
    var acknowledgementDueAt: UInt64?

    // What is known of the other link.
    var known = KnownLink()
    /// The hello to accept once the broker's connection is closed.
    var awaitedHello: ControlMessage.Greeting?
    /// The session to propose next.
    var nextSession: UInt64
    var heardAt: UInt64 = 0
    var beganAt: UInt64 = 0
    var penalty = Penalty()
    private var probe: (number: UInt16, askedAt: UInt64, isOpen: Bool) = (0, 0, false)
    /// When an unknown session was last called over.
    private var saidUnknownAt: UInt64?

    public init(_ settings: PipeSettings, at now: UInt64) {
        self.settings = settings
        state = NodeState(word: .never, since: now, why: "it has not joined since this node's link was started")
        nextSession = settings.firstSession
        sending = SendingHalf(window: settings.window)
        receiving = ReceivingHalf(window: settings.window)
    }

    /// How many bytes may be read from the broker now, so that they fit into the window.
    public var room: Int { life == .up ? sending.room : 0 }
    /// How many bytes wait for the broker.
    public var waiting: Int { receiving.waiting }
    /// How many published bytes the other link is not known to have.
    public var unacknowledged: Int { Int(sending.sent - sending.received) }
    /// How many bytes of the session were ever published.
    public var sent: UInt64 { sending.sent }
    /// The memory for the streams, in bytes: at most the window, each way.
    public var memory: Int { sending.memory + receiving.memory }

    /// Lends the bytes that wait for the broker, as one buffer or as two.
    public func withWaiting<Result>(_ use: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result) -> Result {
        receiving.withBytes(use)
    }

    /// Writes a piece that `next` has just returned: the header, then the bytes.
    /// - Parameter memory: `PieceHeader.size + count` bytes.
    public func writePiece(_ header: PieceHeader, count: Int, to memory: UnsafeMutableRawPointer) {
        header.write(to: memory)
        sending.copy(from: header.offset, count: count, to: memory + PieceHeader.size)
    }

    /// Begins the session that both links have agreed on, with the smaller of their windows.
    mutating func begin(_ number: UInt64, otherWindow: Int, at now: UInt64) {
        life.take(.accepted)
        session = number
        let window = min(settings.window, otherWindow)
        sending = SendingHalf(window: window)
        receiving = ReceivingHalf(window: window)
        openIsDue = true
        welcomeIsDue = false
        answerDue = nil
        resendIsDue = false
        acknowledgementDueAt = nil
        probe.isOpen = false
        lastRoundTrip = 0
        heardAt = now
        beganAt = now
        figures.sessions += 1
    }

    /// Ends a session whose broker connection is still there.
    mutating func end(_ ending: SessionEnding, at now: UInt64) {
        life.take(.ended)
        closeDue = NodeLoss(sent: sending.sent, ending: ending)
        openIsDue = false
        sessionIsOver(ending, at: now)
    }

    /// Notes the end of a session, which the other link is told unless it knows.
    mutating func sessionIsOver(_ ending: SessionEnding, at now: UInt64) {
        if let code = ending.code { byeDue = (session, code) }
        welcomeIsDue = false
        // This link proposes a session once; the numbers of another one are the other link's affair.
        if settings.saysHello { nextSession = session + 1 }
        state = NodeState(word: .lost, since: now, why: "\(ending)")
    }

    /// Says that a session is over which the other link still uses, at most once a second.
    mutating func sayUnknown(_ session: UInt64, at now: UInt64) {
        if let last = saidUnknownAt, now - last < PipeTimes.second { return }
        saidUnknownAt = now
        byeDue = (session, .unknownSession)
    }

    // MARK: - Figures

    mutating func count(_ figure: WritableKeyPath<PipeFigures, UInt64>, _ number: Int = 1) {
        figures[keyPath: figure] += UInt64(number)
    }

    /// Whether a question may be asked: the last one was answered, or its answer seems to be lost. An
    /// answer may take long over a slow carrier, and each question replaces the last one.
    func mayAsk(at now: UInt64) -> Bool {
        !probe.isOpen || life != .up || now - probe.askedAt >= PipeTimes.longestAnswer
    }

    /// Makes the number of a question that is asked now.
    mutating func ask(at now: UInt64) -> UInt16 {
        probe = (probe.number == .max ? 1 : probe.number + 1, now, true)
        return probe.number
    }

    /// Measures the round trip by an answer. An answer to anything but the last question is ignored.
    mutating func answered(_ number: UInt16, at now: UInt64) {
        guard probe.isOpen, number == probe.number else { return }
        probe.isOpen = false
        let sample = max(now - probe.askedAt, 1)
        lastRoundTrip = sample
        roundTrip = roundTrip == 0 ? sample : (roundTrip * 7 + sample) / 8
    }

    /// How long to wait for progress before bytes are published again.
    var resendWait: UInt64 { max(PipeTimes.shortestResend, 4 * roundTrip) }
}
