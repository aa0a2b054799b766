internal import StrataCore
public import StrataLoop
internal import StrataPipe

/// The link of a node: one connection to NATS, one to the broker, and one more to the broker for each other node that
/// is up. It carries bytes, and knows nothing of frames.
///
/// Everything happens on one loop's thread. What a round brings is acted on at its end.
public final class Link {
    /// Why the link has ended.
    public enum Ending: Equatable, Sendable {
        /// It was told to.
        case shutDown
        /// The broker refused it, or is gone.
        case broker(String)
        /// NATS refuses the node's key, or never answers.
        case refused(String)
        /// The server doesn't guard the nodes' names.
        case unguarded
        /// Another machine has this node's name.
        case nameTaken
    }

    /// Called with lines for people.
    public var say: (String) -> Void = { _ in }
    /// Called once, when nothing is left to do.
    public var onEnd: (Ending) -> Void = { _ in }

    let configuration: LinkConfiguration
    let loop: Loop
    /// Space for one piece, or for one read.
    let scratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PieceHeader.size + PieceHeader.largestPayload, alignment: 16)

    private let random: () -> UInt64
    private(set) var nodes: [NodeLink] = []
    private(set) var carrier: NATSConnection!  // because it reports to self
    private(set) var control: BrokerControl?
    private var fence: Fence
    private let claims: NATSSubject
    private let probes: NATSSubject
    /// When the broker is told what this link knows.
    var reports: ViewReports
    private var hook: RoundHook?
    private var timer: LoopTimer?
    private var timerDue: UInt64 = .max
    /// Whether people were told that NATS can't be reached.
    private var isFailing = false
    private(set) var ending: Ending?
    private var isOver = false

    /// How long an orderly end may take, in nanoseconds.
    private static let longestEnd = PipeTimes.second
    private var endsBy: UInt64?

    /// Makes a link, which begins with `start`.
    /// - Throws: a `LinkError` if the key or the certificates can't be used, or a `SystemError`.
    public init(
        _ loop: Loop, _ configuration: LinkConfiguration, random: @escaping () -> UInt64 = { .random(in: 1 ... .max) }
    ) throws {
        self.loop = loop
        self.configuration = configuration
        self.random = random
        let (app, me) = (configuration.app, configuration.node)
        let number = random() | 1
        reports = ViewReports(count: configuration.others.count)
        fence = Fence(link: number, isNeeded: !configuration.isUnguarded)
        claims = NATSSubject(app: app, to: me, from: me, .control)
        probes = NATSSubject(app: app, to: me, from: configuration.others[0], .control)
        let key = try configuration.key.map { path throws(LinkError) in try KeyFile.read(path) }
        // This node's own name is last: what others sent is read before the echo that ends the test of the fence.
        let subjects = (configuration.others + [me]).map { NATSSubject.all(app: app, to: me, from: $0) }
        carrier = try NATSConnection(loop, configuration, key: key, subjects: subjects, handler: self)
        let window = PipeSettings.window(configuration.window & ~1_023, nodes: configuration.others.count + 1)
        nodes = configuration.others.map { other in
            NodeLink(
                other, of: self,
                PipeSettings(
                    me: me, other: other, link: number, firstSession: random() >> 2 | 1, window: window,
                    lost: configuration.lost * PipeTimes.millisecond))
        }
    }

    deinit { scratch.deallocate() }

    /// Connects to the broker, and then to NATS.
    /// - Throws: a `SystemError` if there is no broker.
    public func start() throws {
        hook = RoundHook(loop) { [unowned self] in self.roundEnded() }
        timer = LoopTimer(loop) { [unowned self] in self.timePassed() }
        let control = try BrokerControl(loop, path: configuration.socket, token: configuration.token)
        self.control = control
        control.onAccepted = { [unowned self] in
            self.connect()
        }
        control.onEnd = { [unowned self] why in
            self.control = nil
            self.end(.broker(why))
        }
    }

    private func connect() {
        guard ending == nil else { return }
        do { try carrier.connect() } catch { end(.refused("\(error)")) }
    }

    /// Ends all sessions in order, which other nodes are told; `onEnd` follows.
    public func shutDown() { end(.shutDown) }

    /// The state of another node, for people; nil if there is none of that name.
    public func state(of node: String) -> String? {
        nodes.first { $0.name == node }.map { $0.pipe.state.word.rawValue }
    }

    /// How many bytes libnats holds for the server.
    var buffered: Int { Int(carrier.buffered) }

    /// How many bytes of another node wait for the broker.
    func waiting(of node: String) -> Int? { nodes.first { $0.name == node }?.pipe.waiting }

    /// What is counted for another node: sessions, bytes sent again.
    func figures(of node: String) -> PipeFigures? { nodes.first { $0.name == node }?.pipe.figures }

    // MARK: - For the nodes

    var carrierHasRoom: Bool { carrier.hasRoom }

    func publish(_ subject: NATSSubject, reply: NATSSubject, _ bytes: UnsafeRawBufferPointer) {
        carrier.publish(subject, reply: reply, bytes)
    }

    func report(_ loss: NodeLoss, of node: String, onReported: @escaping () -> Void) {
        guard let control else { return }
        let details = carrier.isUp ? "; NATS: \(carrier.server) is connected" : "; NATS isn't connected"
        control.report(loss, of: node, Printable.line(details), onReported: onReported)
    }

    // MARK: - The end of a round

    private func roundEnded() {
        guard !isOver else { return }
        performFence()
        for node in nodes { node.act() }
        carrier.flush()
        reportViews()
        control?.flush()
        if let ending, isDone {
            finish(ending)
            return
        }
        setTimer()
    }

    private func timePassed() {
        timerDue = .max
        fence.timePassed(at: Loop.nanoseconds)
        for node in nodes { node.timePassed() }
        for node in nodes { node.carrierMayHaveRoom() }
    }

    /// Sets the timer to the earliest deadline. A timer that fires early does no harm.
    private func setTimer() {
        var due = min(fence.deadline ?? .max, endsBy ?? .max)
        if let control, control.takesViews { due = min(due, reports.deadline ?? .max) }
        for node in nodes { due = min(due, node.pipe.deadline ?? .max) }
        guard due < timerDue else { return }
        timerDue = due
        let now = Loop.nanoseconds
        loop.updateTime()
        timer?.start(after: due > now ? (due - now) / PipeTimes.millisecond + 1 : 1)
    }

    private func performFence() {
        while carrier.isUp, let action = fence.next(at: Loop.nanoseconds) {
            switch action {
            case .publishProbe(let message): publish(message, probes)
            case .publishClaim(let message): publish(message, claims)
            case .open:
                say("NATS is connected: \(carrier.server)")
                for node in nodes { node.carrierConnected(largestMessage: carrier.largestMessage) }
            case .refuse(.unguarded): end(.unguarded)
            case .refuse(.nameTaken): end(.nameTaken)
            }
        }
    }

    private func publish(_ message: ControlMessage, _ subject: NATSSubject) {
        message.encoded().withUnsafeBytes { carrier.publish(subject, reply: nil, $0) }
    }

    // MARK: - The end

    private func end(_ ending: Ending) {
        guard self.ending == nil else { return }
        self.ending = ending
        if let refusal = ending.refusal { control?.report(views: ["refused": refusal]) }
        endsBy = Loop.nanoseconds + Self.longestEnd
        for node in nodes { node.shutDown() }
        // So that a round follows even where nothing else happens.
        timerDue = 0
        timer?.start(after: 0)
    }

    /// Whether the others were told, and the broker knows.
    private var isDone: Bool {
        if let endsBy, Loop.nanoseconds >= endsBy { return true }
        return (control == nil || nodes.allSatisfy { $0.pipe.isOver }) && carrier.buffered == 0
    }

    private func finish(_ ending: Ending) {
        isOver = true
        hook?.close()
        timer?.close()
        for node in nodes { node.close() }
        control?.close()
        carrier.close()
        let ended = onEnd
        onEnd = { _ in }
        ended(ending)
    }
}

extension Link: NATSConnection.Handler {
    func natsConnected() {
        isFailing = false
        fence.carrierConnected(nonce: random() | 1, at: Loop.nanoseconds)
    }

    func natsDisconnected() {
        let wasOpen = fence.isOpen
        fence.carrierDisconnected()
        guard wasOpen else { return }
        say("NATS is disconnected")
        for node in nodes { node.carrierDisconnected() }
    }

    func natsFailed(_ why: String) {
        if !isFailing {
            let servers = configuration.servers.map(\.url).joined(separator: ", ")
            say("NATS can't be reached at \(servers): \(why); the link tries on")
        }
        isFailing = true
    }

    func natsGaveUp(_ why: String) { end(.refused(why)) }

    func natsReceived(_ index: Int, isPiece: Bool, _ bytes: UnsafeRawBufferPointer) {
        if index == nodes.count || !fence.isOpen {
            // What comes before the fence is tried is not trusted.
            guard !isPiece, let message = try? ControlMessage(reading: bytes) else { return }
            fence.received(message, inOwnName: index == nodes.count, at: Loop.nanoseconds)
        } else {
            nodes[index].received(isPiece: isPiece, bytes)
        }
    }

    func natsNoResponders(_ index: Int) {
        if index < nodes.count, fence.isOpen { nodes[index].noResponders() }
    }
}
