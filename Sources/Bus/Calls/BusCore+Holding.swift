import StrataCore

/// Requests whose module isn't ready: they wait, within limits, and go on.
extension BusCore {
    /// Opens a request and keeps it until its module is ready.
    @discardableResult
    func hold(
        _ request: Request, _ header: borrowing Header, for owner: ModuleRecord, from peer: Peer
    ) throws(BusError) -> CallPointer {
        var facts = facts(of: request, owner, from: peer)
        facts.startStep = startStep(header, of: peer)
        try facts.check(.setAside ... .start)
        if owner.waiting.count >= table.limits.waiting { throw tooManyWait(for: owner) }
        let held = HeldRequest(HeldRequest.Copy(request), request.interface)
        try checkRoom(for: held, of: peer)
        let call = try openRequest(facts.kind == .report ? .report : .call, header, from: peer)
        keep(held, for: call, of: peer)
        wait(call, for: owner)
        return call
    }

    /// Lets what the bus does for a request wait until a module is ready.
    func wait(_ waiter: ReadyWaiter, for module: ModuleRecord) throws(BusError) {
        guard module.canTakeWaiter(table.limits.waiting) else { throw tooManyWait(for: module) }
        module.whenReady(waiter)
        want(module)
    }

    private func tooManyWait(for module: ModuleRecord) -> BusError {
        BusError(
            .overloaded,
            "\(table.limits.waiting) requests wait for \(module.name) already (limits.waiting): try later")
    }

    /// Puts an open request, whose copy is kept, behind those that wait for a
    /// module.
    func wait(_ call: CallPointer, for owner: ModuleRecord) {
        call.pointee.life.take(.held)
        call.pointee.waitsFor = .passUnretained(owner)
        owner.addWaiting(call)
        want(owner)
    }

    /// Keeps a request's copy while it waits.
    func keep(_ held: HeldRequest, for call: CallPointer, of peer: Peer) {
        call.pointee.held = .passRetained(held)
        peer.countHeld(held.cost)
        calls.keeps(held.cost)
    }

    /// Lets go on what waited for a module that is ready now, in order.
    func releaseWaiting(_ module: ModuleRecord) {
        for call in module.takeWaiting() {
            guard let caller = call.pointee.caller?.takeUnretainedValue() else { continue }
            let held = unhold(call)
            guard let callee = module.peer else {
                fail(call, unavailable(module))
                continue
            }
            held.withRequest { request in
                if call.pointee.kind == .report {
                    deliverReport(call, request, from: caller, to: module)
                } else {
                    goOn(call, request, from: caller, to: callee)
                }
            }
        }
        settle(module, isReady: true)
    }

    /// Makes the checks on a request's action, now that its owner is there, and
    /// lets it go on.
    func goOn(
        _ call: CallPointer, _ request: Request, _ header: borrowing Header = Header(), from caller: Peer,
        to callee: Peer
    ) {
        guard let interface = request.interface.map(present) else { return deliver(call, request, to: callee) }
        var request = request
        request.interface = interface
        if call.pointee.isAuthorized { request.skipsAuthorization = true }
        do throws(BusError) {
            try facts(of: request, interface.owner, from: caller).check(.setAside ... .instance)
            authorize(call, request, interface, header, from: caller, to: callee)
        } catch {
            fail(call, error)
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
}
