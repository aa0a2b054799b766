import StrataCore

/// How open requests end: they fail, are taken back, or are released. The requests that were made
/// for them end with them.
extension BusCore {
    /// Ends a request with an error of the bus.
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
        noteFailure(of: call, error)
        let isAnswered = call.pointee.caller?.takeUnretainedValue().isOpen == true
        if isAnswered, let caller = call.pointee.caller?.takeUnretainedValue() {
            refuse(caller, call.pointee.callerID, error)
        }
        if monitors.isOn {
            countEnd(call, isError: isAnswered)
            if call.pointee.kind == .served {
                endMonitor(call)
                endTraffic(call)
            }
        }
        release(call, "it was made for a request that ended with \(error.code)")
    }

    func fail(_ call: CallPointer, _ code: ErrorCode, _ message: String, ran: BusError.Ran = .no) {
        fail(call, BusError(code, message, ran: ran))
    }

    /// Ends a request and takes it back from its callee. If none of it has been written yet, it
    /// never reaches the callee, and `ran` is `no`. Otherwise the callee gets a `cancel`.
    /// - Parameters:
    ///   - error: the error, with the `ran` of a delivered request.
    ///   - trace: the trace that the cancel carries.
    func failAndCancel(
        _ call: CallPointer, _ error: BusError, trace: UnsafeRawBufferPointer = .none,
        meta: UnsafeRawBufferPointer = .none
    ) {
        // The question to the owner ends first: it knows whether it was delivered, and answers the
        // request.
        if let question = creation(of: call) { return failAndCancel(question, error, trace: trace, meta: meta) }
        var error = error
        if call.pointee.kind == .report {
            // Before its notices end, which know the observer.
            noteFailure(of: call, error)
            error.ran = cancelNotices(call) ? .maybe : .no
        } else if call.pointee.state == .sent, let callee = call.pointee.callee?.takeUnretainedValue() {
            if call.pointee.kind == .own, case .release = calls.purpose(of: call) {
                // The owner of an instance is always notified that it has ended, however late it
                // reads.
            } else if takeBack(call, from: callee) {
                error.ran = .no
            } else {
                writeCancel(callee, call, trace: trace, meta: meta)
            }
        } else {
            // It wasn't delivered itself, but other peers may have been called for it.
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

    /// Takes a request out of its callee's queue. First the queue is written as far as the kernel
    /// takes it: a request that was sent before its cancel must count as delivered before it. The
    /// queue of a callee whose session has ended is already dropped.
    /// - Returns: false if the request has begun to be written.
    func takeBack(_ call: CallPointer, from callee: Peer) -> Bool {
        let line = callee.line
        if callee.isOpen, line.outbox.written < call.pointee.end { host.write(to: line) }
        return callee.isOpen
            ? line.outbox.remove(endingAt: call.pointee.end) : !mayArrive(call, at: callee)
    }

    /// Ends a request whose callee's session has ended.
    func calleeEnded(_ call: CallPointer, _ error: BusError) {
        var error = error
        if let callee = call.pointee.callee?.takeUnretainedValue(), !mayArrive(call, at: callee) { error.ran = .no }
        fail(call, error)
    }

    /// Whether a request has reached, or will still reach, a peer whose session has ended. A frame
    /// that was partly written is completed if the bus ended the connection, but not if the peer
    /// closed it.
    func mayArrive(_ call: CallPointer, at callee: Peer) -> Bool {
        if let remote = callee as? RemotePeer { return remote.mayHaveGot(call.pointee.end) }
        return callee.life == .closed
            ? callee.outbox.written >= call.pointee.end : callee.outbox.hasBegun(endingAt: call.pointee.end)
    }

    /// Takes a request out of every list, and cancels the requests that were made for it.
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
        if call.pointee.hasRoot { calls.dropRoot(of: call) }
        call.leaveParent()
        // The children are unlinked before the slot is freed, which forgets them.
        let children = call.pointee.firstChild
        let id = call.pointee.id
        if children != nil {
            calls.orphanChildren(of: call, "the call \(id) that it was made for has ended: \(reason())")
        }
        calls.close(call)
        if children != nil { endOrphans() }
    }

    // One loop ends every orphan, including requests that become orphans meanwhile.
    @inline(never)
    private func endOrphans() {
        guard calls.beginEndingOrphans() else { return }
        while let (orphan, reason) = calls.takeOrphan() {
            failAndCancel(orphan, .cancelled, reason)
        }
    }

    /// Takes the copy out of a request that waited and now continues.
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

/// The checks of a request: the judge decides, from what the bus knows.
extension BusCore {
    /// Runs some of the checks on a routed call.
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

    /// Returns what is known of a request that waits or has waited.
    func facts(of request: Request, _ owner: ModuleRecord, from peer: Peer) -> LiveFacts {
        LiveFacts(
            core: self, kind: request.kind, peer: peer, owner: owner, interface: request.interface,
            name: request.kind == .report ? request.name : request.action,
            instance: Self.instanceNumber(request.to), skipsAuthorization: request.skipsAuthorization)
    }

    func unknownInterface(_ name: String) -> BusError {
        let known = routes.interfaceNames(around: name, most: 1_024) + adapters.names
        let hint = didYouMean(name, known, else: "strata routes lists the interfaces")
        return BusError(.unknownInterface, "no row and no live module provides \(name): \(hint)")
    }

    /// Returns the interface that adapters lead to from a required name; nil if there is none.
    func adapted(_ required: String) -> InterfaceRecord? {
        adapters.target(required, "", isProvided: { routes.interface($0) != nil }).flatMap {
            routes.interface($0.interface)
        }
    }

    /// Returns the step of the sender's start during which a request is made; nil if it isn't made
    /// in one.
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
