import StrataCore

/// Broadcasts to other nodes: one copy crosses for all observers of a node, whose bus fans it out.
extension BusCore {
    /// Queues a broadcast to each node on which a later level observes it.
    /// - Returns: the number of nodes that it goes to.
    @inline(never)
    func broadcastToNodes(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer, rank: Int
    ) -> Int {
        // Other nodes know rows alone.
        guard !peer.isRemote, peer.module?.row != nil else { return 0 }
        var reached = 0
        var payload: Payload?
        for node in nodes.nodes {
            guard let found = node.sent.observed(header.name),
                LevelRule.broadcastReaches(from: rank, to: found.rank)
            else { continue }
            let observed = found.entry ?? node.sent.count(header.name, at: host.wallMicroseconds)
            guard node.life == .up || node.life == .joining, let connection = node.connection else {
                observed.count += 1
                continue
            }
            // A node that joins has been told the counts before this broadcast, and gets no notice yet.
            let isSent =
                node.life == .up
                && levels.nameBytes[rank].withUnsafeBytes { level in
                    let notice = Notice(
                        name: header.name, object: header.members.contains(.object) ? header.object : nil,
                        from: ReplicaName.row(of: peer.from), level: level, via: "broadcast", trace: header.trace,
                        meta: header.meta, body: body)
                    guard fits(notice.cost, connection) else { return false }
                    if node.sent.hasMissedByPatterns { tellMissedByPatterns(node) }
                    if body.count >= Outbox.largeBody, payload == nil { payload = Payload(copying: body, reclaimer) }
                    let isNew = node.subscription != node.saidSubscription
                    queue(
                        notice, missed: observed.missed, subscription: isNew ? node.subscription : nil, payload,
                        to: connection)
                    return true
                }
            if !isSent, observed.rank == nil {
                node.sent.missedByPatterns(header.name, from: rank)
                continue
            }
            observed.count += 1
            if isSent {
                observed.missed = 0
                node.saidSubscription = node.subscription
                reached += 1
            } else {
                observed.missed += 1
            }
        }
        return reached
    }

    private func tellMissedByPatterns(_ node: NodeRecord) {
        for body in NodeFrame.bodies(missed: node.sent.takeMissedByPatterns()) { tell(node, body) }
    }

    // MARK: What was missed

    /// Notes what patterns have missed in all of a node's broadcasts.
    func noteMissed(_ missed: [(pattern: ObservedName, missed: UInt64)], of node: NodeRecord) {
        let rank = earliestRank(of: node)
        for (pattern, missed) in missed {
            guard let list = observations.find(pattern) else { continue }
            let new = node.received.missed(by: pattern, inAll: missed)
            noteMissed(new, by: list.observations, of: node, from: rank)
        }
    }

    /// The earliest rank of a sender on a node.
    private func earliestRank(of node: NodeRecord) -> Int {
        modules.rows.lazy.filter { $0.row?.placement.includes(node.name) == true }.map(\.rank).min() ?? 0
    }

    /// Tells the observers of a node's broadcasts what has not come of these before its present
    /// connection.
    func noteGap(of node: NodeRecord) {
        guard node.told.series != 0 else { return }
        let rank = earliestRank(of: node)
        switch node.received.begins(node.told.series, node.told.counts) {
        case .counted(let gaps):
            for (name, missed) in gaps { noteMissed(Array(name.utf8), missed, of: node, from: rank) }
        case .unknown(let known):
            // Nobody knows how many they are, so one stands for them.
            let rows = modules.rows.lazy.filter { $0.row?.placement.includes(node.name) == true }
            let names = Set(known).union(rows.flatMap(\.declared.broadcasts))
            var observers: [UnsafeMutableRawPointer: Unmanaged<Observation>] = [:]
            for observation in names.flatMap({ self.observers(of: Array($0.utf8)) }) {
                observers[observation.toOpaque()] = observation
            }
            noteMissed(1, by: Array(observers.values), of: node, from: rank)
        }
        node.told = (0, [:])
    }

    /// Makes the next notice of each observer that a node knows say how many were lost before it.
    /// - Parameter rank: the earliest rank of a sender.
    func noteMissed(_ name: [UInt8], _ missed: UInt64, of node: NodeRecord, from rank: Int) {
        noteMissed(missed, by: observers(of: name), of: node, from: rank)
    }

    private func noteMissed(
        _ missed: UInt64, by observations: [Unmanaged<Observation>], of node: NodeRecord, from rank: Int
    ) {
        for observation in observations {
            observation._withUnsafeGuaranteedRef { observation in
                guard LevelRule.broadcastReaches(from: rank, to: observation.terms.rank),
                    observation.subscription <= node.knownSubscription
                else { return }
                observation.gap += Int(clamping: missed)
            }
        }
    }

    /// Returns the observations of a broadcast, whatever its sender.
    private func observers(of name: [UInt8]) -> [Unmanaged<Observation>] {
        var lists: [ObservationTable.List] = []
        for name in [name] + aliases(of: name) {
            name.withUnsafeBytes { name in
                if let list = observations.find(name) { lists.append(list) }
                observations.forEachPattern(of: name) { list in
                    if !lists.contains(where: { $0 === list }) { lists.append(list) }
                }
            }
        }
        return lists.flatMap(\.observations)
    }

    /// Returns the observations that a broadcast reaches. If its sender is on another node, these are the
    /// observations that the node knew when it sent the broadcast.
    func audience(_ list: ObservationTable.List, of peer: Peer) -> [Unmanaged<Observation>] {
        guard let known = (peer as? RemotePeer)?.remoteNode.knownSubscription, known < list.subscription else {
            return list.observations
        }
        return list.observations.filter { $0._withUnsafeGuaranteedRef { $0.subscription <= known } }
    }

    /// Returns the names that adapters give to a broadcast.
    func aliases(of name: [UInt8]) -> [[UInt8]] {
        adapters.hasNotices ? adapters.noticeAliases(Request.Bytes.text(name)).map(\.name) : []
    }

    private func queue(
        _ notice: Notice, missed: UInt64, subscription: UInt64?, _ payload: Payload?, to connection: Peer
    ) {
        let write = { (writer: inout HeaderWriter) in
            notice.writeHead(to: &writer)
            if let subscription { writer.integer("subscription", subscription) }
            if missed > 0 { writer.integer("missed", missed) }
            writer.passOn(notice.trace, notice.meta)
        }
        if let payload {
            queue(.notice, to: connection, room: notice.room, payload: payload, isAnswer: false, write)
        } else {
            queue(.notice, to: connection, room: notice.room, body: notice.body, isAnswer: false, write)
        }
    }
}
