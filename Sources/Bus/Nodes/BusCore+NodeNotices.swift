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
        for node in nodes.nodes where node.life == .up {
            guard let observed = node.observed.find(header.name), let connection = node.connection,
                LevelRule.broadcastReaches(from: rank, to: observed.rank)
            else { continue }
            let isSent = levels.nameBytes[rank].withUnsafeBytes { level in
                let notice = Notice(
                    name: header.name, object: header.members.contains(.object) ? header.object : nil, from: peer.from,
                    level: level, via: "broadcast", trace: header.trace, meta: header.meta, body: body)
                guard fits(notice.cost, connection) else { return false }
                if body.count >= Outbox.largeBody, payload == nil { payload = Payload(copying: body, reclaimer) }
                queue(notice, missed: observed.missed, payload, to: connection)
                return true
            }
            if isSent {
                observed.missed = 0
                reached += 1
            } else {
                observed.missed += 1
            }
        }
        return reached
    }

    private func queue(_ notice: Notice, missed: UInt64, _ payload: Payload?, to connection: Peer) {
        let write = { (writer: inout HeaderWriter) in
            notice.writeHead(to: &writer)
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
