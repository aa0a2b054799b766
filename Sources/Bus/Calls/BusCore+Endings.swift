import StrataCore

/// How open requests end: failed, taken back, released, and with them those
/// that were made for them.
extension BusCore {
    /// Ends a request with an error of the bus's.
    func fail(_ call: CallPointer, _ error: BusError) {
        switch call.pointee.kind {
        case .own:
            finishOwn(call, .failure(error))
            return
        case .notice:
            noticeAnswered(call, error)
            return
        case .call, .report, .served: break
        }
        if let caller = call.pointee.caller?.takeUnretainedValue(), caller.isOpen {
            refuse(caller, call.pointee.callerID, error)
        }
        if monitors.isOn, call.pointee.kind == .served { endMonitor(call) }
        release(call, "it was made for a request that ended with \(error.code)")
    }

    func fail(_ call: CallPointer, _ code: ErrorCode, _ message: String, ran: BusError.Ran = .no) {
        fail(call, BusError(code, message, ran: ran))
    }

    /// Ends a request, and takes it back from its callee: a request that has
    /// not begun to be written never reaches it, and its verdict is `no`; one
    /// that has is cancelled there.
    /// - Parameters:
    ///   - error: with the verdict for a delivered request.
    ///   - trace: what the cancel carries on.
    func failAndCancel(
        _ call: CallPointer, _ error: BusError, trace: UnsafeRawBufferPointer = .none,
        meta: UnsafeRawBufferPointer = .none
    ) {
        var error = error
        if call.pointee.kind == .report {
            error.ran = cancelNotices(call) ? .maybe : .no
        } else if call.pointee.state == .sent, let callee = call.pointee.callee?.takeUnretainedValue() {
            if call.pointee.kind == .own, case .release = calls.purpose(of: call) {
                // The owner of an instance is told that it has ended, however late it reads.
            } else if takeBack(call, from: callee) {
                error.ran = .no
            } else {
                writeCancel(callee, id: call.pointee.id, trace: trace, meta: meta)
            }
        } else {
            error.ran = call.pointee.stream.wasPassedOn ? .maybe : .no
        }
        fail(call, error)
    }

    func failAndCancel(
        _ call: CallPointer, _ code: ErrorCode, _ message: String, trace: UnsafeRawBufferPointer = .none,
        meta: UnsafeRawBufferPointer = .none
    ) {
        failAndCancel(call, BusError(code, message, ran: .maybe), trace: trace, meta: meta)
    }

    /// Takes a request out of its callee's queue; false where it has begun to
    /// be written. What came in one turn goes out first, as far as the kernel
    /// takes it: a request sent before its cancel was delivered before it. The queue of a callee
    /// whose session has ended is dropped already.
    func takeBack(_ call: CallPointer, from callee: Peer) -> Bool {
        if callee.isOpen, callee.outbox.written < call.pointee.end { host.write(to: callee) }
        return callee.isOpen
            ? callee.outbox.remove(endingAt: call.pointee.end) : !mayArrive(call, at: callee)
    }

    /// Ends a request whose callee is gone.
    func calleeEnded(_ call: CallPointer, _ error: BusError) {
        var error = error
        if let callee = call.pointee.callee?.takeUnretainedValue(), !mayArrive(call, at: callee) { error.ran = .no }
        fail(call, error)
    }

    /// Whether a request has reached a peer whose session has ended, or still
    /// will: a frame that has begun goes out to its end where the bus ended
    /// the connection, and doesn't where the peer did.
    func mayArrive(_ call: CallPointer, at callee: Peer) -> Bool {
        callee.life == .closed
            ? callee.outbox.written >= call.pointee.end : callee.outbox.hasBegun(endingAt: call.pointee.end)
    }

    /// Takes a request out of every list; requests made for it are cancelled.
    @inline(__always)
    func release(_ call: CallPointer, _ reason: @autoclosure () -> String) {
        calls.disarm(call)
        if let caller = call.pointee.caller?._withUnsafeGuaranteedRef({ $0 }) {
            caller.requests.remove(call.pointee.callerID)
            caller.removeMade(call)
        }
        call.pointee.callee?._withUnsafeGuaranteedRef { callee in
            callee.removeServed(call)
            if call.pointee.kind != .own { callee.wasUsed(at: now) }
        }
        if call.pointee.held != nil { dropHeld(call) }
        if let adaptation = call.pointee.adaptation {
            adaptation.release()
            call.pointee.adaptation = nil
        }
        call.leaveParent()
        let children = call.pointee.firstChild
        let id = call.pointee.id
        if children != nil {
            calls.orphanChildren(of: call, "the call \(id) that it was made for has ended: \(reason())")
        }
        calls.close(call)
        if children != nil { endOrphans() }
    }

    @inline(never)
    private func endOrphans() {
        guard calls.beginEndingOrphans() else { return }
        while let (orphan, reason) = calls.takeOrphan() {
            failAndCancel(orphan, .cancelled, reason)
        }
    }

    /// Takes the copy out of a request that waited, which goes on.
    func unhold(_ call: CallPointer) -> HeldRequest {
        let held = call.pointee.held!.takeRetainedValue()  // because a held call has its copy
        call.pointee.held = nil
        call.pointee.waitsFor = nil
        call.pointee.life.take(.released)
        calls.letsGo(of: held.cost)
        call.pointee.caller?.takeUnretainedValue().countHeld(-held.cost)
        return held
    }

    private func dropHeld(_ call: CallPointer) {
        if let module = call.pointee.waitsFor?.takeUnretainedValue() {
            module.removeWaiting(call)
        }
        _ = unhold(call)
    }
}

/// What is against a request: the judge decides it, from what the bus knows.
extension BusCore {
    /// Asks some of the checks on a routed call.
    @inline(never)
    func check(
        _ route: RouteTable.Route, _ header: borrowing Header, from peer: Peer, _ checks: ClosedRange<Check>
    ) throws(BusError) {
        let refusal = route.action.withUnsafeBytes { action in
            LiveFacts(
                core: self, kind: .call, peer: peer, owner: route.owner, interface: route.interface, name: action,
                required: route.required, instance: route.instance,
                skipsAuthorization: header.members.contains(.auth)
            ).error(checks)
        }
        if let refusal { throw refusal }
    }

    /// What is known of a request that waits, or has waited.
    func facts(of request: Request, _ owner: ModuleRecord, from peer: Peer) -> LiveFacts {
        LiveFacts(
            core: self, kind: request.kind, peer: peer, owner: owner, interface: request.interface,
            name: request.kind == .report ? request.name : request.action,
            instance: Self.instanceNumber(request.to), skipsAuthorization: request.skipsAuthorization)
    }

    func unknownInterface(_ name: String) -> BusError {
        let known = routes.interfaceNames(around: name, most: 1_024) + adapters.names
        let hint = didYouMean(name, known, else: "strata routes lists those there are")
        return BusError(.unknownInterface, "no row and no live module provides \(name): \(hint)")
    }

    /// The interface that adapters lead to from a required name.
    func adapted(_ required: String) -> InterfaceRecord? {
        adapters.target(required, "", isProvided: { routes.interface($0) != nil }).flatMap {
            routes.interface($0.interface)
        }
    }

    /// The step of its sender's start that a request is made for.
    func startStep(_ header: borrowing Header, of peer: Peer) -> StartStep? {
        guard header.members.contains(.parent), let parent = openParent(header, of: peer),
            parent.pointee.isLifecycle, let module = peer.module
        else { return nil }
        switch module.successor.flatMap({ $0.peer === peer ? $0.step : nil }) ?? module.life.step {
        case .settingUp: return .setUp
        case .initializing: return .initialize
        case .none, .joined, .setUp, .initialized, .started: return nil
        }
    }
}
