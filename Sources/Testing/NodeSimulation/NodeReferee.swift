import StrataCore

/// Judges what the peers of joined brokers receive, by docs/nodes.md.
///
/// It knows what was sent, and what peers have read. Of the brokers it asks for two things only:
/// whether they see each other as up, and which modules are ready. So it knows who was in trouble
/// when.
final class NodeReferee {
    let app: JoinedApp
    private(set) var finding: BrokenRule<NodeRule>?
    var peers: [JoinedPeer] = []
    var requests: [JoinedRequest] = []
    var broadcasts: [JoinedBroadcast] = []
    /// How many observations were found to have what a module has retained.
    var retained = 0
    /// How many requests and broadcasts were sent.
    private(set) var sent = 0
    /// How many broadcasts each node's brokers have handled, by node and row.
    var sequences: [[Int]]
    /// The number of looks at the brokers.
    private(set) var look = 0
    /// The last look at which two nodes didn't see each other as up.
    private var lastApart: [[Int]]
    /// The last look at which a row had no ready module on a node, by row, node and the replica's number: 0 is the row.
    private var lastAbsent: [[[Int]]]
    /// The last lives of two nodes' brokers that saw each other as up.
    private var joinedLives: [[(own: Int, other: Int)]]
    /// The replica that got the last request with a key, and the look then.
    var keys: [Int: (peer: Int, look: Int)] = [:]
    /// How many requests with a key came to a replica that had the key.
    var keyed = 0
    /// How often a row's module has ended.
    private var deaths: [Int]
    /// The simulation's time in nanoseconds.
    var time: UInt64 = 0

    init(_ app: JoinedApp) {
        self.app = app
        let nodes = app.nodes.count
        sequences = Array(repeating: Array(repeating: 0, count: app.rows.count), count: nodes)
        lastApart = Array(repeating: Array(repeating: 0, count: nodes), count: nodes)
        lastAbsent = app.rows.map { Array(repeating: Array(repeating: 0, count: $0.hasReplicas ? 3 : 1), count: nodes) }
        joinedLives = Array(repeating: Array(repeating: (-1, -1), count: nodes), count: nodes)
        deaths = Array(repeating: 0, count: app.rows.count)
    }

    func expect(_ holds: Bool, _ rule: NodeRule, _ message: @autoclosure () -> String) {
        if !holds, finding == nil { finding = BrokenRule(rule: rule, message: message()) }
    }

    func nextPlace() -> Int {
        sent += 1
        return sent
    }

    // MARK: Who is in trouble

    /// Notes who is in trouble now.
    func look(_ nodes: [JoinedNode]) {
        look += 1
        for (one, node) in nodes.enumerated() {
            for other in nodes.indices where other != one {
                if node.broker.isUp(app.nodes[other].name) {
                    guard nodes[other].broker.isUp(node.name) else { continue }
                    joinedLives[one][other] = (node.brokerLife, nodes[other].brokerLife)
                } else {
                    (lastApart[one][other], lastApart[other][one]) = (look, look)
                }
            }
            for (place, row) in app.rows.enumerated() where row.nodes.contains(one) {
                let ready = row.modules.map(node.broker.isReady)
                for (index, isReady) in ready.enumerated() where !isReady {
                    let number = row.hasReplicas ? index + 1 : 0
                    if lastAbsent[place][one][number] < look - 1 { deaths[place] += 1 }
                    lastAbsent[place][one][number] = look
                }
                if !ready.contains(true) { lastAbsent[place][one][0] = look }
            }
        }
        for node in nodes {
            for peer in node.peers where !peer.observations.isEmpty { noteKnown(peer, nodes) }
        }
    }

    /// Whether a request's nodes were apart since it was sent.
    func wasApart(_ request: JoinedRequest) -> Bool {
        let node = peers[request.caller].node
        return request.nodes.contains { $0 != node && lastApart[node][$0] >= request.sent.look }
    }

    /// Whether a request's row had no module on one of its nodes since it was sent.
    /// - Parameter replica: the replica that was not there; 0 for all of them.
    func wasAbsent(_ request: JoinedRequest, replica: Int) -> Bool {
        request.nodes.contains { lastAbsent[request.row][$0][replica] >= request.sent.look }
    }

    /// Whether a row's module was ready at all looks since one.
    func isThere(_ peer: JoinedPeer, since look: Int) -> Bool {
        peer.row.map { lastAbsent[$0][peer.node][peer.replica] < look } ?? false
    }

    /// Whether an action of the row may be quarantined.
    func mayBeQuarantined(_ request: JoinedRequest) -> Bool { deaths[request.row] >= 3 }

    // MARK: Who knows of which observation

    /// Notes which nodes' brokers know of a peer's observations now.
    private func noteKnown(_ peer: JoinedPeer, _ nodes: [JoinedNode]) {
        for place in peer.observations.indices {
            let row = peer.observations[place].row
            for node in app.rows[row].nodes where node != peer.node {
                let life = nodes[node].brokerLife
                guard peer.observations[place].sources[node].known?.brokerLife != life else { continue }
                peer.observations[place].sources[node].isToldAt = told(
                    peer.observations[place].sources[node].isToldAt, by: nodes[peer.node], to: nodes[node])
                guard let told = peer.observations[place].sources[node].isToldAt,
                    nodes[node].streamHandled(from: peer.node, in: told.session) ?? -1 >= told.position
                else { continue }
                peer.observations[place].sources[node].known = (sequences[node][row], life)
                peer.observations[place].sources[node].isCounted =
                    joinedLives[peer.node][node] == (peer.brokerLife, life)
            }
        }
    }

    /// Returns the position in the stream to a node behind which it knows all that another node's peers
    /// observe now; nil if that isn't certain yet.
    private func told(
        _ before: (position: Int, session: UInt64)?, by node: JoinedNode, to other: JoinedNode
    ) -> (position: Int, session: UInt64)? {
        guard let now = node.streamWritten(to: other.index) else { return nil }
        if let before, before.session == now.session { return before }
        return now.isWhole ? (now.position, now.session) : nil
    }

    // MARK: Requests

    /// Judges a request that has come to a module.
    func begins(_ number: Int, _ frame: SimulatedFrame, at peer: JoinedPeer) {
        guard requests.indices.contains(number) else {
            return expect(false, .known, "\(peer.label) got the request \(number), which nobody made")
        }
        let request = requests[number]
        let caller = peers[request.caller]
        expect(
            request.begun.isEmpty, .begunOnce, "\(name(request)) began at \(peer.label), and before at another")
        expect(
            request.refusal == nil, .levels, "\(name(request)) came to \(peer.label): it is \(request.refusal ?? "")")
        expect(
            peer.row == request.row && request.nodes.contains(peer.node), .placed,
            "\(name(request)) came to \(peer.label) on \(app.nodes[peer.node].name)")
        checkSender(frame, caller, at: peer, name(request))
        if let end = request.end, end.ran == .no, request.answer == nil {
            expect(false, .ran, "\(name(request)) ended as \(end.code) with ran: no, and then came to \(peer.label)")
        }
        let last = peer.last[request.caller] ?? (-1, -1)
        if peer.replica > 0 {
            begins(request, atReplica: peer)
        } else {
            expect(last.request < request.sent.place || caller.row == nil, .order, late(request, at: peer))
        }
        peer.last[request.caller] = (max(last.request, request.sent.place), last.broadcast)
        requests[number].begun.append(peer.number)
    }

    func checkSender(_ frame: SimulatedFrame, _ sender: JoinedPeer, at peer: JoinedPeer, _ what: String) {
        let isOwn = sender.node == peer.node
        let node = isOwn ? "" : app.nodes[sender.node].name
        let name = isOwn ? sender.name : sender.row.map { app.rows[$0].name } ?? sender.name
        expect(
            frame.from == name && frame.node == node, name == sender.name ? .known : .replicaName,
            "\(what) came to \(peer.label) as from \(frame.from) on the node \"\(frame.node)\"")
    }

    func name(_ request: JoinedRequest) -> String {
        let caller = peers[request.caller]
        return "\(request.kind) \(request.number) of \(caller.label) on \(app.nodes[caller.node].name)"
    }
}
