import StrataCore

/// Retained broadcasts: the bus keeps the last one of each module, name and object, and observers
/// get it when they begin to observe.
extension BusCore {
    /// Keeps a broadcast that says `retain`, instead of those of its key that the session may replace.
    /// - Returns: the reason why it can't be kept.
    @inline(never)
    func retain(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer, rank: Int
    ) -> BusError? {
        // What another node's module retains is kept there.
        guard header.flags.contains(.retain), !peer.isRemote else { return nil }
        guard let module = peer.module else {
            return BusError(
                .badParams,
                "\(peer.displayName) can't retain a broadcast, because nobody could replace it: send it without "
                    + "\"retain\", or let a module send it")
        }
        let object = header.members.contains(.object) ? Array(header.object) : nil
        let names = [Array(header.name)] + aliases(header, from: peer)
        let textCost =
            names.reduce(HeaderWriter.overhead / 4) { $0 + $1.count } + header.object.count + peer.from.count
            + header.trace.count + header.meta.count
        let older = module.retained[.init(name: names[0], object: object)].filter { mayReplace($0, module, peer) }
        if let refusal = retainedRefusal(textCost + body.count, insteadOf: older, of: module) { return refusal }
        for older in older { endRetained(older, of: module) }
        let notice = KeptNotice(
            from: Array(peer.from), level: levels.nameBytes[rank], object: object, trace: Array(header.trace),
            meta: Array(header.meta), body: Payload(copying: body, reclaimer))
        let terms = RetainedBroadcast.Terms(
            module: module.number, session: peer.number, rank: rank, textCost: textCost)
        module.retained.add(retained.keep(names, notice, terms: terms))
        return nil
    }

    /// Whether a session may replace or end what its module has retained: what it has retained itself, or a session that
    /// is over, and if it serves, what one has retained that it took over from. So a start that fails changes nothing,
    /// and a session that only ends its work can't replace newer state.
    private func mayReplace(_ kept: RetainedBroadcast, _ module: ModuleRecord, _ peer: Peer) -> Bool {
        guard kept.terms.session != peer.number, let sender = connections[kept.terms.session], sender.isOpen else {
            return true
        }
        return module.peer === peer && isDraining(sender)
    }

    private func retainedRefusal(
        _ cost: Int, insteadOf older: [RetainedBroadcast], of module: ModuleRecord
    ) -> BusError? {
        let (most, mostBytes) = (table.limits.retained, table.limits.queue)
        guard !older.isEmpty || module.retained.count < most else {
            return BusError(
                .overloaded,
                "\(module.name) has \(most) retained broadcasts (limits.retained): forget some with bus/forget")
        }
        let (bytes, oldCost) = (module.retained.bytes, older.reduce(0) { $0 + $1.cost })
        guard bytes == oldCost || bytes - oldCost + cost <= mostBytes else {
            return BusError(
                .overloaded,
                "the broadcasts that \(module.name) has retained have \(bytes) bytes, and the limit is \(mostBytes) "
                    + "(limits.queue): forget some with bus/forget")
        }
        guard cost <= oldCost || hasRoom(forHeld: cost - oldCost, beside: bytes) else {
            return totalRefusal(cost - oldCost)
                ?? BusError(
                    .overloaded,
                    "the broadcasts that \(module.name) has retained have \(bytes) bytes, over an eighth of what is left "
                        + "for all peers (limits.total): forget some with bus/forget")
        }
        return nil
    }

    private func endRetained(_ kept: RetainedBroadcast, of module: ModuleRecord) {
        module.retained.remove(kept)
        retained.end(kept)
    }

    /// Ends what sessions of the module have retained that are over, unless its row keeps that. What another session has
    /// retained under the same key replaces it then.
    func endRetained(of module: ModuleRecord) {
        guard module.retained.count > 0 else { return }
        let keeps = module.row?.retained == .app && !module.isRemoved && !module.isAway
        let over = module.retained.removeAll { kept, others in
            func isOver(_ kept: RetainedBroadcast) -> Bool { connections[kept.terms.session]?.isOpen != true }
            return isOver(kept) && (!keeps || others.contains { !isOver($0) })
        }
        for kept in over { retained.end(kept) }
    }

    /// `bus/forget`: ends what the module has retained of a name, and of an object if one is given.
    func forgetRetained(_ call: BusCall) throws(BusError) -> JSON {
        let params = try call.params()
        let name = Array(try params.required("name").utf8)
        let object = try params.string("object").map { Array($0.utf8) }
        let own = call.module.retained.all.filter {
            $0.key.name == name && (object == nil || $0.key.object == object)
                && mayReplace($0, call.module, call.peer)
        }
        for kept in own { endRetained(kept, of: call.module) }
        return ["forgotten": JSON(own.count)]
    }

    // MARK: Observers

    /// Notes that an observation has begun, which gets the retained notices that match it. They go
    /// out with the idle work, or with the next `deliverRetained`.
    func observesRetained(_ observation: Observation, of peer: Peer) {
        if !nodes.isEmpty { asksNodes(for: observation) }
        guard let list = retained.list(for: observation.terms.target) else { return }
        if peer.retainedWalks.isEmpty { work.add(retainedFor: peer) }
        peer.retainedWalks.add(observation, list, before: retained.next)
    }

    /// Delivers the next batch to the peer that has waited the longest.
    func advanceRetained() {
        if let peer = work.takeRetainedFor() { deliverRetained(to: peer) }
    }

    /// The notices that cost as much to deliver as a system call.
    private static let noticesOfAWrite = 20

    /// Delivers a batch of retained notices, as far as the peer's queue has room. `hasRoom` and the
    /// idle work continue.
    func deliverRetained(to peer: Peer) {
        if peer.role == .node, let node = nodes.find(peer) { return answerAsks(of: node, over: peer) }
        guard !peer.retainedWalks.isEmpty else { return }
        var left = isShared ? FanOut.sharedBatch : FanOut.batch
        while peer.isOpen, !peer.retainedWalks.isEmpty {
            guard left > 0 else { return work.add(retainedFor: peer) }
            guard let (observation, next) = peer.retainedWalks.first(&left) else { continue }
            if let notice = next.notice, isFor(observation, next, notice) {
                guard nothingWaits(for: observation, of: peer, &left) else { return }
                let isQueued = notice.withNotice(next.name) {
                    deliverRetained($0, notice.body, to: observation, of: peer)
                }
                guard isQueued else { return }
            }
            peer.retainedWalks.passFirst()
        }
    }

    private func isFor(_ observation: Observation, _ retained: RetainedNotice, _ notice: KeptNotice) -> Bool {
        LevelRule.broadcastReaches(from: retained.rank, to: observation.terms.rank)
            && retained.module != observation.peer.module?.number
            && observation.terms.target.takes(retained, notice)
    }

    /// Whether no notice of an observation with `keep: latest` waits, which this one would replace. It
    /// may be of another sender or object, or be newer.
    func nothingWaits(for observation: Observation, of peer: Peer, _ left: inout Int) -> Bool {
        guard observation.terms.keep == .latest, !peer.outbox.hasBegun(endingAt: observation.waitingEnd) else {
            return true
        }
        host.write(to: peer)
        left -= Self.noticesOfAWrite
        return peer.outbox.hasBegun(endingAt: observation.waitingEnd)
    }

    /// Queues a retained notice.
    /// - Parameter body: its body if that is large.
    /// - Returns: false if the queue has no room for it now.
    func deliverRetained(_ notice: Notice, _ body: Payload?, to observation: Observation, of peer: Peer) -> Bool {
        let sharesBody = notice.body.count >= Outbox.largeBody
        guard fitsHeld(notice.cost, peer, new: sharesBody ? notice.cost - notice.body.count : notice.cost) else {
            return false
        }
        if monitors.isOn { monitorNotice(notice, to: peer) }
        observation.missed = observation.takeGap()
        let write = { (writer: inout HeaderWriter) in
            notice.write(to: &writer, subscription: observation.terms.id)
            if observation.missed > 0 { writer.integer("missed", UInt64(observation.missed)) }
            writer.boolean("retained", true)
        }
        observation.waitingEnd =
            if sharesBody, let body {
                queue(.notice, to: peer, room: notice.room, payload: body, isAnswer: false, write)
            } else {
                queue(.notice, to: peer, room: notice.room, body: notice.body, isAnswer: false, write)
            }
        statistics.notices += 1
        return true
    }
}
