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
            guard let observed = node.sent.find(header.name), let latest = observed.rank,
                LevelRule.broadcastReaches(from: rank, to: latest)
            else { continue }
            observed.count += 1
            guard node.life == .up, let connection = node.connection else {
                observed.missed += 1
                continue
            }
            let isSent = levels.nameBytes[rank].withUnsafeBytes { level in
                let notice = Notice(
                    name: header.name, object: header.members.contains(.object) ? header.object : nil, from: peer.from,
                    level: level, via: "broadcast", trace: header.trace, meta: header.meta, body: body)
                guard fits(notice.cost, connection) else { return false }
                if body.count >= Outbox.largeBody, payload == nil { payload = Payload(copying: body, reclaimer) }
                let isNew = node.subscription != node.saidSubscription
                queue(
                    notice, missed: observed.missed, subscription: isNew ? node.subscription : nil, payload,
                    to: connection)
                return true
            }
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

    // MARK: What was missed

    /// Tells the observers of a node's broadcasts what has not come of these before its present
    /// connection.
    func noteGap(of node: NodeRecord) {
        guard node.told.series != 0 else { return }
        let rank = modules.rows.lazy.filter { $0.row?.placement.includes(node.name) == true }.map(\.rank).min() ?? 0
        switch node.received.begins(node.told.series, node.told.counts) {
        case .counted(let gaps):
            for (name, missed) in gaps { noteMissed(Array(name.utf8), missed, of: node, from: rank) }
        case .unknown(let known):
            // Nobody knows how many they are, so one stands for them.
            let rows = modules.rows.lazy.filter { $0.row?.placement.includes(node.name) == true }
            for name in Set(known).union(rows.flatMap(\.declared.broadcasts)) {
                noteMissed(Array(name.utf8), 1, of: node, from: rank)
            }
        }
        node.told = (0, [:])
    }

    /// Makes the next notice of each observer that a node knows say how many were lost before it.
    /// - Parameter rank: the earliest rank of a sender.
    func noteMissed(_ name: [UInt8], _ missed: UInt64, of node: NodeRecord, from rank: Int) {
        for name in observedNames(of: name) {
            for observation in name.withUnsafeBytes({ observations.find($0) })?.observations ?? [] {
                observation._withUnsafeGuaranteedRef { observation in
                    guard LevelRule.broadcastReaches(from: rank, to: observation.terms.rank),
                        observation.subscription <= node.knownSubscription
                    else { return }
                    observation.gap += Int(clamping: missed)
                }
            }
        }
    }

    /// Returns the observations that a broadcast reaches. If its sender is on another node, these are the
    /// observations that the node knew when it sent the broadcast.
    func audience(_ list: ObservationTable.List, of peer: Peer) -> [Unmanaged<Observation>] {
        guard let known = (peer as? RemotePeer)?.remoteNode.knownSubscription, known < list.subscription else {
            return list.observations
        }
        return list.observations.filter { $0._withUnsafeGuaranteedRef { $0.subscription <= known } }
    }

    /// Returns the names under which a broadcast is observed: its own, and those that adapters give
    /// it.
    func observedNames(of name: [UInt8]) -> [[UInt8]] {
        [name] + (adapters.hasNotices ? adapters.noticeAliases(Request.Bytes.text(name)).map(\.name) : [])
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
