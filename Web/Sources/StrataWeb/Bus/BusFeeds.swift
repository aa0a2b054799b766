import StrataOperator
import StrataPictures

/// What the page shows of the bus, kept up to date for all tabs at once: one stream of states, one of
/// traffic, one of sampled frames, and the figures twice a second.
///
/// The feeds rest while nobody looks, so that an idle server costs the broker nothing.
final class BusFeeds {
    /// How often the figures are asked for, in milliseconds.
    private static let interval: UInt64 = 500
    /// After this many intervals without a tab the feeds rest.
    private static let restAfter = 10
    /// Missing streams are asked for again each time that this many intervals have passed.
    private static let retryAfter = 10
    /// The most frames a second that the bus shows.
    private static let mostFrames: Int64 = 200

    private unowned let session: BusSession
    private var timer: LoopTimer?
    private var isRunning = false
    private var idleTurns = 0
    private var turns = 0
    private let streams: BusStreams
    private var before: BusSnapshot?
    private var isLooking = false
    /// The calls that were made for the figures since the last look.
    private var ownCalls: Int64 = 0
    private var processors = ProcessorTimes()
    private var traffic = TrafficBook()
    /// When the bus began to count, in microseconds since 1970.
    private var countedSince: Int64?
    private var calls = SeenCalls()
    private var rows: [String: ModuleRow] = [:]
    private var picture = PictureSource()
    private var nodes: [NodeRow] = []
    private var reason: String?

    init(_ session: BusSession) {
        self.session = session
        streams = BusStreams(session.client)
        timer = LoopTimer(session.loop) { [unowned self] in turn() }
        streams.add("bus/watch") { [unowned self] in stateChanged($0) }
        streams.add("bus/traffic") { [unowned self] in counted($0) }
        let frames: JSON = ["most": .integer(Self.mostFrames), "bodies": .bool(session.options.bodies)]
        streams.add("bus/monitor", frames) { [unowned self] in seen($0) }
    }

    private var feed: LiveFeed { session.feed }
    private var client: BusClient { session.client }
    private var levels: [String] { client.welcome?.levels ?? [] }
    private var app: String { client.welcome?.app ?? "" }

    // MARK: The connection

    func connected() {
        reason = nil
        if feed.hasReaders { start() }
        tellApp()
    }

    func disconnected(_ reason: String) {
        self.reason = reason
        stop(cancelling: false)
        tellApp()
    }

    func readerCame() {
        idleTurns = 0
        if !isRunning, session.absence == nil { start() }
    }

    private func start() {
        isRunning = true
        (idleTurns, before, calls) = (0, nil, SeenCalls())
        countedSince = nil
        streams.begin()
        session.loop.updateTime()
        timer?.start(after: 0, every: Self.interval)
    }

    /// - Parameter cancelling: whether there is a connection over which the streams must be ended.
    private func stop(cancelling: Bool) {
        guard isRunning else { return }
        isRunning = false
        timer?.stop()
        streams.end(cancelling: cancelling)
    }

    // MARK: What comes

    private func stateChanged(_ change: JSON) {
        guard let name = change["module"]?.string, let row = rows[name] else { return }
        // The row has the rest within half a second.
        let fields = change.object ?? []
        let kept = (row.json.object ?? []).filter { member in
            member.name != "reason" && !fields.contains { $0.name == member.name }
        }
        let changed = JSON.object(kept + fields.filter { $0.name != "module" })
        guard let row = [ModuleRow](["modules": [changed]]).first else { return }
        rows[name] = row
        tell(row)
    }

    private func counted(_ change: JSON) {
        // A broker that was replaced counts anew.
        if change["since"]?.integer != countedSince {
            countedSince = change["since"]?.integer
            traffic = TrafficBook()
            feed.change { $0.forgetEdges() }
        }
        let edges = (change["edges"]?.array ?? []).map(TrafficEdge.init)
        var isNew = false
        for edge in edges {
            traffic.add(edge)
            if picture.saw(edge) { isNew = true }
        }
        feed.change { [traffic] state in
            for edge in edges { state.setEdge(edge.key, traffic.json(edge.key)) }
        }
        if isNew { tellApp() }
    }

    private func seen(_ json: JSON) {
        let frame = SeenFrame(json, &calls)
        let leftOut = UInt64(clamping: frame.missed) + Self.leftOut(json)
        guard !frame.kind.isEmpty else {
            feed.change { $0.leaveOut(leftOut) }
            return
        }
        guard !Self.isHousekeeping(frame) else {
            if leftOut > 0 { feed.change { $0.leaveOut(leftOut) } }
            return
        }
        var members = (json.object ?? []).filter { $0.name != "missed" && $0.name != "left" }
        if !frame.action.isEmpty, frame.kind != "call" { members.append(.init("action", .string(frame.action))) }
        if let took = frame.took { members.append(.init("took", .integer(took))) }
        feed.change { [members] in $0.add(frame: members, leftOut: leftOut) }
    }

    /// Returns how many frames a partial reply says that the bus has left out: before this one, or for some
    /// edges.
    private static func leftOut(_ json: JSON) -> UInt64 {
        let counts = json["left"]?.array?.compactMap { $0["count"]?.integer } ?? [json["left"]?.integer ?? 0]
        return UInt64(clamping: counts.reduce(0, +))
    }

    /// Whether a frame is a tool's, the launcher's or the link's own talk with the bus, this server's included. It would
    /// fill the tape of an app that rests.
    private static func isHousekeeping(_ frame: SeenFrame) -> Bool {
        let tools = ["operator", "launcher", "link"]
        return tools.contains(frame.from) && frame.receiver == "bus" || frame.from == "bus" && tools.contains(frame.to)
            || frame.from == "launcher" && frame.to == "operator"
            || frame.from == "operator" && frame.receiver == "launcher"
    }

    // MARK: Figures

    private func turn() {
        idleTurns = feed.hasReaders ? 0 : idleTurns + 1
        guard idleTurns < Self.restAfter else { return stop(cancelling: true) }
        turns += 1
        if turns % Self.retryAfter == 0 { streams.begin() }
        let changed = traffic.measure(at: Loop.nanoseconds)
        feed.change { [traffic] state in
            for key in changed { state.setEdge(key, traffic.json(key)) }
        }
        guard !isLooking else { return }
        isLooking = true
        ownCalls += 2
        client.look { [unowned self] answer in
            isLooking = false
            if case .success(let snapshot) = answer, isRunning { looked(snapshot) }
        }
        if client.welcome?.features.contains("node") == true {
            ownCalls += 1
            session.ask("bus/nodes") { [unowned self] answer in
                if let answer = try? answer.get() { nodes = [NodeRow](answer) }
            }
        }
        if picture.wantsInterfaces() {
            ownCalls += 1
            session.ask("bus/interfaces") { [unowned self] answer in
                guard let answer = try? answer.get() else { return }
                let rows = [InterfaceRow](answer)
                if picture.interfaces(rows, manifest: session.options.manifest, levels: levels, app: app) { tellApp() }
            }
        }
    }

    private func looked(_ snapshot: BusSnapshot) {
        rows = Dictionary(snapshot.modules.map { ($0.name, $0) }) { $1 }
        processors.read(snapshot.modules.compactMap(\.pid) + [snapshot.stats.pid].compactMap(\.self))
        for row in snapshot.modules { tell(row) }
        let totals = Totals(
            snapshot, since: before, own: ownCalls, brokerProcessor: snapshot.stats.pid.flatMap { processors[$0] }
        )
        .json
        let names = Set(rows.keys)
        feed.change { state in
            state.keepModules(names)
            state.setTotals(totals)
        }
        (before, ownCalls) = (snapshot, 0)
        _ = picture.modules(snapshot.modules, levels: levels, app: app)
        tellApp()
    }

    private func tell(_ row: ModuleRow) {
        let json = ModuleFacts(row, levels: levels, processor: row.pid.flatMap { processors[$0] }).json
        feed.change { $0.setModule(row.name, json) }
    }

    private func tellApp() {
        let facts = AppFacts(
            welcome: client.welcome, reason: reason, problem: streams.problem, nodes: nodes, picture: picture.version,
            options: session.options)
        feed.change { $0.setApp(facts.json) }
    }

    // MARK: For the routes

    /// The graph that the picture shows.
    var graph: AppGraph { picture.graph }
}
