import StrataCore

/// What waited for a module that is ready now. Its session gets it in batches, and as its queue has
/// room: first the held notices, then the requests, then what the bus does for requests. Newer
/// notices and requests wait behind these.
extension BusCore {
    /// Why a batch ends.
    private enum Pause { case batchIsOver, noRoom }

    /// The work of delivering a request, in notices.
    static let waitingRequestCost = 4
    /// The observations that cost as much to look through as a notice to deliver.
    private static let observationsOfANotice = 64

    /// Begins to deliver what waited for a module that is ready now.
    func beginCatchingUp(_ module: ModuleRecord) {
        guard module.peer != nil else { return }
        module.take(.notices)
        catchUp(module)
    }

    /// Delivers the next batch to the module that has waited the longest.
    func advanceCatchingUp() {
        guard let module = work.takeCatchingUp() else { return }
        if module.replicas == nil { catchUp(module) } else { catchUpReplicas(module) }
    }

    /// Continues with a peer whose queue has room again.
    func continueCatchingUp(_ peer: Peer) {
        guard let module = peer.module, module.peer === peer else { return }
        if module.catchingUp != .no {
            catchUp(module)
        } else if let group = module.group {
            releaseWaiting(forReplicasOf: group)
        }
    }

    /// Ends the catching up of a session that doesn't serve its module any more. What it has not got
    /// is left to the next one.
    func stopCatchingUp(_ module: ModuleRecord) {
        module.take(.no)
        if let begun = module.mailbox.takeBegun() { mailboxes.letsGo(of: begun) }
    }

    private func catchUp(_ module: ModuleRecord) {
        var left = isShared ? FanOut.sharedBatch : FanOut.batch
        switch deliverHeld(to: module, &left) ?? releaseWaiting(module, &left) {
        case .batchIsOver: work.add(catchingUp: module)
        // `hasRoom` continues.
        case .noRoom: break
        case nil:
            module.take(.no)
            if let group = module.group { releaseWaiting(forReplicasOf: group) }
        }
    }

    /// Delivers held notices. After the last one the session takes all notices itself.
    /// - Returns: nil if nothing is left.
    private func deliverHeld(to module: ModuleRecord, _ left: inout Int) -> Pause? {
        guard module.catchingUp == .notices, let peer = module.peer else { return nil }
        while let held = module.mailbox.held.first {
            var frame: UInt64?
            left -= peer.observations.count / Self.observationsOfANotice
            for observation in peer.observations.all
            where observation.terms.id > held.deliveredTo && observation.terms.target == held.observation.target {
                guard left > 0 else { return .batchIsOver }
                guard deliver(held, to: observation, of: peer, &frame) else { return .noRoom }
                module.mailbox.delivered(to: observation.terms.id)
                left -= 1
            }
            mailboxes.letsGo(of: module.mailbox.takeFirst())
            left -= 1
        }
        let gaps = module.mailbox.gaps
        module.take(.requests)
        updateMailbox(module)
        for (target, gap) in gaps {
            for observation in peer.observations.all where observation.terms.target == target { observation.gap += gap }
        }
        return nil
    }

    /// Sends the requests on that wait for a module, then continues the bus's own tasks.
    /// - Returns: nil if nothing is left.
    private func releaseWaiting(_ module: ModuleRecord, _ left: inout Int) -> Pause? {
        // A request may end this session, or lead to another one.
        while module.catchingUp == .requests, let peer = module.peer {
            let next = module.waiting.first ?? module.readyWaiters.first?.call.call
            guard let next else { return nil }
            guard left > 0 else { return .batchIsOver }
            guard hasRoom(forWaiting: next, of: peer) else { return .noRoom }
            left -= Self.waitingRequestCost
            if module.waiting.isEmpty {
                if let waiter = module.takeReadyWaiter() { settle(waiter, isReady: true) }
            } else {
                release(0, of: module, to: peer)
            }
        }
        return nil
    }

    /// Whether a request that waits would find room in its module's queue. Its bytes already count
    /// for all queues together.
    func hasRoom(forWaiting call: CallPointer, of peer: Peer) -> Bool {
        guard let held = call.pointee.held?._withUnsafeGuaranteedRef({ $0 }) else { return true }
        // A report's notice goes to several observations, and a URL and a name may be escaped.
        let copies = call.pointee.kind == .report ? max(1, peer.observations.count) : 1
        let texts = HeaderWriter.overhead + 6 * (held.copy.url.count + held.copy.name.count)
        // A file counts nowhere yet.
        let file = peer.takes(.memory) ? 0 : held.copy.file?.bodyCount ?? 0
        return peer.outbox.isEmpty || fitsRequest((held.cost + texts + file) * copies, peer, new: file)
    }
}
