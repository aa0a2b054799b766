import StrataCore

/// The other nodes of the app: their connections, what they are told of this one, and what they say
/// of themselves.
extension BusCore {
    /// The bytes by which a frame between two brokers may exceed the limits: what the first adds to
    /// a frame of the largest size.
    static let nodeFrameExcess: UInt32 = 1 << 10

    /// The limits of a frame from another node.
    var nodeLimits: FrameLimits {
        FrameLimits(
            frame: frameLimits.frame + Self.nodeFrameExcess, header: frameLimits.header + Self.nodeFrameExcess)
    }

    // MARK: hello

    /// Admits the process that carries bytes to the other nodes.
    func admitLink(_ peer: Peer, _ hello: Hello, _ id: UInt64) throws(BusError) {
        try checkLink(peer, hello)
        try require(nodes.link == nil, .nameTaken, "the link is connected already: there is one at a time")
        register(peer, as: .nodeLink)
        nodes.take(peer)
        writeReply(
            peer, id: id,
            [
                "app": .string(table.app), "node": .string(table.node ?? ""), "nodes": JSON(nodes.nodes.map(\.name)),
            ])
    }

    /// Admits a connection to another node's broker. After the answer, all its bytes are the stream.
    func admitNode(_ name: String, _ peer: Peer, _ hello: Hello, _ id: UInt64) throws(BusError) {
        try checkLink(peer, hello)
        try require(nodes.link != nil, .forbidden, "a node's connection came before the link's: say hello as the link")
        guard let node = nodes.find(name) else {
            let hint = didYouMean(name, nodes.nodes.map(\.name), else: "add it to nodes in the manifest")
            throw BusError(.unknownModule, "no other node is named \(name): \(hint)")
        }
        try require(
            !node.life.isConnected, .nameTaken, "\(name) is connected already: tell bus/nodeLost of it first")
        peer.setOtherApp(name)
        register(peer, as: .node)
        writeReply(peer, id: id, ["app": .string(table.app), "node": .string(table.node ?? "")])
        // Now, so that the first frames to this node are the table.
        tellNodes()
        let subscription = nodes.subscriptions.last
        node.connected(peer, subscription: subscription, at: host.wallMicroseconds)
        let (facts, name) = (NodeFacts(table), table.node ?? "")
        let bodies = NodeFrame.bodies(
            facts, nodes.told, of: name, subscription: subscription, series: node.sent.series, counts: node.sent.counts)
        for body in bodies { tell(node, body) }
    }

    /// Checks that a peer is the process that the launcher vouches for as the link.
    private func checkLink(_ peer: Peer, _ hello: Hello) throws(BusError) {
        try require(!nodes.isEmpty, .forbidden, "\(table.app) runs on one machine: its manifest has no nodes")
        guard let vouch = nodes.vouch, host.isAlive(vouch.process), isOf(peer, vouch.process),
            hello.token == vouch.token
        else {
            throw BusError(
                .forbidden,
                "process \(peer.credentials.pid) said it is the link, and the launcher doesn't vouch for it: strata up "
                    + "starts the link")
        }
    }

    /// Handles the launcher's `vouch {"link": true, "token", "pid", "startTicks"?}`; with `pid` 0, no
    /// process is the link any more.
    func vouchForLink(_ reader: MemberReader) throws(BusError) -> JSON {
        guard let pid = try reader.integer("pid").flatMap({ Int32(exactly: $0) }), pid >= 0 else {
            throw BusError(.badParams, "bus/vouch lacks \"pid\", a process's number, or 0 for none")
        }
        let vouch =
            pid == 0
            ? nil
            : LauncherWord.Vouch(
                token: try reader.required("token"), process: try process(pid, reader), isByHand: false, spawnedAt: nil)
        nodes.take(vouch)
        let error = BusError(.shuttingDown, "the launcher vouches for another process as the link now")
        for peer in connections.inOrder where (peer.role == .nodeLink || peer.role == .node) && peer.isOpen {
            if vouch.map({ isOf(peer, $0.process) }) != true { end(peer, error) }
        }
        return .object([])
    }

    // MARK: What the nodes are told

    /// Notes that a module's readiness may have changed.
    func noteForNodes(_ module: ModuleRecord) {
        if !nodes.isEmpty, module.row != nil, !module.isAway { nodes.mayHaveChanged(row: module.owning.name) }
    }

    /// Whether nodes may have to be told of changes.
    var hasNewsForNodes: Bool { !nodes.isEmpty && (nodes.hasChanges || observations.hasChanges || nodes.hasAsks) }

    /// Tells the nodes that are up what has changed here.
    func tellNodes() {
        guard !nodes.isEmpty else { return }
        tellChanges()
        askNodes()
    }

    private func tellChanges() {
        nodes.mayHaveChanged(observations.takeChanges())
        let changes = nodes.takeChanges()
        let old = nodes.told
        for name in changes.rows {
            let isReady = modules.find(name).map { !$0.isRemoved && $0.isServing } ?? false
            if isReady { nodes.told.ready.insert(name) } else { nodes.told.ready.remove(name) }
        }
        var names = changes.names
        // A name that an adapter gives to a broadcast is observed through the broadcast's own.
        if adapters.hasNotices { names += changes.names.flatMap { adapters.originals(of: $0) } }
        for name in names {
            nodes.told.observed[name] = observedRank(of: name)
            guard name.isPattern, nodes.told.observed[name] == nil else { continue }
            for node in nodes.nodes { node.received.forget(name) }
        }
        guard nodes.told != old else { return }
        let tellsMore = nodes.subscriptions.tell(old.observed, nodes.told.observed, names)
        let bodies = NodeFrame.bodies(
            from: old, to: nodes.told, subscription: tellsMore ? nodes.subscriptions.last : nil)
        for node in nodes.nodes where node.life == .joining || node.life == .up {
            for body in bodies { tell(node, body) }
        }
    }

    /// Returns the number under which the nodes know, or will know, of an observation that begins now.
    func subscription(for terms: Observation.Terms) -> UInt64 {
        let observed = terms.target.observed
        let names = [observed] + (adapters.hasNotices ? adapters.originals(of: observed) : [])
        return nodes.subscriptions.number(names, rank: terms.rank, nodes.told.observed)
    }

    /// Returns the latest rank that observes exactly this name or pattern here; nil if nobody does. The other nodes find
    /// the patterns that match a name, but don't know the names that adapters give it.
    private func observedRank(of observed: ObservedName) -> Int? {
        var ranks = [observations.find(observed)?.latestRank]
        for alias in observed.isPattern ? [] : aliases(of: observed.text) {
            alias.withUnsafeBytes { alias in
                ranks.append(observations.find(alias)?.latestRank)
                observations.forEachPattern(of: alias) { ranks.append($0.latestRank) }
            }
        }
        return ranks.compactMap(\.self).max()
    }

    /// Tells the nodes what the rows say now, after a reload.
    func tellNodesOfRows() {
        guard !nodes.isEmpty else { return }
        let facts = NodeFacts(table)
        let bodies = NodeFrame.bodies(rows: facts.rows)
        for node in nodes.nodes where node.life == .joining || node.life == .up {
            for body in bodies { tell(node, body) }
            compareRows(node, facts)
            if node.life == .up { representRows(of: node) }
            waitingMayGoOn(for: node)
        }
    }

    func tell(_ node: NodeRecord, _ body: [UInt8]) {
        guard let peer = node.connection, peer.isOpen else { return }
        // Without these frames the other broker would be wrong about this one, so they always fit.
        var writer = HeaderWriter(
            peer.outbox.reserve(HeaderWriter.overhead + body.count), opening: "{\"kind\":\"node\"")
        let count = body.withUnsafeBytes { writer.end(body: $0) }
        peer.outbox.commit(inlineCount: count, isAnswer: false)
        wrote(to: peer)
    }

    // MARK: What a node says

    /// Takes a frame of kind `node`.
    func take(_ body: UnsafeRawBufferPointer, from node: NodeRecord) throws(BusError) {
        // Reading it may take long, so the turn's time is checked.
        turn.interrupt()
        let frame = try NodeFrame(body)
        if let facts = frame.facts {
            try require(node.life == .joining, .badFrame, "a node began its table twice")
            try require(
                frame.version == 1, .badVersion,
                "\(node.name) speaks version \(frame.version) of this conversation, and this broker speaks 1")
            try require(
                frame.node == node.name, .badParams,
                "the connection to \(node.name) leads to a node that says it is \(frame.node)")
            node.facts = facts
            node.answersAsks = frame.retains
            node.began(subscription: frame.subscription)
        } else if let subscription = frame.subscription {
            node.subscription = subscription
        }
        try take(frame, from: node)
        if node.life == .up {
            released(frame.released, by: node)
            ended(frame.ended, on: node)
            noteMissed(frame.missed, of: node)
            for number in frame.answered { node.asks.answered(number) }
            try take(frame.asks, from: node)
        }
        switch node.life {
        case .joining where !frame.more: join(node, NodeFacts(table))
        case .up where !frame.more && !frame.rows.isEmpty:
            compareRows(node, NodeFacts(table))
            waitingMayGoOn(for: node)
        case .up: break
        case .never, .joining, .mismatch, .lost: break
        }
    }

    private func take(_ frame: NodeFrame, from node: NodeRecord) throws(BusError) {
        if frame.isAnew { node.facts.rows = [:] }
        for row in frame.rows { node.facts.rows[row.key] = row.value }
        try require(
            node.facts.rows.count <= Self.mostRows, .tooLarge, "\(node.name) has over \(Self.mostRows) rows")
        for observed in frame.unobserves { node.sent.unobserves(observed) }
        node.sent.forgetFormer(at: host.wallMicroseconds)
        // A node observes no later than its own modules may.
        let latest = latestRank(on: node)
        for (observed, rank) in frame.observes where observed.isUsable {
            node.sent.observes(observed, rank: min(rank, latest))
        }
        if node.life == .joining {
            if frame.series != 0 { node.told.series = frame.series }
            node.told.counts.merge(frame.counts) { _, new in new }
        }
        try require(
            max(node.sent.observedCount, node.told.counts.count) <= Self.mostObserved, .overloaded,
            "\(node.name) observes over \(Self.mostObserved) names")
        for name in frame.ready where modules.find(name)?.row?.placement.includes(node.name) == true {
            node.ready.insert(name)
        }
        node.ready.subtract(frame.unready)
    }

    /// The most rows that one node may have, and the most names that it may observe.
    private static let (mostRows, mostObserved) = (16_384, 65_536)

    func latestRank(on node: NodeRecord) -> Int {
        modules.rows.lazy.filter { $0.row?.placement.includes(node.name) == true }.map(\.rank).max() ?? 0
    }

    /// Puts a node in force whose table has come whole, if it is the same app's.
    private func join(_ node: NodeRecord, _ own: NodeFacts) {
        let difference = own.difference(from: node.facts)
        node.judged(difference, at: host.wallMicroseconds)
        guard difference == nil else { return waitingMayGoOn(for: node) }
        node.sent.isTold(at: host.wallMicroseconds)
        noteGap(of: node)
        representRows(of: node)
        let connection = node.connection!  // because a node that joins is connected
        let broker = RemotePeer(node, number: connections.takeNumber(), over: connection, pool)
        let operators = RemotePeer(node, number: connections.takeNumber(), over: connection, pool)
        broker.setOtherApp(node.name)
        for (peer, role) in [(broker, .node), (operators, .operator)] as [(RemotePeer, PeerRole)] {
            peer.identify(as: role, nil, rank: 0)
            peer.take(.admitted)
        }
        node.add(broker: broker, operators: operators)
        compareRows(node, own)
        waitingMayGoOn(for: node)
        asksForAll(node)
        emit("app.nodeBack", about: ["node": .string(node.name)])
    }

    /// Makes the peers that stand for the rows of a node, and ends those whose rows are gone, have
    /// moved or have another level.
    private func representRows(of node: NodeRecord) {
        func isHere(_ module: ModuleRecord) -> Bool {
            !module.isRemoved && module.row?.placement.includes(node.name) == true
        }
        for peer in node.peers {
            guard let module = peer.module else { continue }
            let stays = isHere(module) && modules.find(module.name) === module && peer.rank == module.rank
            guard !stays || module.isAway != module.remotes.contains(where: { $0 === peer }) else { continue }
            node.remove(peer)
            let error = BusError(
                .died, "the row of \(peer.displayName) has changed in the manifest: try again", ran: .maybe)
            end([peer], reached: .max, error)
        }
        for module in modules.rows where isHere(module) { represent(module, of: node) }
    }

    /// Makes the peer that stands for a row of a node, if there is none.
    private func represent(_ module: ModuleRecord, of node: NodeRecord) {
        guard let connection = node.connection, module.nameBytes.withUnsafeBytes({ node.peer($0) }) == nil else {
            return
        }
        let peer = RemotePeer(node, number: connections.takeNumber(), over: connection, pool)
        peer.identify(as: .module, module, rank: module.rank)
        peer.take(.admitted)
        node.add(peer)
        if module.isAway { module.add(remote: peer) }
    }

    /// Compares the rows' facts, which decide where a message for a row goes.
    private func compareRows(_ node: NodeRecord, _ own: NodeFacts) {
        node.mismatched = [:]
        for (name, row) in own.rows {
            if let difference = row.difference(from: node.facts.rows[name]) {
                node.mismatched[name] = "\(node.name) has another row \(name): \(difference)"
            }
        }
    }
}
