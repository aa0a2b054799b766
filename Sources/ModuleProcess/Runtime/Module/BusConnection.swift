internal import StrataCore
internal import StrataLoop

/// A module's connection to the bus. It connects, says hello, and connects again after a loss, for
/// as long as `Reconnection` allows. Its owner decides what hello contains and handles what arrives
/// later.
@ModuleActor
final class BusConnection {
    /// The messages that begin a new connection.
    struct Greeting {
        /// Hello's body, and what doesn't fit into one frame as bodies of `bus/register`.
        var parts: [JSON]
        /// Returns why a broker that answers hello so can't serve this module; nil if it can.
        var refusal: (_ answer: JSON) -> BusError?
        /// Called with each part and the broker's answer to it.
        var answered: (_ part: JSON, _ answer: JSON) -> Void
        /// Called when the connection is ready for use.
        var opened: () -> Void
    }

    /// The reason why there will be no further connection.
    enum End {
        case shuttingDown
        /// The message is for people.
        case failed(String)
    }

    /// The refusals and farewells after which another attempt may succeed.
    private static let passing: Set<ErrorCode> = [.slowConsumer, .overloaded, .nameTaken]

    /// The codes of errors without an id that end a connection. An error with another code is a
    /// remark on a frame that expected no answer.
    private static let ending: Set<ErrorCode> = [
        .badFrame, .badHeader, .tooLarge, .notRegistered, .badVersion, .slowConsumer, .shuttingDown, .failed,
        .overloaded, .incompatible,
    ]

    /// Called for each new connection, before hello; sets the handlers of its calls and notices.
    var greet: (Session) -> Greeting = { _ in
        Greeting(parts: [], refusal: { _ in nil }, answered: { _, _ in }, opened: {})
    }
    /// Called when the connection is lost. Returns whether to connect again.
    var onLost: () -> Bool = { true }
    /// Called when there will be no further connection.
    var onEnd: (End) -> Void = { _ in }

    /// The open connection, once its hello is answered.
    @exclusivity(unchecked)  // because each request passes it, on one thread
    private(set) var session: Session?
    /// The broker's last answer to hello.
    private(set) var welcome = JSON.null
    private let socket: String
    /// The connection that awaits the answer to hello.
    private var connecting: Session?
    /// Nil if a lost connection is not to be made again.
    private var reconnection: Reconnection? = Reconnection()
    private var alarm: (any Alarm)?
    private let gate: ConnectionGate
    private let surroundings: any Surroundings

    init(socket: String, _ surroundings: any Surroundings) {
        self.socket = socket
        self.surroundings = surroundings
        gate = ConnectionGate(surroundings)
    }

    /// Whether there is a connection, or one that awaits the answer to hello.
    var isThere: Bool { session != nil || connecting != nil }

    /// Returns the connection, and waits for one if there is none.
    func session(for outgoing: borrowing Outgoing) async throws -> Session {
        while true {
            if let lease = outgoing.$extras?.lease { try lease.check(for: outgoing.what) }
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
            // At the start the bus must be up; later it may be restarting.
            if welcome == .null, reconnection?.isTrying == false {
                onEnd(.failed("can't reach the bus: \(error): is the app running?"))
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

    /// Ends a connection that can't continue, and connects again.
    func lose(_ session: Session) {
        session.close()
        lost(Session.Ending(reason: .closed, farewell: nil))
    }

    /// Stops connecting again after a loss.
    func stopReconnecting() {
        reconnection = nil
        alarm?.close()
        alarm = nil
    }

    /// Ends the connection; requests that wait for one fail.
    func close() {
        stopReconnecting()
        gate.close(.notConnected("a request"))
        connecting?.close()
        connecting = nil
        session?.close()
        session = nil
    }

    // MARK: Hello

    /// Sends hello and then the remaining parts. After the last part the connection is ready for
    /// use.
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
                            // `lost` handles the end of the connection itself.
                            if error.code != .died { farewell(error) }
                        case .success(let body):
                            let told = (try? JSON(parsing: body)) ?? [:]
                            if isHello {
                                greeted(told, session)
                                if let refusal = greeting.refusal(told) { return onEnd(.failed("\(refusal)")) }
                            }
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

    // MARK: The end

    /// Handles an error without an id. The broker refuses hello, announces the end of the
    /// connection, or remarks on a frame that this module sent.
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
            return onEnd(.failed("\(reason), and could not reconnect within \(Reconnection.patience / 1000) s"))
        }
        alarm?.close()
        alarm = surroundings.after(delay) { [weak self] in self?.connect() }
    }
}

/// The schedule for connecting again: the first delay is 10 ms, doubling up to 1 s. It gives up 30
/// s after the connection was lost.
struct Reconnection {
    static let first: UInt64 = 10
    static let longest: UInt64 = 1_000
    static let patience: UInt64 = 30_000

    private var lostAt: UInt64?
    private var delay = first

    init() {}

    /// Whether the connection is lost.
    var isTrying: Bool { lostAt != nil }

    /// Returns the milliseconds until the next attempt; nil if the time is up.
    mutating func next(now: UInt64) -> UInt64? {
        let since = lostAt ?? now
        lostAt = since
        guard now < since + Self.patience else { return nil }
        defer { delay = min(delay * 2, Self.longest) }
        return delay
    }

    /// Resets the schedule, because hello was answered.
    mutating func succeeded() { self = Reconnection() }
}
