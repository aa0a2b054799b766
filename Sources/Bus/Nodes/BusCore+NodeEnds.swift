import StrataCore

/// The ends of nodes' connections, and of the rows there.
extension BusCore {
    /// Handles the link's `nodeLost {"node", "sent", "reason"}`: the other node can't be reached any
    /// more, and `sent` bytes of its stream may have reached it.
    func nodeLost(_ call: BusCall) throws(BusError) -> JSON {
        let reader = try call.params()
        let name = try reader.required("node")
        guard let node = nodes.find(name) else { throw BusError(.badParams, "no other node is named \(name)") }
        guard let sent = try reader.integer("sent"), sent >= 0 else {
            throw BusError(.badParams, "bus/nodeLost lacks \"sent\", the bytes of the node's stream that were sent")
        }
        let reason = try reader.string("reason") ?? ""
        guard let connection = node.connection else { return .object([]) }
        end(node, sent: UInt64(sent), reason)
        event.add(.close(connection))
        return .object([])
    }

    /// Handles the end of a node's connection, or of the link's.
    func nodeConnectionEnded(_ peer: Peer, _ reason: String) {
        if nodes.link === peer { nodes.take(Peer?.none) }
        guard let node = nodes.find(peer) else { return }
        // A link that ends a session says so first. So this one's process has ended.
        let isOfLink = reason == "closed"
        end(
            node, sent: nil, isAwaited: isOfLink,
            isOfLink ? "the link closed the connection" : "this broker ended it with \(reason)")
    }

    /// Ends what a node's modules had open here, and what was open at them.
    /// - Parameter isAwaited: whether requests wait for it to come back.
    private func end(_ node: NodeRecord, sent: UInt64?, isAwaited: Bool = false, _ reason: String) {
        let wasUp = node.life == .up
        let error = BusError(.died, "the node \(node.name) was lost: \(reason)", ran: .maybe)
        let (peers, reached) = (node.peers, node.reached(having: sent))
        node.ended(reason, at: host.wallMicroseconds)
        end(peers, reached: reached, error)
        if isAwaited { awaitAgain(node) }
        waitingMayGoOn(for: node)
        if wasUp, stage == .running {
            emit("app.nodeLost", about: ["node": .string(node.name), "reason": .string(reason)])
        }
    }

    func end(_ peers: [RemotePeer], reached: UInt64, _ error: BusError) {
        // The end of one peer's requests may end those of another. Nothing more may be written for
        // these, since it was decided what has reached the node.
        for peer in peers { peer.ends(reached: reached) }
        for peer in peers {
            endRequests(of: peer, error)
            endInstances(of: peer)
            connections.keepUntilRoundEnds(peer)
        }
    }

    /// Ends all nodes' connections, which another program's bus doesn't continue.
    func endNodes(_ reason: String) {
        for peer in connections.inOrder where (peer.role == .node || peer.role == .nodeLink) && !peer.life.isOver {
            if let node = nodes.find(peer) { end(node, sent: nil, isAwaited: true, reason) }
            event.add(.close(peer))
        }
    }
}
