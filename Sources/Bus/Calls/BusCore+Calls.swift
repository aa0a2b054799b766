import StrataCore

/// Calls: from the caller's frame to the owner's outbox.
extension BusCore {
    @inline(never)
    func handleCall(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        guard hasUsableID(header, from: peer) else { return }
        statistics.calls += 1
        // The fast path: this `to` was used before.
        if let route = routes.route(header.to) {
            route._withUnsafeGuaranteedRef { route in
                do throws(BusError) { try call(route, header, body, from: peer) } catch {
                    refuse(peer, header, error)
                }
            }
        } else {
            do throws(BusError) { try resolveCall(header, body, from: peer) } catch {
                refuse(peer, header, error)
            }
        }
    }

    /// Handles a call whose `to` isn't cached.
    @inline(never)
    private func resolveCall(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        if try sendToNode(header, body, from: peer) { return }
        // Another app learns no names: not even whether they exist.
        if peer.role == .app || peer.role == .link {
            try require(
                routes.isOfBus(header.to), .forbidden, "\(peer.displayName) may only open this app's public URLs")
        }
        if routes.actionNames.isFull { sweepActionNames() }
        if let mark = nodeMark(header.to) { return try callNamed(mark, header, body, from: peer) }
        switch routes.resolve(header.to, adapters) {
        case .route(let route): try call(route, header, body, from: peer)
        case .reserved(let name, let action, let hasInstance):
            let body = try inline(body, for: "\(name)/\(action)", header)
            try reservedCall(name, action, hasInstance: hasInstance, header, body, from: peer)
        case .unknown(let name): throw unknownInterface(name)
        case .malformed:
            if try callNamedReplica(header, body, from: peer) { return }
            throw BusError(
                .unknownInterface,
                header.members.contains(.to)
                    ? "\"\(header.to.text)\" names no action: write Interface/action"
                    : "a call lacks \"to\": name an Interface/action")
        }
    }

    /// Handles a call to one of the bus's own names.
    private func reservedCall(
        _ name: String, _ action: String, hasInstance: Bool, _ header: borrowing Header,
        _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        switch Refusal(ofReserved: name, to: peer.role) {
        case nil where name == "bus": try busCall(action, hasInstance: hasInstance, header, body, from: peer)
        case nil: try launcherCall(action, hasInstance: hasInstance, header, body, from: peer)
        case .ofTheBroker:
            throw BusError(.forbidden, "only the broker calls module/…")
        case .ofOperators where peer.module?.row?.manages.isEmpty == false:
            try managingCall(action, hasInstance: hasInstance, header, body, from: peer)
        case .ofOperators:
            throw BusError(
                .forbidden,
                "launcher/\(action) is for operators, and for modules whose row manages others: add manages to the row")
        default: throw unknownInterface(name)
        }
    }

    @inline(__always)
    func call(
        _ route: RouteTable.Route, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        // Otherwise these checks can't fail.
        if peer.role.isRestricted || table.calls != .any
            || !header.members.isDisjoint(with: [.auth, .node, .descriptors, .memory])
        {
            if try sendToNode(header, body, from: peer) { return }
            try check(route, header, from: peer, .existence ... .declaration)
            try checkDescriptors(of: route)
        }
        if let adaptation = route.adaptation {
            // A call that no module can take is refused before its body is looked at.
            try check(route, header, from: peer, .node ... .owner)
            try sendAdapted(adaptation, route, header, body, from: peer)
        } else {
            try send(route, header, body, from: peer)
        }
    }

    @inline(never)
    private func sendAdapted(
        _ adaptation: AdapterTable.Adaptation, _ route: RouteTable.Route, _ header: borrowing Header,
        _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        guard !adaptation.params.isEmpty else { return try send(route, header, body, from: peer) }
        // Renaming takes long, so the turn's time is checked.
        turn.interrupt()
        try renamed(adaptation.params, header, body).withBytes { body throws(BusError) in
            try send(route, header, body, from: peer)
        }
    }

    /// Opens a call that the policy allows, and sends it on.
    @inline(__always)
    private func send(
        _ route: RouteTable.Route, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        let interface = route.interface
        let request = route.to.withUnsafeBytes { to in
            Request(
                to: to, interface: interface, trace: header.trace, meta: header.meta, body: body,
                skipsAuthorization: header.members.contains(.auth), descriptors: turn.descriptors)
        }
        guard route.owner.isReady, var callee = route.owner.unretainedPeer else {
            return try wait(request, route, header, for: route.owner, from: peer)
        }
        if route.needsCheck {
            try check(route, header, from: peer, .node ... .instance)
            callee = .passUnretained(self.callee(interface, route.instance, callee.takeUnretainedValue()))
        }
        let call = try openRequest(.call, header, from: peer)
        call.pointee.action = route.actionNumber
        if route.marksCalls { mark(call, route) }
        callee._withUnsafeGuaranteedRef { callee in
            if route.needsAuthorization, !request.skipsAuthorization {
                authorize(call, request, route, header, from: peer, to: callee)
            } else {
                // What its texts take is a part of the header that came, or the route's.
                deliver(call, request, room: Int(header.count) &+ request.to.count &+ 64, to: callee)
            }
        }
    }

    /// Keeps what the call's replies need of its route: how they are renamed, and the number of
    /// descriptors that they may have.
    @inline(never)
    func mark(_ call: CallPointer, _ route: RouteTable.Route) {
        call.pointee.adaptation = route.adaptation.map { .passRetained($0) }
        call.pointee.mostDescriptors = route.mostReplied
    }

    @inline(never)
    private func authorize(
        _ call: CallPointer, _ request: Request, _ route: RouteTable.Route, _ header: borrowing Header,
        from peer: Peer, to callee: Peer
    ) {
        var request = request
        route.action.withUnsafeBytes { action in
            request.action = action
            authorize(call, request, route.interface, header, from: peer, to: callee)
        }
    }

    /// Sends a request to a replica of its owner's row.
    /// - Parameter named: the replica that the sender named; nil if it named none.
    /// - Returns: false if it has to wait, or none can serve it.
    func sendToReplica(
        _ request: Request, _ route: RouteTable.Route, _ header: borrowing Header, from peer: Peer,
        named: Peer? = nil
    ) throws(BusError) -> Bool {
        let receiver = named ?? receiver(of: route.owner, route.interface, key: header.key, instance: route.instance)
        guard let callee = receiver else { return false }
        try check(route, header, from: peer, .node ... .instance)
        let call = try openRequest(.call, header, from: peer)
        call.pointee.action = route.actionNumber
        if route.marksCalls { mark(call, route) }
        authorize(call, request, route, header, from: peer, to: callee)
        return true
    }

    /// Handles a request whose owner has no session that takes it at once: a replica of its row gets
    /// it, or it is held or refused.
    @inline(never)
    private func wait(
        _ request: Request, _ route: RouteTable.Route, _ header: borrowing Header, for owner: ModuleRecord,
        from peer: Peer
    ) throws(BusError) {
        if owner.replicas != nil, try sendToReplica(request, route, header, from: peer) { return }
        var request = request
        let call = try route.action.withBytes { action throws(BusError) in
            request.action = action
            return try hold(request, header, for: owner, from: peer)
        }
        call.pointee.action = route.actionNumber
        mark(call, route)
    }

    /// Queues a call to the session that serves it.
    func deliver(_ call: CallPointer, _ request: Request, to callee: Peer) {
        deliver(call, request, room: request.room, to: callee)
    }

    /// - Parameter room: the most bytes that its texts take in a header. Adding them up takes 60
    ///   instructions, so plain calls have a bound of their own.
    @inline(__always)
    private func deliver(_ call: CallPointer, _ request: Request, room: Int, to callee: Peer) {
        let body = request.body
        let count = body.count &+ room &+ HeaderWriter.overhead / 2
        if request.descriptors != nil { return deliverDescriptors(call, request, room, to: callee) }
        guard fitsRequest(count, callee, new: count) else { return queueIsFull(for: call, request, count, to: callee) }
        noteSent(call, request, to: callee)
        let remaining = remaining(call)
        call.pointee.end = queue(.call, to: callee, room: room, body: body, isAnswer: false) { writer in
            write(call, request, remaining, to: &writer)
        }
    }

    /// Fails a call for which its callee's queue has no room.
    @inline(never)
    func queueIsFull(for call: CallPointer, _ request: Request, _ count: Int, to callee: Peer) {
        countUnsent(call, request, to: callee)
        fail(
            call, .overloaded,
            "the queue to \(callee.displayName) is full: \(whatIsFullForRequest(count, callee)); wait for answers")
    }

    /// Notes that a call is queued to the session that serves it.
    @inline(__always)
    func noteSent(_ call: CallPointer, _ request: Request, to callee: Peer) {
        call.pointee.wasSent(to: callee)
        callee.addServed(call)
        if monitors.isOn { monitorDelivered(call, request, to: callee) }
    }

    @inline(__always)
    func write(_ call: CallPointer, _ request: Request, _ remaining: UInt64, to writer: inout HeaderWriter) {
        // because a call has a caller
        let (from, node) = call.pointee.caller!._withUnsafeGuaranteedRef { ($0.from, $0.node) }
        writer.integer("id", call.pointee.id)
        writer.name("to", request.to)
        writer.name("from", from)
        if node.count > 0 { writer.name("node", node) }
        if request.url.count > 0 { writer.string("url", request.url) }
        let credit = call.pointee.stream.credit
        if remaining == 30_000, credit == 16 {
            // What both are for nearly all calls. Writing the numbers takes 60 instructions.
            writer.literal(",\"deadline\":30000,\"credit\":16")
        } else {
            writer.integer("deadline", remaining)
            writer.integer("credit", credit)
        }
        writer.passOn(request.trace, request.meta)
    }
}

extension UnsafeRawBufferPointer {
    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// Opens: a URL becomes a call of the action that it maps to.
extension BusCore {
    @inline(never)
    func handleOpen(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) throws(BusError) {
        guard hasUsableID(header, from: peer) else { return }
        // Resolving a URL may take long, so the turn's time is checked.
        turn.interrupt()
        statistics.opens += 1
        try LiveFacts(core: self, kind: .open, peer: peer, skipsAuthorization: header.members.contains(.auth))
            .check(.sender ... .trust)
        if try sendToNode(header, .none, from: peer) { return }
        guard let match = try resolve(header, from: peer) else { return }
        let target = match.value
        let parameters = match.body()
        try require(
            takesFrame(header, body: parameters.count), .badURL,
            "the URL's parameters have \(parameters.count) bytes as JSON, which with the open's header is over "
                + "\(frameLimits.frame) (limits.frame)")
        guard let interface = routes.interface(target.interface) else { throw unknownInterface(target.interface) }
        // Before the action gets a number, which a sweep would remove.
        if routes.actionNames.isFull { sweepActionNames() }
        let to = Array(target.to.utf8)
        let action = Array(target.action.utf8)
        let number = routes.actionNumber(interface, action)
        try to.withBytes { to throws(BusError) in
            try action.withBytes { action throws(BusError) in
                try parameters.withBytes { parameters throws(BusError) in
                    let request = Request(
                        to: to, interface: interface, action: action, url: header.url, trace: header.trace,
                        meta: header.meta, body: parameters)
                    guard let callee = receiver(of: target.owner, interface, key: header.key) else {
                        let call = try hold(request, header, for: target.owner, from: peer)
                        call.pointee.action = number
                        takeDepth(of: call, header, from: peer)
                        return
                    }
                    try facts(of: request, target.owner, from: peer).check(.node ... .start)
                    let call = try openRequest(.call, header, from: peer)
                    call.pointee.action = number
                    takeDepth(of: call, header, from: peer)
                    if monitors.isOn { countOpen(call, target, to: callee) }
                    goOn(call, request, header, from: peer, to: callee)
                }
            }
        }
    }
}
