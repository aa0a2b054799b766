import StrataCore

/// Requests to modules of other nodes. This bus judges them and owns their deadline and their one
/// answer; the other node's bus judges them again, and has the module.
extension BusCore {
    /// Sends a request to a row of another node, where it waits if the row isn't ready. Until the node
    /// has joined it waits here.
    /// - Parameter named: the node that the sender named, for which it doesn't wait; nil if it named
    ///   none.
    func sendAway(
        _ request: Request, _ header: borrowing Header, to owner: ModuleRecord, on named: NodeRecord? = nil,
        from peer: Peer
    ) throws(BusError) -> CallPointer {
        try require(
            !peer.isRemote, .forbidden,
            "\(peer.displayName) sent a request for \(owner.name), which doesn't run on this node")
        var request = request
        request.body = try inline(request.body, for: owner.name, header)
        var facts = facts(of: request, owner, from: peer)
        if let number = Self.instanceNumber(request.to) {
            facts.named = try remoteOwner(of: number, on: named, request, from: peer)
        } else if let named {
            facts.named = try remote(of: owner, on: named)
        }
        facts.startStep = startStep(header, of: peer)
        try facts.check(.node ... .start)
        try require(
            peer.module?.row != nil || peer.role == .operator, .forbidden,
            "\(owner.name) runs on another node, which takes requests of rows and operators: \(peer.displayName) is a "
                + "guest")
        guard facts.named != nil || owner.waiting.isEmpty && owner.remotes.contains(where: \.isRouted) else {
            let call = try hold(request, as: .call, header, for: owner, from: peer)
            nodes.mayHoldRequests = true
            return call
        }
        // Requests for a module that starts here wait for that one.
        if !owner.waiting.isEmpty, isElsewhere(owner) { try sendAllJoined(owner) }
        let remote = if let named = facts.named { named } else { try bestRemote(of: owner) }
        let line = remote.line
        let room = request.room
        let count = request.body.count + room + HeaderWriter.overhead / 2
        try require(
            fitsRequest(count, line, new: count), .overloaded,
            "the queue to the node \(remote.remoteNode.name) is full: \(whatIsFullForRequest(count, line)); wait for "
                + "answers")
        let call = try openRequest(.call, header, from: peer)
        deliver(call, request.kindToNode, request, key: header.key, to: remote)
        return call
    }

    /// Returns the peer to which a request for a row goes: one whose module is ready, and among
    /// these the one with the fewest requests.
    func bestRemote(of module: ModuleRecord) throws(BusError) -> RemotePeer {
        let best = module.remotes.lazy.filter(\.isRouted).min {
            ($0.isReady ? 0 : 1, $0.servedCount) < ($1.isReady ? 0 : 1, $1.servedCount)
        }
        guard let best else { throw unreachable(module) }
        return best
    }

    /// Says why no request can go to a row of other nodes.
    func unreachable(_ module: ModuleRecord) -> BusError {
        let names = nodes(of: module)
        let why = names.compactMap { nodes.find($0) }.map { node in
            node.mismatched[module.name] ?? node.life.absence(of: node.name, node.reason)
        }
        return BusError(
            .unavailable,
            "\(module.name) runs on the node \(names.joined(separator: " or ")), which can't be reached: "
                + "\(why.joined(separator: "; ")); see strata nodes")
    }

    /// Queues a request to another node's broker.
    /// - Parameter key: the request's key; empty if it has none.
    func deliver(
        _ call: CallPointer, _ kind: Header.Kind, _ request: Request, key: Header.Text, to remote: RemotePeer
    ) {
        call.pointee.wasSent(to: remote)
        remote.addServed(call)
        if monitors.isOn { monitorDelivered(call, request, to: remote) }
        let remaining = remaining(call)
        let room = request.room + HeaderWriter.room(key)
        let body = kind == .open ? .none : request.body
        call.pointee.end = queue(kind, to: remote.line, room: room, body: body, isAnswer: false) { writer in
            writer.integer("id", call.pointee.id)
            if kind == .open { writer.string("url", request.url) } else { writer.string("to", request.to) }
            nameCaller(of: call, to: &writer)
            if kind == .report {
                writer.string("name", request.name)
                if let object = request.object { writer.string("object", object) }
            }
            if !key.isEmpty { writer.string("key", key) }
            writer.integer("deadline", remaining)
            writer.integer("credit", call.pointee.stream.credit)
            writer.integer("depth", UInt64(call.pointee.depth))
            writer.passOn(request.trace, request.meta)
        }
    }

    /// Writes the name under which another node knows the caller of a request: the row's of the module that makes it,
    /// also if this bus asks the node's for an instance.
    func nameCaller(of call: CallPointer, to writer: inout HeaderWriter) {
        if let caller = call.pointee.caller?._withUnsafeGuaranteedRef({ $0.from }) {
            writer.name("from", ReplicaName.row(of: caller))
        } else if call.pointee.callee?._withUnsafeGuaranteedRef({ $0.isRemote }) == true,
            case .creation(_, let number)? = calls.purpose(of: call), let instance = instances.pending(number)
        {
            writer.name("from", ReplicaName.row(of: instance.creator.from))
        } else {
            writer.string("from", "bus" as StaticString)
        }
    }
}

extension Request {
    /// The kind of its frame to another node.
    var kindToNode: Header.Kind {
        switch kind {
        case .open: .open
        case .report: .report
        case .call, .broadcast, .event: .call
        }
    }
}
