internal import StrataCore
internal import StrataLoop

/// A module's connection to the bus: it is made, says hello, and is made again when
/// it is lost, for as long as `Reconnection` says. What hello says, and what comes
/// then, is its owner's affair.
@ModuleActor
final class BusConnection {
    /// What a new connection begins with.
    struct Greeting {
        /// Hello's body, and what follows of it with `bus/register` where it doesn't
        /// fit into one frame.
        var parts: [JSON]
        /// Gets each part with the broker's answer to it.
        var answered: (_ part: JSON, _ answer: JSON) -> Void
        /// The connection can be used.
        var opened: () -> Void
    }

    /// Why there will be no connection any more.
    enum End {
        case shuttingDown
        /// With what a person is told.
        case failed(String)
    }

    /// The refusals and farewells after which another try may succeed.
    private static let passing: Set<ErrorCode> = [.slowConsumer, .overloaded, .nameTaken]

    /// The codes that, without id, end a connection; any other is a remark on
    /// a frame that wanted no answer.
    private static let ending: Set<ErrorCode> = [
        .badFrame, .badHeader, .tooLarge, .notRegistered, .badVersion, .slowConsumer, .shuttingDown, .failed,
        .overloaded,
    ]

    /// Called for each new connection, before hello; sets what gets its calls and notices.
    var greet: (Session) -> Greeting = { _ in Greeting(parts: [], answered: { _, _ in }, opened: {}) }
    /// It was lost. Returns whether it is to be made again.
    var onLost: () -> Bool = { true }
    /// No other will come.
    var onEnd: (End) -> Void = { _ in }

    /// The connection that is open and has said hello.
    @exclusivity(unchecked)  // because each request passes it, on one thread
    private(set) var session: Session?
    /// What hello was answered with last.
    private(set) var welcome = JSON.null
    private let socket: String
    /// The connection that waits for hello's answer.
    private var connecting: Session?
    /// Nil where it isn't to be made again.
    private var reconnection: Reconnection? = Reconnection()
    private var alarm: (any Alarm)?
    private let gate: ConnectionGate
    private let surroundings: any Surroundings

    init(socket: String, _ surroundings: any Surroundings) {
        self.socket = socket
        self.surroundings = surroundings
        gate = ConnectionGate(surroundings)
    }

    /// Whether there is one, or one whose hello is on its way.
    var isThere: Bool { session != nil || connecting != nil }

    /// The connection, once there is one.
    func session(for outgoing: borrowing Outgoing) async throws -> Session {
        while true {
            if let lease = outgoing.lease { try lease.check(for: outgoing.what) }
            if let session { return session }
            try await gate.wait(for: outgoing.what, deadline: outgoing.deadline) { session != nil }
        }
    }

    /// Connects, and says hello.
    func connect() {
        let channel: FrameChannel
        do {
            channel = try surroundings.connect(to: socket, limits: SessionLimits().ofFrames)
        } catch {
            // At first there must be a bus; later it may be starting again.
            if welcome == .null, reconnection?.isTrying == false {
                onEnd(.failed("can't reach the bus: \(error): is the app up?"))
            } else {
                reconnect("can't reach the bus: \(error)")
            }
            return
        }
        let session = Session(channel)
        connecting = session
        session.onFarewell = { [unowned self] error in self.farewell(error) }
        session.onEnd = { [unowned self] ending in self.lost(ending) }
        let greeting = greet(session)
        say(greeting.parts[...], of: greeting, on: session)
    }

    /// Ends a connection that can't go on, and makes another.
    func lose(_ session: Session) {
        session.close()
        lost(Session.Ending(reason: .closed, farewell: nil))
    }

    /// One that is lost isn't made again.
    func stopReconnecting() {
        reconnection = nil
        alarm?.close()
        alarm = nil
    }

    /// Ends it; requests that wait for it fail.
    func close() {
        stopReconnecting()
        gate.close(.notConnected("a request"))
        connecting?.close()
        connecting = nil
        session?.close()
        session = nil
    }

    // MARK: Hello

    /// Says hello, or what follows of it; after the last part the connection can be used.
    private func say(_ parts: ArraySlice<JSON>, of greeting: Greeting, on session: Session) {
        guard let part = parts.first else { return opened(session, greeting) }
        let isHello = parts.startIndex == greeting.parts.startIndex
        do {
            _ = try part.encoded().withUnsafeBytes { body throws(BusError) in
                try session.request(
                    .call(isHello ? "bus/hello" : "bus/register"), body, scope: nil,
                    .callback { [unowned self] answer in
                        switch answer {
                        case .failure(let error):
                            // The connection's own end comes to `lost`.
                            if error.code != .died { farewell(error) }
                        case .success(let body):
                            let told = (try? JSON(parsing: body)) ?? [:]
                            if isHello { greeted(told, session) }
                            greeting.answered(part, told)
                            say(parts.dropFirst(), of: greeting, on: session)
                        }
                    })
            }
        } catch {
            onEnd(.failed("can't say hello: \(error)"))
        }
    }

    private func greeted(_ hello: JSON, _ session: Session) {
        welcome = hello
        session.greeted(SessionLimits(hello["limits"]))
    }

    private func opened(_ session: Session, _ greeting: Greeting) {
        reconnection?.succeeded()
        connecting = nil
        self.session = session
        gate.open()
        greeting.opened()
    }

    // MARK: Its end

    /// The broker refuses hello, says that it ends the connection, or remarks
    /// on something that this module sent.
    private func farewell(_ error: BusError) {
        if session != nil, !Self.ending.contains(error.code) {
            ModuleLog.logger.error("the bus refused what this module sent: \(error)")
            return
        }
        let what = session == nil ? "refused this module" : "ended this module's connection"
        switch error.code {
        case .shuttingDown: onEnd(.shuttingDown)
        case let code where Self.passing.contains(code):
            guard let connecting else {
                ModuleLog.logger.warning("the bus \(what), and it connects again: \(error)")
                return
            }
            connecting.close()
            self.connecting = nil
            reconnect("the bus \(what): \(error)")
        default: onEnd(.failed("the bus \(what): \(error)"))
        }
    }

    private func lost(_ ending: Session.Ending) {
        session = nil
        connecting = nil
        guard onLost() else { return }
        reconnect("lost the bus: \(ending.farewell?.description ?? ending.reason.description)")
    }

    private func reconnect(_ reason: String) {
        guard reconnection != nil else { return }
        guard let delay = reconnection?.next(now: surroundings.now) else {
            return onEnd(.failed("\(reason), and tried to come back for \(Reconnection.patience / 1000) s"))
        }
        alarm?.close()
        alarm = surroundings.after(delay) { [weak self] in self?.connect() }
    }
}

/// When to connect again: after 10 ms, twice as long each time up to 1 s, and
/// for 30 s in all since the connection was lost.
struct Reconnection {
    static let first: UInt64 = 10
    static let longest: UInt64 = 1_000
    static let patience: UInt64 = 30_000

    private var lostAt: UInt64?
    private var delay = first

    init() {}

    /// Whether the connection is lost.
    var isTrying: Bool { lostAt != nil }

    /// Milliseconds until the next try; nil where it has been long enough.
    mutating func next(now: UInt64) -> UInt64? {
        let since = lostAt ?? now
        lostAt = since
        guard now < since + Self.patience else { return nil }
        defer { delay = min(delay * 2, Self.longest) }
        return delay
    }

    /// Hello was answered.
    mutating func succeeded() { self = Reconnection() }
}
