import StrataCore

/// Operators' requests with `node`: this bus owns them, and the named node's bus serves them as from
/// an operator of its own, if the manifest lets this node operate the others.
extension BusCore {
    /// Sends a request on if its header names another node.
    /// - Returns: false if it names none, or this one: then it is this bus's own.
    @inline(__always)
    func sendToNode(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) -> Bool {
        header.members.contains(.node) ? try passOn(header, body, from: peer) : false
    }

    @inline(never)
    private func passOn(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) -> Bool {
        try require(
            peer.role == .operator, .forbidden,
            "only operators' requests are for a node: \(peer.displayName) must leave \"node\" out")
        let name = header.node.text
        guard name != table.node else { return false }
        let body = try inline(body, for: "the node \(name)", header)
        try require(
            !header.members.contains(.auth), .forbidden, "auth: skip is believed on the sender's own node only")
        let node = try connectedNode(name)
        let request = Request(
            to: header.to, url: header.url, name: header.name,
            object: header.members.contains(.object) ? header.object : nil, trace: header.trace, meta: header.meta,
            body: body)
        let line = node.line
        let count = body.count + request.room + HeaderWriter.overhead / 2
        try require(
            fitsRequest(count, line, new: count), .overloaded,
            "the queue to the node \(name) is full: \(whatIsFullForRequest(count, line)); wait for answers")
        if routes.actionNames.isFull { sweepActionNames() }
        let call = try openRequest(.call, header, from: peer)
        if let asked = asked(header), asked.utf8.count <= Self.longestAsked {
            call.pointee.action = routes.actionNames.number(of: asked)
        }
        deliver(call, header.kind, request, key: header.key, to: node)
        return true
    }

    /// The longest name of a request that is kept, in bytes: `Interface#N/action`.
    private static let longestAsked = 2 * Name.longest + 18

    /// Returns the peer that stands for the broker of another node.
    private func connectedNode(_ name: String) throws(BusError) -> RemotePeer {
        try require(
            !nodes.isEmpty, .badParams,
            "\(table.app) runs on one machine: its manifest has no nodes, so none is \(name)")
        guard let node = nodes.find(name) else {
            throw BusError(
                .badParams,
                "no node is named \"\(name)\": the nodes are \(table.nodes.map(\.name).joined(separator: ", "))")
        }
        guard let broker = node.broker else {
            throw BusError(
                .unavailable,
                "the node \(name) can't be reached: \(node.life.absence(of: name, node.reason)); see strata nodes")
        }
        return broker
    }

    /// Returns why an operator's broadcast isn't made: it stays on its node, so it can't be for another.
    func broadcastRefusal(node header: borrowing Header, from peer: Peer) -> BusError? {
        guard header.members.contains(.node), header.node.text != table.node else { return nil }
        return BusError(
            .forbidden,
            "a broadcast of an operator stays on its node, and this one is for \(header.node.text): broadcast it there")
    }

    /// Ends the requests of other nodes' operators whose node may no longer operate this one.
    func endFormerNodeOperators() {
        for node in nodes.nodes where !mayOperate(node.name) {
            guard let operators = node.operators else { continue }
            let error = BusError(.forbidden, "the manifest no longer says operates: true of \(node.name)", ran: .maybe)
            while let call = operators.firstMade { failAndCancel(call, error) }
        }
    }

    /// Whether the manifest lets a node's operators use this node's tools and modules.
    func mayOperate(_ node: String) -> Bool { table.nodes.first { $0.name == node }?.operates == true }
}
