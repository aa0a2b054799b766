import StrataBus
import StrataCore

/// What peers do and send.
extension NodeSimulation {
    // MARK: Connections

    /// Connects a module of a row, if the node has no such one.
    func connect(_ step: NodeStep) {
        let row = step.a % app.rows.count
        let places = app.rows[row].nodes
        let node = nodes[places[step.a / app.rows.count % places.count]]
        let names = app.rows[row].modules
        let name = names[step.a / app.rows.count % names.count]
        guard !node.peers.contains(where: { $0.name == name && !$0.pipe.isClosedByBroker }) else { return }
        let observed = app.rows.indices.filter { $0 != row && step.b >> $0 & 1 == 1 }
            .map { (row: $0, byPattern: step.c >> $0 & 1 == 1) }
        connect(.row(row), name, to: node, observing: observed)
    }

    func connect(
        _ role: JoinedPeer.Role, _ name: String, to node: JoinedNode, observing observed: [(row: Int, byPattern: Bool)]
    ) {
        let pid = node.newProcess()
        let connection = node.connect(pid)
        var rank = 0
        let hello: String
        switch role {
        case .row(let row):
            rank = app.rows[row].rank
            let all = [#"{"name":"\#(JoinedApp.reported)"}"#] + observed.map { observes($0.row, $0.byPattern) }
            hello =
                #"{"protocol":1,"module":"\#(name)","interfaces":{"\#(app.rows[row].interface)":{}},"#
                + #""observes":[\#(all.joined(separator: ","))]}"#
        case .operator, .launcher: hello = #"{"protocol":1,"role":"\#(name)"}"#
        }
        if role != .launcher { connection.pipe.capacity = [300, 8 << 10, 208 << 10][numbers.below(3)] }
        let peer = JoinedPeer(
            referee.peers.count, role, name, rank: rank, on: node, pid: pid, observed: observed, connection)
        referee.peers.append(peer)
        node.peers.append(peer)
        tell("# \(peer.label) connects to \(node.name)")
        send(peer, #"{"kind":"call","id":1,"to":"bus/hello"}"#, hello)
    }

    /// Notes the end of a peer's connection. Its requests need no answer any more.
    func end(_ peer: JoinedPeer) {
        peer.pipe.close()
        peer.open = [:]
    }

    // MARK: Steps

    func act(_ step: NodeStep) {
        let node = nodes[step.a % nodes.count]
        let usable = node.peers.filter { $0.isUsable && $0.isWelcome && $0.role != .launcher }
        guard !usable.isEmpty else { return }
        let peer = usable[step.a / nodes.count % usable.count]
        switch step.kind {
        case .close:
            guard peer.row != nil else { return }
            tell("# \(peer.label)'s process ends")
            node.processes.end(peer.pid)
            end(peer)
            node.peers.removeAll { $0 === peer }
        case .call, .open, .report: request(step, peer)
        case .broadcast: broadcast(peer, isLong: step.b & 7 == 0)
        case .observe: observe(step, peer)
        case .unobserve: unobserve(step, peer)
        case .cancel:
            guard let (id, number) = pick(peer.open, step.b) else { return }
            referee.requests[number].isCancelled = true
            send(peer, #"{"kind":"cancel","id":\#(id)}"#)
        case .credit:
            guard let (id, number) = pick(peer.open, step.b) else { return }
            let credit = 1 + step.c % 3
            referee.requests[number].credit += credit
            send(peer, #"{"kind":"credit","id":\#(id),"credit":\#(credit)}"#)
        case .reply, .fail, .partial: answer(step, anyOf: node)
        default: break
        }
    }

    /// Picks one of the open requests. Sorts them first, because a dictionary's order differs on each run.
    private func pick(_ open: [UInt64: Int], _ choice: Int) -> (UInt64, Int)? {
        let all = open.sorted { $0.key < $1.key }
        return all.isEmpty ? nil : all[choice % all.count]
    }

    // MARK: Requests

    private func request(_ step: NodeStep, _ peer: JoinedPeer) {
        let row = step.a >> 10 == 0 ? app.replicated : step.b % app.rows.count
        let target = app.rows[row]
        guard peer.row != row || target.nodes.count > 1 else { return }
        let isOperator = peer.role == .operator
        let named = target.nodes[step.b / app.rows.count % target.nodes.count]
        let isLocal = target.nodes.contains(peer.node)
        // Whether it names a node: in its target, or if an operator makes it in a member of its own.
        let how = step.c % 4
        let mark = how == 0 && step.kind != .open ? "@\(app.nodes[named].name)" : ""
        let isFor = how == 1 && isOperator
        guard peer.row != row || !mark.isEmpty else { return }
        let places = !mark.isEmpty || isFor ? [named] : isLocal ? [peer.node] : target.nodes
        // A replica can be named, but not with its node too.
        let replica = target.hasReplicas && how == 2 && step.kind != .open ? 1 + step.b >> 10 & 1 : 0
        let one = mark.isEmpty && replica > 0 ? "~\(replica)" : mark
        let number = referee.requests.count
        var header = #"{"kind":"\#(step.kind)","id":\#(peer.nextID)"#
        switch step.kind {
        case .open: header += #","url":"sim://\#(target.host)/x/\#(number)""#
        case .report: header += #","to":"\#(target.name)\#(one)","name":"\#(JoinedApp.reported)""#
        default: header += #","to":"\#(target.interface)\#(one)/a""#
        }
        // Other rows get keys too, which mean nothing to them.
        let key = max(0, (step.b >> 7 & 3) - 1)
        if key > 0 { header += #","key":"k\#(key)""# }
        if isFor { header += #","node":"\#(app.nodes[named].name)""# }
        var deadline: UInt64? = 30_000
        var credit = 16
        switch step.c >> 2 & 7 {
        case 0:
            (deadline, credit) = (nil, step.c >> 5 & 3)
            header += #","deadline":0,"credit":\#(credit)"#
        case 1, 2:
            deadline = UInt64(1 + (step.c >> 5) * 20)
            header += #","deadline":\#(deadline ?? 0)"#
        case 3:
            credit = step.c >> 5 & 3
            header += #","credit":\#(credit)"#
        default: break
        }
        let id = peer.nextID
        peer.nextID += 1
        peer.open[id] = number
        referee.requests.append(
            JoinedRequest(
                number: number, kind: "\(step.kind)", caller: peer.number, id: id, row: row, nodes: places,
                replica: replica, key: replica > 0 ? 0 : key,
                refusal: refusal(step.kind, peer, row, places), sent: (referee.look, now, referee.nextPlace()),
                deadline: deadline, credit: credit))
        send(
            peer, header + "}",
            step.kind == .open ? "" : #"{"n":\#(number)\#(step.b & 15 == 0 ? Self.filler : "")}"#)
    }

    /// Made once, because it is long.
    private static let filler = #","p":"\#(String(repeating: "x", count: 1_200))""#

    /// Returns the code with which a request must be refused; nil if it may run.
    private func refusal(_ kind: NodeStep.Kind, _ peer: JoinedPeer, _ row: Int, _ places: [Int]) -> String? {
        guard peer.row != nil else {
            return !places.contains(peer.node) && !app.nodes[peer.node].operates ? "forbidden" : nil
        }
        let isAllowed =
            kind == .report
            ? LevelRule.reportMayGo(from: peer.rank, to: app.rows[row].rank) : app.mayCall(from: peer.rank, to: row)
        // Opens go in all directions.
        return isAllowed || peer.row == row || kind == .open ? nil : "level-violation"
    }

    // MARK: Broadcasts

    func broadcast(_ peer: JoinedPeer, isLong: Bool) {
        guard let row = peer.row else { return }
        let number = referee.broadcasts.count
        referee.broadcasts.append(
            JoinedBroadcast(number: number, sender: peer.number, node: peer.node, row: row, sent: referee.nextPlace()))
        send(
            peer,
            #"{"kind":"broadcast","name":"\#(app.rows[row].broadcast)"\#(app.rows[row].retains ? #","retain":true"# : "")}"#,
            #"{"n":\#(number)\#(isLong ? Self.filler : "")}"#)
        peer.broadcasts.append((peer.bytesSent, number))
    }

    private func observe(_ step: NodeStep, _ peer: JoinedPeer) {
        let row = step.b % app.rows.count
        let isAsked = peer.asked.values.contains { if case .observe(row, _) = $0 { true } else { false } }
        guard peer.row != nil, peer.row != row, !isAsked, !peer.observations.contains(where: { $0.row == row }) else {
            return
        }
        let byPattern = step.c & 1 == 1
        ask(peer, .observe(row, byPattern: byPattern), "observe", observes(row, byPattern))
    }

    /// Returns the members of an observation of a row's broadcasts.
    private func observes(_ row: Int, _ byPattern: Bool) -> String {
        byPattern ? #"{"pattern":"\#(app.rows[row].pattern)"}"# : #"{"name":"\#(app.rows[row].broadcast)"}"#
    }

    private func unobserve(_ step: NodeStep, _ peer: JoinedPeer) {
        guard !peer.observations.isEmpty else { return }
        let place = step.b % peer.observations.count
        guard !peer.observations[place].isEnding else { return }
        peer.observations[place].isEnding = true
        let number = peer.observations[place].number
        ask(peer, .unobserve(number), "unobserve", #"{"subscription":\#(number)}"#)
    }

    func ask(_ peer: JoinedPeer, _ what: JoinedPeer.Ask, _ action: String, _ body: String) {
        peer.asked[peer.nextID] = what
        send(peer, #"{"kind":"call","id":\#(peer.nextID),"to":"bus/\#(action)"}"#, body)
        peer.nextID += 1
    }

    /// All modules broadcast once, so that all observers learn what they have missed.
    func broadcastAll() {
        for node in nodes { for peer in node.peers where peer.isUsable { broadcast(peer, isLong: false) } }
    }

    // MARK: Sending

    func send(_ peer: JoinedPeer, _ header: String, _ body: String = "") {
        tell("\(peer.label) > \(header)\(body.prefix(160))")
        let bytes = FrameBytes.frame(Array(header.utf8), body: Array(body.utf8))
        peer.pipe.send(bytes)
        peer.bytesSent += UInt64(bytes.count)
    }
}
