import StrataBus
import StrataCore

/// A simulation of a bus, its peers, the bytes between them and the time. A seed chooses all of
/// it.
///
/// The bus is the broker's own, without its sockets. Peers call, answer, broadcast, report,
/// stall, lie and crash. Bytes arrive in chunks of any size, time jumps, and the broker may be
/// replaced between any two events. After each event a referee judges by docs/protocol.md what
/// has arrived.
///
/// Modelled on the simulations of FoundationDB and TigerBeetle.
package final class BusSimulation {
    /// The number of steps that a seed gets by default.
    package static let defaultSteps = 400

    let app: SimulatedApp
    let broker: MemoryBroker
    let referee: Referee
    private let steps: [SimulationStep]
    private let peers: [SimulatedSession.Role]
    /// The current session of each peer.
    private(set) var current: [SimulatedSession?]
    private let capacities: [Int]
    /// Whether the run ends with an orderly shutdown; else all peers close.
    private let shutsDown: Bool
    private let scanner = HeaderScanner()
    private var nextAnswer = 1
    private var live: [SimulatedSession] = []
    private var byNumber: [UInt64: SimulatedSession] = [:]
    /// The number of connections to other apps that have an other end.
    private var linked = 0
    /// Receives the story, line by line; nil if no story is wanted.
    private let teller: ((String) -> Void)?

    /// The number of events that the broker has handled.
    package var events: UInt64 { broker.events }

    init(seed: Int, steps: [SimulationStep], telling teller: ((String) -> Void)? = nil) {
        var numbers = SeededGenerator(seed)
        app = SimulatedApp(&numbers)
        peers = Self.peers(app)
        // A short queue fills up only if the pipe behind it is small.
        let most = app.table.limits.queue == 1 << 10 ? 3 : 5
        capacities = peers.map { _ in [64, 700, 8 << 10, 208 << 10, 208 << 10][numbers.below(most)] }
        broker = MemoryBroker(app.table, MemoryProcesses(), user: SimulatedApp.user)
        broker.isShared = numbers.chance(1, in: 2)
        shutsDown = numbers.chance(1, in: 2)
        referee = Referee(app)
        current = Array(repeating: nil, count: peers.count)
        self.steps = steps
        self.teller = teller
        referee.isInForce = { [unowned self] in broker.table == $0 }
        broker.onHandled = { [unowned self] in noteHandled($0, frames: $1) }
        broker.reaches = { [unowned self] in referee.isReached($0, at: broker.time) }
        var turns = numbers
        broker.endsTurn = { turns.chance(1, in: 4) }
    }

    private static func peers(_ app: SimulatedApp) -> [SimulatedSession.Role] {
        app.modules.indices.map { .module($0) } + [.operator, .guest("G0"), .guest("G1"), .operator]
            + [app.hasLauncher ? .launcher : .operator] + [.module(0), .app("shop")]
            + app.others.indices.map { .link($0) }
    }

    /// The app of a seed, with steps that the caller has chosen.
    /// - Parameter choices: six bytes for each step.
    package convenience init(seed: Int, choices: [UInt8]) {
        let steps = stride(from: 0, to: choices.count, by: 6).map { SimulationStep(choices[$0...].prefix(6)) }
        self.init(seed: seed, steps: Self.firstSteps(seed: seed) + steps)
    }

    /// Returns the steps of a seed.
    static func steps(seed: Int, count: Int) -> [SimulationStep] {
        var numbers = SeededGenerator(seed &+ 1 << 40)
        let mix = SimulationStep.Mix(&numbers)
        return firstSteps(seed: seed) + (0..<count).map { _ in mix.next(&numbers) }
    }

    /// Returns the steps that connect all peers, the launcher before most modules, and spawn
    /// every row.
    private static func firstSteps(seed: Int) -> [SimulationStep] {
        var numbers = SeededGenerator(seed)
        let app = SimulatedApp(&numbers)
        let connects = peers(app).indices.reversed().map { SimulationStep(kind: .connect, peer: $0, a: $0, b: 0) }
        let spawns = app.modules.indices.map { SimulationStep(kind: .spawn, peer: 0, a: $0, b: 0) }
        return connects + spawns
    }

    /// Takes all steps, then lets everything come to its end.
    /// - Returns: the first rule that was broken; nil if there is none.
    package func run() -> BrokenRule<SimulationRule>? {
        for step in steps {
            take(step)
            if referee.finding != nil { return referee.finding }
        }
        finish()
        return referee.finding
    }

    func tell(_ line: @autoclosure () -> String) {
        if let teller { teller(line()) }
    }

    /// Formats a frame as docs/protocol.md shows one. Cuts a long body short.
    private static func line(_ header: [UInt8], _ body: [UInt8]) -> String {
        let shown = String(decoding: body.prefix(160), as: UTF8.self)
        return String(decoding: header, as: UTF8.self) + shown + (body.count > 160 ? "… (\(body.count) bytes)" : "")
    }

    // MARK: Steps

    private func take(_ step: SimulationStep) {
        switch step.kind {
        case .deliver: deliver(step)
        case .writeOn: if let connection = connection(step.a) { broker.writeOn(connection) }
        case .idle: broker.advanceIdleWork()
        case .endRound: broker.endRound()
        case .wait: wait(step)
        case .replace: replace()
        case .read: readOne(step.a)
        case .connect: connect(step.peer % peers.count, step.a)
        case .spawn: spawn(step.a % app.modules.count)
        case .kill: kill(step.a % app.modules.count, step.b)
        case .retire: retire(step.a % app.modules.count)
        default:
            guard let session = usable(step.peer) else { return }
            act(step, session)
        }
        look()
    }

    /// Lets one peer with unread frames read.
    private func readOne(_ choice: Int) {
        let waiting = live.filter { $0.isUsable && !$0.isStalled && !$0.inbox.isEmpty }
        if !waiting.isEmpty { read(waiting[choice % waiting.count]) }
    }

    /// Returns the session of a peer, or else of the next peer that has one.
    private func usable(_ peer: Int) -> SimulatedSession? {
        for place in 0..<current.count {
            if let session = current[(peer + place) % current.count], session.isUsable { return session }
        }
        return nil
    }

    private func connection(_ choice: Int) -> MemoryConnection? {
        broker.connections.isEmpty ? nil : broker.connections[choice % broker.connections.count]
    }

    private func deliver(_ step: SimulationStep) {
        // Prefer a connection with unread bytes.
        let waiting = broker.connections.filter { $0.pipe.unread > 0 }
        guard let connection = waiting.isEmpty ? connection(step.a) : waiting[step.a % waiting.count] else { return }
        let most = step.b & 3 > 0 ? .max : 1 + (step.b >> 2) % 200
        broker.takeTurn(connection, most: most)
    }

    private func wait(_ step: SimulationStep) {
        let jump = UInt64([1, 1, 5, 5, 20, 20, 100, 1_000][step.a % 8] * (1 + step.b % 9)) * 1_000_000
        let target =
            switch step.a >> 6 & 7 {
            case 0: broker.due
            case 1, 2: referee.nextExpiry.map { $0 * 1_000_000 }
            default: broker.time + jump
            }
        pass(to: max(target ?? broker.time, broker.time))
    }

    private func pass(to target: UInt64) {
        tell("# \((max(target, broker.time) - broker.time) / 1_000_000) ms pass")
        broker.pass(to: target)
        var rounds = 0
        while let due = broker.due, due <= broker.time, rounds < 1_000 {
            broker.pass(to: broker.time)
            rounds += 1
        }
        referee.expect(rounds < 1_000, .work, "the bus always has something due")
        while broker.advanceIdleWork() {}
        broker.endRound()
        look()
        referee.checkDeadlines { $0.connection?.hasUnwritten == false }
    }

    private func replace() {
        tell("# the broker is replaced")
        do { try broker.replace() } catch {
            return referee.expect(false, .replacement, "the broker can't continue: \(error)")
        }
        for connection in broker.connections { byNumber[connection.number]?.connection = connection }
    }

    // MARK: What has happened

    private func noteHandled(_ connection: MemoryConnection, frames: Int) {
        guard let session = byNumber[connection.number] else { return }
        referee.time = broker.time
        session.connection = connection
        var count = 0
        if connection.isServed {
            count = session.sent.firstIndex { $0.end > connection.bytesHandled } ?? session.sent.count
        } else {
            count = min(frames, session.sent.count)
        }
        let handled = session.sent.prefix(count)
        session.sent.removeFirst(count)
        for sent in handled { referee.handled(sent.meaning, of: session) }
        if session.life.joinedAt == .max, connection.hasSession { referee.joined(session) }
    }

    /// Takes in what has arrived, and notices which sessions have ended.
    private func look() {
        referee.time = broker.time
        meetLinks()
        var answers: [(SimulatedFrame, SimulatedSession)] = []
        var areGone = false
        for session in live {
            if session.life.joinedAt == .max, session.connection?.hasSession == true { referee.joined(session) }
            if !session.pipe.isClosed { take(session, &answers) }
            guard session.connection?.isServed == false else { continue }
            if session.life.endedAt == .max { end(session) }
            if session.pipe.isClosedByBroker { areGone = true }
        }
        for (frame, session) in answers { referee.arrived(frame, at: session) }
        referee.checkVersions()
        if areGone { drop() }
    }

    private func take(_ session: SimulatedSession, _ answers: inout [(SimulatedFrame, SimulatedSession)]) {
        let fresh = session.pipe.written - Int(session.bytesSeen)
        guard fresh > 0 else { return }
        session.bytesSeen += UInt64(fresh)
        let frames: [SimulatedFrame]
        do { frames = try session.input.append(session.pipe.arrived.suffix(fresh), scanner) } catch {
            return referee.expect(false, .form, "\(session.name) received something that can't be read: \(error)")
        }
        for frame in frames {
            tell("\(session.label) < " + Self.line(frame.header, frame.body))
            session.inbox.append(frame)
            let isAnswer = frame.kind == .reply || frame.kind == .error
            if isAnswer, let number = session.open[frame.id], !referee.requests[number].isBusCall {
                answers.append((frame, session))
            } else {
                referee.arrived(frame, at: session)
            }
        }
    }

    /// Ends a session. Its open requests need no answer any more.
    private func end(_ session: SimulatedSession) {
        referee.ended(session)
        if session.isLink { referee.linkEnded(session) }
        let open = Set(session.open.values)
        for number in open {
            referee.requests[number].state = .ended
            referee.linkUsed(by: number)
        }
        referee.open.removeAll { open.contains($0) }
    }

    /// Releases closed connections, which stay alive as long as something refers to them.
    private func drop() {
        for session in live where session.pipe.isClosedByBroker { session.connection = nil }
        live.removeAll { $0.connection == nil }
    }

    // MARK: Peers

    private func connect(_ place: Int, _ choice: Int) {
        if let session = current[place], session.isUsable { return }
        // The bus connects to other apps, while they are up.
        if case .link(let other) = peers[place] { return referee.links.isUp[other] = choice % 8 > 0 }
        let pid = Int32(100 + place)
        if case .module(let row) = peers[place], app.modules[row].row.start != .manual { return }
        broker.processes.start(pid)
        connect(place, pid, token: nil, choice)
    }

    /// Connects a peer from a process.
    func connect(_ place: Int, _ pid: Int32, token: String?, _ choice: Int) {
        guard broker.isListening else { return }
        let connection = broker.connect(
            PeerCredentials(pid: pid, uid: SimulatedApp.user, gid: SimulatedApp.user, seenAt: 0))
        connection.pipe.capacity = capacities[place]
        let role = peers[place]
        let (name, rank, observed): (String, Int, [SimulatedApp.Observed])
        switch role {
        case .module(let row):
            (name, rank, observed) = (app.modules[row].row.name, app.modules[row].row.rank, app.modules[row].observed)
        case .guest(let guest):
            (name, rank, observed) = (guest, app.table.guests?.rank ?? 0, [SimulatedApp.observed(choice)])
        case .operator: (name, rank, observed) = ("operator", 0, [])
        case .launcher: (name, rank, observed) = ("launcher", 0, [])
        case .app(let app): (name, rank, observed) = ("app:\(app)", 0, [])
        case .link(let other): (name, rank, observed) = (app.others[other].text, 0, [])
        }
        let session = SimulatedSession(
            referee.sessions.count, role, name, rank: rank, connection, pid: pid, token: token, observed: observed,
            versions: SimulatedVersions(referee.sessions.count, in: app))
        take(session, at: place, connection)
        send(session, #"{"kind":"call","id":1,"to":"bus/hello"}"#, hello(session), .hello)
        look()
    }

    private func take(_ session: SimulatedSession, at place: Int, _ connection: MemoryConnection) {
        referee.sessions.append(session)
        current[place] = session
        byNumber[connection.number] = session
        live.append(session)
        tell("# \(session.label) connects")
    }

    /// Plays the other ends of the connections that the bus has made since the last look.
    private func meetLinks() {
        for (app, number, _) in broker.linked.dropFirst(linked) {
            linked += 1
            // Because the bus connects to the table's apps alone.
            let other = self.app.others.firstIndex(of: app)!
            guard let connection = broker.connections.first(where: { $0.number == number }) else {
                referee.hadTrouble(other)
                continue
            }
            let place = peers.firstIndex(of: .link(other))!
            connection.pipe.capacity = capacities[place]
            let session = SimulatedSession(
                referee.sessions.count, .link(other), app.text, rank: 0, connection, pid: 0, token: nil, observed: [],
                versions: SimulatedVersions(0, in: self.app))
            session.link.madeAt = referee.now
            take(session, at: place, connection)
            referee.linkMade(session)
        }
    }

    private func hello(_ session: SimulatedSession) -> String {
        let observes = session.observed.map(\.json).joined(separator: ",")
        switch session.role {
        case .operator: return #"{"protocol":1,"role":"operator"}"#
        case .launcher: return #"{"protocol":1,"role":"launcher"}"#
        case .link: return ""  // because the bus says hello to it
        case .app(let name): return #"{"protocol":1,"role":"app","app":"\#(name)"}"#
        case .guest(let name):
            return #"{"protocol":1,"module":"\#(name)","observes":[\#(observes)],"#
                + #""requires":[\#(session.versions.requires)]}"#
        case .module(let place):
            let module = app.modules[place]
            let token = session.token.map { #","token":"\#($0)""# } ?? ""
            let instances = module.instances.map { #","\#($0)":{"instances":"multiple"}"# } ?? ""
            return #"{"protocol":1,"module":"\#(module.row.name)"\#(token),"interfaces":{"\#(module.interface)":"#
                + #"{\#(session.versions.provides)"actions":{"a":{},"b":{"auth":true},"c":{},"authorize":{}}}\#(instances)},"#
                + #""observes":[\#(observes)],"requires":[\#(session.versions.requires)],"#
                + #""events":["e0"],"retiring":\#(place % 2 == 0)}"#
        }
    }

    /// Sends a frame, and records what it means.
    func send(_ session: SimulatedSession, _ header: String, _ body: String, _ meaning: SimulatedSession.Meaning) {
        tell("\(session.label) > " + Self.line(Array(header.utf8), Array(body.utf8)))
        send(session, bytes: FrameBytes.frame(Array(header.utf8), body: Array(body.utf8)), meaning)
    }

    func send(_ session: SimulatedSession, bytes: [UInt8], _ meaning: SimulatedSession.Meaning) {
        guard session.isUsable else { return }
        session.pipe.send(bytes)
        session.bytesSent += UInt64(bytes.count)
        session.sent.append(.init(end: session.bytesSent, meaning: meaning))
    }

    func newAnswer() -> Int {
        defer { nextAnswer += 1 }
        return nextAnswer
    }

    // MARK: The end

    private func finish() {
        tell("# all peers read what arrives, and send nothing more")
        for session in live {
            session.isStalled = false
            session.pipe.capacity = 64 << 20
        }
        goOn()
        guard referee.finding == nil else { return }
        referee.settled()
        guard referee.finding == nil else { return }
        if shutsDown {
            tell("# the app ends")
            broker.shutDown()
            look()
        } else {
            tell("# all peers close")
            for session in live { session.pipe.close() }
        }
        goOn()
        let leftovers = broker.leftovers.map { "\($0.count) \($0.name)" }
        referee.expect(leftovers.isEmpty, .nothingLeft, "the bus still has \(leftovers.joined(separator: ", "))")
        referee.expect(!shutsDown || broker.hasEnded, .shutDown, "the app began to end, and has not ended")
    }

    /// Lets the next 100 s pass, with everything that happens in them. All finite deadlines are
    /// earlier.
    private func goOn() {
        let end = broker.time + 100_000_000_000
        while referee.finding == nil {
            settle()
            guard let due = broker.due, due < end else { break }
            pass(to: due)
        }
    }

    /// Lets everything happen that can happen now.
    private func settle() {
        var rounds = 0
        var hasWorked = true
        while hasWorked, referee.finding == nil {
            hasWorked = false
            for session in live where session.isUsable { read(session) }
            for connection in broker.connections {
                if broker.writeOn(connection) { hasWorked = true }
                if broker.takeTurn(connection) { hasWorked = true }
            }
            if broker.advanceIdleWork() { hasWorked = true }
            if broker.endRound() { hasWorked = true }
            look()
            rounds += 1
            if rounds > 10_000 { return referee.expect(false, .work, "the bus never finishes its work") }
        }
    }
}

extension SimulatedSession {
    /// The session's name in the story.
    var label: String { "\(name)\(number)" }
}
