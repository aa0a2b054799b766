import StrataCore

/// Calls: from the caller's frame to the owner's outbox.
extension Broker {
    @inline(never)
    func handleCall(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        guard hasUsableID(header, from: peer) else { return }
        statistics.calls += 1
        if let route = routes.route(header.to) {
            route._withUnsafeGuaranteedRef { call($0, header, body, from: peer) }
        } else {
            resolveCall(header, body, from: peer)
        }
    }

    /// A `to` that isn't remembered.
    @inline(never)
    private func resolveCall(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        switch routes.resolve(header.to, adapters) {
        case .route(let route): call(route, header, body, from: peer)
        case .reserved("bus", let action): busCall(action, header, body, from: peer)
        case .reserved("launcher", let action): launcherCall(action, header, body, from: peer)
        case .reserved("module", _):
            refuse(
                peer, header.id,
                BusError(.forbidden, "only the broker calls module/…: a module answers it, and nobody else asks"))
        case .reserved(let name, _):
            refuse(peer, header.id, unknownInterface(name))
        case .unknown(let name):
            refuse(peer, header.id, unknownInterface(name))
        case .malformed:
            refuse(
                peer, header.id,
                BusError(
                    .unknownInterface,
                    header.members.contains(.to)
                        ? "\"\(header.to.text)\" names no action: say Interface/action"
                        : "a call lacks \"to\": say Interface/action"))
        }
    }

    func unknownInterface(_ name: String) -> BusError {
        let near = nearestNames(to: name, in: routes.someInterfaceNames(1_024) + adapters.names)
        let hint =
            near.isEmpty ? "strata routes lists those there are" : "did you mean \(near.joined(separator: " or "))?"
        return BusError(.unknownInterface, "no row and no live module provides \(name): \(hint)")
    }

    @inline(__always)
    private func call(
        _ route: RouteTable.Route, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) {
        let interface = route.interface
        if peer.role == .launcher || table.calls != .any || header.members.contains(.auth) {
            if let refusal = policyRefusal(interface, header, from: peer, required: route.required) {
                refuse(peer, header.id, refusal)
                return
            }
        }
        if route.adaptation != nil {
            // Whether there is anybody to take it is judged before its body is.
            guard interface.owner.isReady || canBeWaitedFor(interface.owner) else {
                refuse(peer, header.id, unavailable(interface.owner))
                return
            }
            guard let renamed = adaptedParams(route, header.id, body, from: peer) else { return }
            renamed.withUnsafeBytes { send(route, header, $0, from: peer) }
        } else {
            send(route, header, body, from: peer)
        }
    }

    /// Opens a call that the policy allows, and lets it go on.
    @inline(__always)
    private func send(
        _ route: RouteTable.Route, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) {
        let interface = route.interface
        let request = route.to.withUnsafeBytes { to in
            Request(
                to: to, interface: interface, trace: header.trace, meta: header.meta, body: body,
                skipsAuthorization: header.members.contains(.auth))
        }
        guard route.owner.isReady, var callee = route.owner.unretainedPeer else {
            wait(request, route, header, for: route.owner, from: peer)
            return
        }
        if route.needsCheck {
            if let refusal = actionRefusal(route, from: peer) {
                refuse(peer, header.id, refusal)
                return
            }
            callee = .passUnretained(self.callee(interface, route.instance, callee.takeUnretainedValue()))
        }
        guard let call = openRequest(.call, header, from: peer) else { return }
        if route.adaptation != nil { adapt(call, route) }
        if header.members.contains(.parent), let refusal = startRefusal(header, of: peer, route.owner) {
            fail(call, refusal)
            return
        }
        if route.needsAuthorization, !request.skipsAuthorization {
            authorize(call, request, route, header, from: peer)
            return
        }
        callee._withUnsafeGuaranteedRef { deliver(call, request, to: $0) }
    }

    /// Lets a call's replies be renamed.
    @inline(never)
    private func adapt(_ call: CallPointer, _ route: RouteTable.Route) {
        call.pointee.adaptation = route.adaptation.map { .passRetained($0) }
    }

    @inline(never)
    private func authorize(
        _ call: CallPointer, _ request: Request, _ route: RouteTable.Route, _ header: borrowing Header, from peer: Peer
    ) {
        var request = request
        route.action.withUnsafeBytes { action in
            request.action = action
            authorize(call, request, route.interface, header, from: peer)
        }
    }

    /// A request whose owner isn't ready: it waits, or is refused.
    @inline(never)
    private func wait(
        _ request: Request, _ route: RouteTable.Route, _ header: borrowing Header, for owner: ModuleRecord,
        from peer: Peer
    ) {
        var request = request
        route.action.withUnsafeBytes { action in
            request.action = action
            if let call = hold(request, .call, header, for: owner, from: peer) {
                adapt(call, route)
            }
        }
    }

    /// Opens a request and keeps it until its module is ready; nil where it was
    /// refused.
    @discardableResult
    func hold(
        _ request: Request, _ kind: Call.Kind, _ header: borrowing Header, for owner: ModuleRecord,
        from peer: Peer
    ) -> CallPointer? {
        guard canBeWaitedFor(owner) else {
            refuse(peer, header.id, unavailable(owner))
            return nil
        }
        if let refusal = startRefusal(header, of: peer, owner) {
            refuse(peer, header.id, refusal)
            return nil
        }
        guard owner.waiting.count < table.limits.waiting else {
            refuse(
                peer, header.id,
                BusError(
                    .overloaded,
                    "\(table.limits.waiting) requests wait for \(owner.name) already (limits.waiting): try later"))
            return nil
        }
        let held = HeldRequest(request)
        if let refusal = heldRefusal(held, of: peer) {
            refuse(peer, header.id, refusal)
            return nil
        }
        guard let call = openRequest(kind, header, from: peer) else { return nil }
        keep(held, for: call, of: peer)
        wait(call, for: owner)
        return call
    }

    /// Puts an open request, whose copy is kept, behind those that wait for a
    /// module.
    func wait(_ call: CallPointer, for owner: ModuleRecord) {
        call.pointee.state = .held
        call.pointee.waitsFor = .passUnretained(owner)
        owner.waiting.append(call)
        want(owner)
    }

    /// What the limits on bytes that wait have against one more request.
    func heldRefusal(_ held: HeldRequest, of peer: Peer) -> BusError? {
        guard peer.heldBytes == 0 || peer.heldBytes + held.cost <= table.limits.held else {
            return BusError(
                .overloaded,
                "\(peer.heldBytes) bytes of \(peer.displayName) wait for modules or the authorizer, and "
                    + "\(table.limits.held) may (limits.held): wait for answers")
        }
        guard held.cost <= 64 << 10 || heldTotal + held.cost <= table.limits.total else {
            return BusError(
                .overloaded, "the broker holds \(heldTotal) bytes for all (limits.total): try later")
        }
        return nil
    }

    /// Keeps a request's copy while it waits.
    func keep(_ held: HeldRequest, for call: CallPointer, of peer: Peer) {
        call.pointee.held = .passRetained(held)
        peer.heldBytes += held.cost
        heldTotal += held.cost
    }

    /// Lets go on what waited for a module that is ready now, in order.
    func releaseWaiting(_ module: ModuleRecord) {
        let waiting = module.waiting
        module.waiting = []
        for call in waiting {
            guard let caller = call.pointee.caller?.takeUnretainedValue() else { continue }
            let held = unhold(call)
            guard let callee = module.peer else {
                fail(call, unavailable(module))
                continue
            }
            held.withRequest { request in
                if call.pointee.kind == .report {
                    deliverReport(call, request, from: caller, to: module)
                    return
                }
                goOn(call, request, from: caller, to: callee)
            }
        }
        module.finishWaitingForReady(true)
    }

    /// Makes the checks on a request's action, now that its owner is there, and
    /// lets it go on.
    func goOn(
        _ call: CallPointer, _ request: Request, _ header: borrowing Header = Header(), from caller: Peer,
        to callee: Peer
    ) {
        guard let interface = request.interface.map(present) else {
            deliver(call, request, to: callee)
            return
        }
        if let refusal = lateRefusal(interface, request, from: caller) {
            fail(call, refusal)
        } else if interface.action(request.action)?.needsAuthorization == true, !request.skipsAuthorization,
            !call.pointee.isAuthorized
        {
            authorize(call, request, interface, header, from: caller)
        } else {
            deliver(call, request, to: self.callee(interface, Self.instanceNumber(request.to), callee))
        }
    }

    /// The record of an interface now: a session that ended may have taken away
    /// the one that a request waited with, and the next one registered it anew.
    func present(_ interface: InterfaceRecord) -> InterfaceRecord {
        guard !interface.isLive, let now = routes.interface(interface.name), now.owner === interface.owner else {
            return interface
        }
        return now
    }

    /// The checks on a waiting request's action, made when its owner is there.
    func lateRefusal(_ interface: InterfaceRecord, _ request: Request, from caller: Peer) -> BusError? {
        guard interface.isLive else { return notOffered(interface) }
        let listed = interface.action(request.action)
        if interface.actions != nil && listed == nil {
            return unknownAction(interface, request.action.text)
        }
        return instanceRefusal(interface, Self.instanceNumber(request.to), from: caller)
    }

    /// An interface that its owner, who is there, doesn't bring: it is its row's
    /// since a reload, or was the session's before.
    func notOffered(_ interface: InterfaceRecord) -> BusError {
        if let now = routes.interface(interface.name), now !== interface {
            return BusError(
                .unavailable,
                "\(interface.name) was \(interface.owner.name)'s, and is \(now.owner.name)'s since the manifest was read "
                    + "again: ask again")
        }
        guard interface.isDeclared else { return unknownInterface(interface.name) }
        let owner = interface.owner.name
        return BusError(
            .unavailable,
            "\(owner) runs without \(interface.name), which its row provides since the manifest was read again: "
                + "strata restart \(owner)")
    }

    private func unknownAction(_ interface: InterfaceRecord, _ action: String) -> BusError {
        let names = (interface.actions ?? []).map(\.name)
        let near = nearestNames(to: action, in: names)
        let hint =
            !near.isEmpty
            ? "did you mean \(near.joined(separator: " or "))?"
            : names.isEmpty
                ? "it has none"
                : "it has \(names.prefix(10).joined(separator: ", "))\(names.count > 10 ? " and \(names.count - 10) more" : "")"
        return BusError(.unknownAction, "the interface \(interface.name) has no action \(action): \(hint)")
    }

    @inline(never)
    private func actionRefusal(_ route: RouteTable.Route, from caller: Peer) -> BusError? {
        guard route.interface.isLive else { return notOffered(route.interface) }
        if route.isUnknownAction { return unknownAction(route.interface, Request.Bytes.text(route.action)) }
        return instanceRefusal(route.interface, route.instance, from: caller)
    }

    /// What the app's policy and the peer's role have against a call.
    @inline(never)
    /// - Parameter required: the name that the caller used, where an adapter
    ///   leads on from it: that one must be declared.
    func policyRefusal(
        _ interface: InterfaceRecord, _ header: borrowing Header, from peer: Peer, required: String? = nil
    ) -> BusError? {
        if peer.role == .launcher {
            return BusError(.forbidden, "the launcher calls bus alone, and asked for \(interface.name)")
        }
        if header.members.contains(.auth), peer.module?.row?.trusted != true {
            return BusError(
                .forbidden,
                "\(peer.displayName) said auth: skip, and its row isn't trusted: call without it, or set trusted: true")
        }
        guard let caller = peer.module, caller !== interface.owner, table.calls != .any else { return nil }
        if !LevelTable.callMayGo(from: peer.rank, to: interface.owner.rank) {
            return BusError(
                .levelViolation,
                "\(caller.name) of level \(levels.names[peer.rank]) called \(interface.name) of the later level "
                    + "\(levels.names[interface.owner.rank]), and calls are \(table.calls.rawValue): broadcast "
                    + "it, or open a URL")
        }
        if table.calls == .declared, caller.row?.requires.contains(required ?? interface.name) != true {
            return BusError(
                .undeclared,
                "\(caller.name) of level \(levels.names[peer.rank]) called \(required ?? interface.name) of level "
                    + "\(levels.names[interface.owner.rank]) without requiring it: add it to requires of its row")
        }
        return nil
    }

    /// Section 11: a request made for `module/setUp` would wait for a module
    /// that waits for the setUp.
    func startRefusal(_ header: borrowing Header, of peer: Peer, _ owner: ModuleRecord) -> BusError? {
        guard header.members.contains(.parent), let parent = openParent(header, of: peer),
            parent.pointee.isLifecycle, let module = peer.module
        else { return nil }
        let rule = "a module that starts can't wait for one that starts after it"
        let step = module.successor.flatMap { $0.peer === peer ? $0.step : nil } ?? module.step
        switch step {
        case .settingUp where !owner.isReady:
            return BusError(
                .unavailable,
                "\(owner.name) isn't ready, and the request was made in setUp of \(module.name): \(rule); make it in "
                    + "didStart, or observe")
        case .initializing where !owner.isReady && owner === module:
            return BusError(
                .unavailable,
                "\(module.name) asked itself in its initialize, and is ready only after that: make the request in "
                    + "didStart")
        case .initializing where !owner.isReady && ModuleTable.startsBefore(module, owner):
            return BusError(
                .unavailable,
                "\(owner.name) starts after \(module.name), and the request was made in its initialize: \(rule); "
                    + "make it in didStart")
        default: return nil
        }
    }

    /// Queues a call to the module that serves it.
    @inline(__always)
    func deliver(_ call: CallPointer, _ request: Request, to callee: Peer) {
        let body = request.body
        // The texts are an upper bound of what the header takes.
        let room =
            request.to.count + 64 + HeaderWriter.room(request.url) + request.trace.count + request.meta.count
            + HeaderWriter.room(request.name)
        guard fits(body.count + room + HeaderWriter.overhead / 2, callee) else {
            fail(
                call,
                BusError(
                    .overloaded,
                    "the queue to \(callee.displayName) is full: \(callee.outbox.pending) bytes wait, and "
                        + "\(table.limits.queue) may (limits.queue); wait for answers"))
            return
        }
        call.pointee.callee = .passUnretained(callee)
        call.pointee.state = .sent
        callee.addServed(call)
        callee.lastRequest = loop.now
        let remaining = remaining(call)
        let from = call.pointee.caller!._withUnsafeGuaranteedRef { $0.from }  // because a call has a caller
        call.pointee.end = queue(.call, to: callee, room: room, body: body, isAnswer: false) { writer in
            writer.integer("id", call.pointee.id)
            writer.name("to", request.to)
            writer.name("from", from)
            if request.url.count > 0 { writer.string("url", request.url) }
            writer.integer("deadline", remaining)
            writer.integer("credit", call.pointee.credit)
            if request.trace.count > 0 { writer.raw("trace", request.trace) }
            if request.meta.count > 0 { writer.raw("meta", request.meta) }
        }
        if isMonitored { monitorDelivered(call, request, to: callee) }
    }
}

extension UnsafeRawBufferPointer {
    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
