import StrataCore

/// The frames of another node's broker. Its word is taken for one thing only: which of its own
/// rows, or operators, sends a frame. Everything else is judged by this node's table.
extension BusCore {
    @inline(never)
    func handle(fromNode header: inout Header, _ frame: Frame, of connection: Peer) {
        guard let node = nodes.find(connection) else { return }
        do throws(BusError) {
            switch header.kind {
            case .unknown where header.unknownKind.equals("node"): return try take(frame.body, from: node)
            case .unknown, .broadcast: throw BusError(.unknownKind, "no node sends a \(header.kind.name)")
            case .reply, .error: return handleAnswer(header, frame, from: node)
            case .call, .open, .report, .notice, .cancel, .credit: break
            }
            guard node.life == .up else {
                // Both brokers say what they have; nothing else passes before they agree.
                throw BusError(.badFrame, "a \(header.kind.name) came before the nodes agreed on the app")
            }
        } catch {
            // What follows can't be trusted to mean what it says.
            return end(connection, error)
        }
        guard let sender = node.peer(header.from) else {
            return refuse(header, over: connection, isNoRow(header, node))
        }
        switch header.kind {
        case .cancel: handleCancel(header, from: sender)
        case .credit: handleCredit(header, from: sender)
        case .notice: handleNotice(&header, frame, from: sender)
        default: handleRequest(&header, frame, from: sender, of: connection)
        }
    }

    private func isNoRow(_ header: borrowing Header, _ node: NodeRecord) -> BusError {
        statistics.violations += 1
        return BusError(
            .forbidden,
            "a \(header.kind.name) from \(node.name) is said to be of \"\(header.from.text)\", which this node's table "
                + "doesn't place there")
    }

    /// Refuses a frame that belongs to no request.
    private func refuse(_ header: borrowing Header, over connection: Peer, _ error: BusError) {
        switch header.kind {
        case .call, .open, .report: refuse(connection, header.id, error)
        default: statistics.dropped += 1
        }
    }

    private func handleAnswer(_ header: borrowing Header, _ frame: Frame, from node: NodeRecord) {
        guard let call = calls.find(header.id), call.pointee.state == .sent,
            let callee = call.pointee.callee?.takeUnretainedValue() as? RemotePeer, callee.remoteNode === node
        else {
            statistics.dropped += 1
            return
        }
        if header.kind == .reply {
            handleReply(header, frame.body, from: callee)
        } else {
            handleError(header, frame.body, from: callee)
        }
    }

    // MARK: Requests

    private func handleRequest(
        _ header: inout Header, _ frame: Frame, from sender: RemotePeer, of connection: Peer
    ) {
        do throws(BusError) {
            try check(header, from: sender, of: connection)
            if header.kind == .call, header.to.contains(UInt8(ascii: "#")) {
                try withOwnNumber(header.to, of: sender) { to in
                    header.to = to
                    take(header, frame, from: sender)
                }
            } else {
                take(header, frame, from: sender)
            }
        } catch {
            if monitors.isOn { countRefused(header, of: sender) }
            refuse(sender, header.id, error)
        }
    }

    private func take(_ header: borrowing Header, _ frame: Frame, from sender: RemotePeer) {
        if !monitors.isEmpty {
            handleMonitored(header, frame, of: sender)
        } else {
            handle(header, frame, of: sender)
        }
        // The chain goes on from the sender's node.
        guard let call = sender.requests[header.id] else { return }
        call.pointee.depth = Self.depth(header)
        var child = call.pointee.firstChild
        while let own = child {
            own.pointee.depth = call.pointee.depth
            child = own.pointee.child.next
        }
    }

    /// Returns the depth that another broker gives a request.
    static func depth(_ header: borrowing Header) -> UInt32 {
        header.members.contains(.depth) ? header.depth : 1
    }

    /// Checks what only requests of other nodes are checked for.
    private func check(_ header: borrowing Header, from sender: RemotePeer, of connection: Peer) throws(BusError) {
        // Two brokers that both waited for the other one to read would wait for ever. So a node is
        // always read, and its requests are refused instead.
        if connection.outbox.pendingAnswers > mostQueued {
            host.write(to: connection)
            try require(
                connection.outbox.pendingAnswers <= mostQueued, .overloaded,
                "\(sender.remoteNode.name) doesn't read its answers: \(whatIsFull(0, connection))")
        }
        let depth = Self.depth(header)
        try require(
            Int(depth) <= table.limits.depth, .tooDeep,
            "the request is number \(depth) of its chain, and limits.depth is \(table.limits.depth)")
        try require(
            !header.members.contains(.auth), .forbidden, "auth: skip is believed on the sender's own node only")
        try require(
            !header.members.contains(.node), .forbidden, "a node's requests are for this node, and go to no other one")
        if sender.role == .operator {
            return try require(
                mayOperate(sender.remoteNode.name), .forbidden,
                "operators of \(sender.remoteNode.name) may not use this node's modules and tools: its entry in nodes "
                    + "lacks operates: true")
        }
        // The other broker has chosen the node. A name with a mark would escape the check below.
        try require(
            header.kind == .open || nodeMark(header.to) == nil, .unknownInterface,
            "\"\(header.to.text)\" names a node, which a request of another node doesn't")
        guard header.kind == .call, !header.to.equals("bus/create"), routes.route(header.to) == nil,
            let destination = Destination(header.to)
        else {
            return
        }
        let name = UnsafeRawBufferPointer(rebasing: header.to[destination.interface])
        try require(
            !Name.isReserved(name), .forbidden, "\(name.text)/… of a node is for its own modules, and for operators")
    }

    // MARK: Broadcasts

    /// Hands a broadcast of another node's module on to this node's observers.
    private func handleNotice(_ header: inout Header, _ frame: Frame, from sender: RemotePeer) {
        guard header.members.contains(.name), sender.role == .module else {
            statistics.dropped += 1
            return
        }
        // Only what was asked for has a number.
        if header.members.contains(.id) { return handleRetained(header, frame, from: sender) }
        header.kind = .broadcast
        // During a fan-out the frame is put back, and comes again.
        if work.fanOut == nil {
            let missed = UInt64(max(0, header.missed))
            let node = sender.remoteNode
            if header.members.contains(.subscription) { node.knows(subscription: UInt64(max(0, header.subscription))) }
            node.received.received(header.name, 1 + missed)
            if missed > 0 { noteMissed(Array(header.name), missed, of: node, from: sender.rank) }
        }
        if !monitors.isEmpty {
            handleMonitored(header, frame, of: sender)
        } else {
            handle(header, frame, of: sender)
        }
    }
}
