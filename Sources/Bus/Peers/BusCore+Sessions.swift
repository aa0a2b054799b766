import StrataCore

/// A peer's life: whether it is read, and its end, which also ends everything that it had open.
extension BusCore {
    /// Makes a peer be read again.
    func resume(_ peer: Peer) {
        peer.take(.resumed)
        event.add(.readOn(peer))
    }

    /// Handles a peer whose queue has been written. A peer that was paused for its unread answers
    /// is read again once they are within the limit.
    func hasRoom(_ peer: Peer) {
        guard peer.isOpen else { return }
        if peer.life == .open(.answersUnread), peer.outbox.pendingAnswers <= mostQueued { resume(peer) }
        if peer.owesCredit { sendOwedCredit(over: peer) }
        continueCatchingUp(peer)
        if !peer.retainedWalks.isEmpty { work.add(retainedFor: peer) }
        if peer.role == .node, let node = nodes.find(peer) {
            waitingMayGoOn(for: node)
            if !node.answers.isEmpty { work.add(retainedFor: peer) }
        }
        if !nodes.isEmpty { asksAgain(for: peer) }
        if !watches.isEmpty { feedWatches() }
        if traffic.isOn { planTraffic() }
    }

    /// Ends a connection with an error as its last frame. The session ends at once. Queued frames
    /// of which nothing was written yet are dropped.
    /// - Parameter dropsQueued: false if everything that is queued still goes out.
    func end(_ peer: Peer, _ error: BusError, id: UInt64 = 0, dropsQueued: Bool = true) {
        guard !peer.life.isOver else { return }
        let wasOpen = peer.isOpen
        // The peer counts as ended first, so that its own requests get no answers.
        move(peer, .ended)
        if wasOpen { endSession(peer, reason: error.code.rawValue) }
        if peer.role == .link { linkEnded(peer, with: error) }
        if wasOpen, peer.role == .node || peer.role == .nodeLink { nodeConnectionEnded(peer, error.code.rawValue) }
        if dropsQueued { peer.outbox.removeNotBegun() }
        writeError(peer, id: id, error)
        cancelAlarms(of: peer)
        event.add(.writeLast(peer))
    }

    func end(_ peer: Peer, _ code: ErrorCode, _ message: String, id: UInt64 = 0, dropsQueued: Bool = true) {
        end(peer, BusError(code, message), id: id, dropsQueued: dropsQueued)
    }

    /// Ends a connection once everything that it has sent is handled. If the other side closes it
    /// meanwhile, it ends like any closed connection.
    func end(_ peer: Peer, onceHeardOut farewell: BusError) {
        guard peer.isOpen, peer.farewell == nil else { return }
        peer.setFarewell(farewell)
        event.add(.hearOut(peer))
    }

    func helloTimePassed(_ peer: Peer) {
        if peer.role == .link {
            linkDidNotAnswer(peer)
        } else if peer.life == .waitingForVouch {
            end(
                peer, .forbidden,
                "the launcher did not vouch for the token of \(peer.greeting.row?.name ?? peer.displayName) within "
                    + "\(table.hello) ms: start the module through the launcher, or give its row start: manual",
                id: peer.greeting.helloID)
        } else {
            end(peer, .notRegistered, "no hello came within \(table.hello) ms: call bus/hello first")
        }
    }

    /// Ends a connection that didn't complete a frame in time.
    func frameTookTooLong(_ peer: Peer) {
        statistics.badFrames += 1
        end(peer, .badFrame, "a frame was not complete \(table.assembly) ms after its first byte: send it whole")
    }

    /// Ends a connection for bytes that are no frame, or that have no valid header.
    func refuse(_ peer: Peer, _ error: any Error) {
        statistics.badFrames += 1
        switch error {
        case let error as FrameError: end(peer, refusal(of: error, peer.life))
        case let error as HeaderError: end(peer, .badHeader, error.message)
        default: preconditionFailure("frames fail with FrameError or HeaderError, not with \(error)")
        }
    }

    /// Bounds the number of ended connections that wait for their last bytes to be read. If there
    /// are more than `most`, it closes the oldest one of the user that has the most.
    func boundLingering(_ most: Int) {
        if stage == .running, connections.pools.lingering.count > most { _ = closeLingering() }
    }

    /// Handles a connection that has closed.
    func closed(_ peer: Peer, reason: String) {
        let wasOpen = peer.isOpen
        move(peer, .closed)
        cancelAlarms(of: peer)
        if wasOpen { endSession(peer, reason: reason) }
        if peer.role == .link { linkEnded(peer) }
        if wasOpen, peer.role == .node || peer.role == .nodeLink { nodeConnectionEnded(peer, reason) }
        connections.remove(peer)
        if stage == .goodbye, connections.isEmpty { finish() }
    }

    /// Moves a peer to another phase of its life.
    func move(_ peer: Peer, _ event: PeerLife.Event) {
        connections.left(peer)
        peer.greeting.takeRow()?.removeAwaitingVouch(peer.number)
        peer.take(event)
        connections.entered(peer)
    }

    /// - Parameter reason: `closed`, or the code of the error that the bus ended it with.
    private func endSession(_ peer: Peer, reason: String) {
        // A death is a session that ends by itself, not in a stop or a replacement. It is taken
        // down before the requests end, because it depends on what is open.
        var death: ModuleDeath?
        if reason == "closed", stage == .running, let module = peer.module, module.row != nil, module.peer === peer,
            !module.isRetired
        {
            death = self.death(of: module, peer)
        }
        endMade(by: peer)
        endServed(by: peer, endingError(of: peer, reason))
        endInstances(of: peer)
        observations.removeAll(of: peer)
        peer.observations.removeAll()
        peer.retainedWalks.removeAll()
        watches.removeAll(of: peer)
        work.removeListings(of: peer)
        modules.hasDrained(peer)
        if peer === launcher {
            launcherSlot.take(nil)
            launcherLeft()
        }
        if let module = peer.module {
            if let death { count(death, of: module) }
            endRetained(of: module)
            sessionEnded(module, peer, reason: reason)
        }
    }

    /// Ends what a peer of a lost node had open here, and what was open at it.
    func endRequests(of peer: RemotePeer, _ error: BusError) {
        endMade(by: peer)
        endServed(by: peer, error)
        watches.removeAll(of: peer)
        work.removeListings(of: peer)
    }

    private func endServed(by peer: Peer, _ error: BusError) {
        guard peer.firstServed != nil else { return }
        let ended = EndedCallee(peer: peer, error: error)
        var left = stage == .running ? mostServedAtOnce : .max
        guard peer.servedCount > left else { return endServed(ended, &left) }
        // What follows the end of the session depends on the bus's own calls.
        for own in ownCalls(at: peer) where own.isOpen { calleeEnded(own.call, ended.error) }
        work.add(ended)
        advanceEndedCallees()
    }

    /// Ends calls that a peer served, `left` at most.
    fileprivate func endServed(_ ended: EndedCallee, _ left: inout Int) {
        while left > 0, let call = ended.peer.firstServed {
            left -= 1
            if call.pointee.kind == .notice, let report = call.pointee.parent {
                // This ends all notices of the report at once.
                reportTargetEnded(report, ended.peer, ended.error)
            } else {
                calleeEnded(call, ended.error)
            }
        }
    }

    private func ownCalls(at peer: Peer) -> [CallReference] {
        var own: [CallReference] = []
        var next = peer.firstServed
        while let call = next {
            next = call.pointee.served.next
            if call.pointee.kind == .own { own.append(CallReference(call)) }
        }
        return own
    }

    /// Returns the error for the requests that a session had when it ended.
    private func endingError(of peer: Peer, _ reason: String) -> BusError {
        if reason == ErrorCode.shuttingDown.rawValue, isDraining(peer), let module = peer.module {
            return BusError(
                .replaced,
                "process \(module.session.pid) took over as \(module.name), and \(peer.credentials.pid), which had the request, "
                    + "has ended: try again", ran: .maybe)
        }
        let why = reason == "closed" ? lastWord(of: peer) : "the broker ended it with \(reason)"
        return BusError(.died, "\(peer.displayName) died: \(why)", ran: .maybe)
    }

    private func sessionEnded(_ module: ModuleRecord, _ peer: Peer, reason: String) {
        // A successor or a replaced session has ended: another one serves the module.
        guard module.peer === peer else {
            if module.successor?.peer === peer { module.setSuccessor(nil) }
            if stage == .running { emitModuleLost(module, reason: reason) }
            return
        }
        endSupervision(of: peer)
        forgetRequired(by: module)
        stopCatchingUp(module)
        module.serve(by: nil)
        module.session.end()
        module.takeLevel()
        removeOffers(of: module)
        if module.row == nil {
            if hasFailedStart(module, reason: reason) { module.history.startFailed(failure(of: module, reason)) }
            module.take(.sessionEnded(.absent, isForGood: false))
            failWaiting(module, unavailable(module))
            modules.remove(module)
        } else if let successor = module.successor, successor.peer.isOpen, stage == .running, !module.isRemoved,
            !endMisfit(successor, of: module)
        {
            start.begins(again: module.number)
            module.setSuccessor(nil)
            // The successor serves at once, even if its start isn't done.
            goOn(successor, as: module)
        } else {
            // The launcher may have reported the end of the process before the connection closed.
            let isTold = (reason == "closed" || peer.farewell != nil) && !module.said.reason.isEmpty
            rowEnded(module, reason: isTold ? module.said.reason : reason)
        }
        if stage == .running { emitModuleLost(module, reason: reason) }
    }
}

/// The requests of a closed peer. No caller waits for them any more, and their callees get a
/// `cancel`. If the peer had many open requests and a light peer is connected, they end in batches.
/// The closed peer is kept until the last one has ended; an answer that still arrives is dropped.
extension BusCore {
    /// A peer with more open requests than this ends in batches.
    private static let mostEndedAtOnce = 128
    /// The requests in a batch while a light peer is connected: some ten microseconds of work.
    private static let sharedBatch = 12

    func endMade(by peer: Peer) {
        guard peer.firstMade != nil else { return }
        guard peer.life == .closed, peer.requests.count > Self.mostEndedAtOnce, stage == .running,
            isShared
        else { return endAllMade(by: peer) }
        if let first = work.add(deferredClose: peer) { endAllMade(by: first) }
    }

    /// Ends the next batch of requests of the peer that closed first.
    func advanceDeferredCloses() {
        guard let peer = work.deferredCloses.first else { return }
        let error = Self.isGone(peer)
        var left = isShared ? Self.sharedBatch : .max
        while left > 0, let call = peer.firstMade {
            left -= 1
            failAndCancel(call, error)
        }
        if peer.firstMade == nil { work.remove(deferredClose: peer) }
    }

    /// Ends all requests of closed peers, for callers that must find none.
    func finishDeferredCloses() {
        for peer in work.takeDeferredCloses() { endAllMade(by: peer) }
    }

    private func endAllMade(by peer: Peer) {
        let error = Self.isGone(peer)
        while let call = peer.firstMade { failAndCancel(call, error) }
    }

    private static func isGone(_ peer: Peer) -> BusError {
        BusError(.cancelled, "its caller, \(peer.displayName), is no longer connected", ran: .maybe)
    }
}

/// The calls that an ended peer served. If they are many, they end in batches, and the peer is kept
/// until the last one has ended.
extension BusCore {
    /// The most calls that end together with their callee's session.
    private var mostServedAtOnce: Int { isShared ? Self.sharedServed : Self.servedInBatch }
    /// The calls in a batch: while a light peer is connected some ten microseconds of work,
    /// otherwise half a millisecond.
    static let (sharedServed, servedInBatch) = (25, 1_000)

    /// Ends the next batch of calls of the peer that ended first.
    func advanceEndedCallees() {
        guard let ended = work.firstEndedCallee else { return }
        var left = mostServedAtOnce
        endServed(ended, &left)
        if ended.peer.firstServed == nil { work.removeFirstEndedCallee() }
    }
}
