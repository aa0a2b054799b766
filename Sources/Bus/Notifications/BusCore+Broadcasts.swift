import StrataCore

/// Broadcasts: down the table, to each observation of a later level.
extension BusCore {
    func handleBroadcast(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        if header.members.contains(.id), !hasUsableID(header, from: peer) { return }
        guard header.members.contains(.name) else { return endForName(header, of: peer) }
        var rank = peer.rank
        if peer.role == .operator {
            if let refusal = broadcastRefusal(node: header, from: peer) {
                return refuseBroadcast(header, of: peer, refusal)
            }
            guard let level = levels.rank(header.level) else {
                statistics.badFrames += 1
                end(
                    peer, .badHeader,
                    header.members.contains(.level)
                        ? "an operator's broadcast said level \"\(header.level.text)\", and the levels are "
                            + levels.names.joined(separator: ", ")
                        : "an operator's broadcast lacks \"level\": name the level to send it from")
                return
            }
            rank = level
        }
        // Otherwise these checks can't fail.
        if peer.role.isRestricted || table.calls == .declared, let refusal = broadcastRefusal(header.name, of: peer) {
            return refuseBroadcast(header, of: peer, refusal)
        }
        var observed = observations.find(header.name)?.observations
        let further = observations.hasFurther && mayReachFurther(header.name) ? furtherWalks(header, from: peer) : []
        let observers = (observed?.count ?? 0) &+ further.reduce(0) { $0 &+ $1.observations.count }
        // A body waits once, however many peers observe it. If there is no room for it, no observer
        // gets it, and none is ended for it.
        if body.count > Self.alwaysTaken, observers > 0, let refusal = totalRefusal(body.count) {
            // The sender on another node gets no answer, so the observers are told.
            if let sender = peer as? RemotePeer {
                return noteMissed(Array(header.name), 1, of: sender.remoteNode, from: rank)
            }
            return refuseBroadcast(header, of: peer, refusal)
        }
        // Of one that can't be kept, no observer gets anything.
        if header.members.contains(.retain), let refusal = retain(header, body, from: peer, rank: rank) {
            return refuseBroadcast(header, of: peer, refusal)
        }
        statistics.broadcasts += 1
        if monitors.isOn { monitorBroadcast(header, body, from: peer) }
        // What another node's module broadcasts wakes no module here.
        let held = mailboxes.isEmpty || peer.isRemote ? 0 : box(header, body, from: peer, rank: rank)
        var nodes = 0
        if !self.nodes.isEmpty {
            // A broadcast of another node's module isn't for all observers.
            if peer.isRemote { observed = observations.find(header.name).map { audience($0, of: peer) } }
            nodes = broadcastToNodes(header, body, from: peer, rank: rank)
        }
        guard observers <= FanOut.mostAtOnce else {
            let walks = [FanOut.Walk(name: Array(header.name), observations: observed ?? [])] + further
            beginFanOut(walks, header, body, from: peer, rank: rank, held: held, nodes: nodes)
            return
        }
        let payload = body.count < Outbox.largeBody ? nil : Payload(borrowing: body, reclaimer)
        var recipients = 0
        if let observed {
            recipients = deliver(header, header.name, body, payload, to: observed, from: peer, rank: rank)
        }
        for walk in further {
            recipients += walk.name.withUnsafeBytes {
                deliver(header, $0, body, payload, to: walk.observations, from: peer, rank: rank)
            }
        }
        if let payload { queued(payload) }
        if monitors.isOn { countedBroadcast() }
        statistics.notices += UInt64(recipients)
        if header.id != 0 { answer(peer, header.id, recipients: recipients + held, nodes: nodes) }
    }

    @inline(never)
    private func refuseBroadcast(_ header: borrowing Header, of peer: Peer, _ refusal: BusError) {
        if monitors.isOn { countRefused(header, of: peer) }
        refuse(peer, header.id, refusal)
    }

    /// Answers a broadcast that has a number.
    func answer(_ peer: Peer, _ id: UInt64, recipients: Int, nodes: Int) {
        let further = self.nodes.isEmpty ? "" : ",\"nodes\":\(nodes)"
        writeReply(peer, id: id, Array("{\"recipients\":\(recipients)\(further)}".utf8))
    }

    /// Returns why a peer may not broadcast this name; nil if it may.
    @inline(never)
    func broadcastRefusal(_ name: Header.Text, of peer: Peer) -> BusError? {
        LiveFacts(core: self, kind: .broadcast, peer: peer, name: name).error(.sender ... .declaration)
    }

    /// Ends a peer whose notification has no name.
    func endForName(_ header: borrowing Header, of peer: Peer) {
        statistics.badFrames += 1
        end(peer, .badHeader, "a \(header.kind.name) lacks \"name\", the notification's")
    }

    /// Whether a broadcast may reach observations of other names. It is asked while there are patterns or adapters.
    @inline(never)
    private func mayReachFurther(_ name: Header.Text) -> Bool {
        observations.hasAliases || observations.mayHavePattern(of: name)
    }

    /// Returns the observations that a broadcast reaches besides those of its own name: those of patterns, and those of
    /// the names that adapters give it. A pattern that matches several of the names takes the first.
    @inline(never)
    private func furtherWalks(_ header: borrowing Header, from peer: Peer) -> [FanOut.Walk] {
        var walks: [FanOut.Walk] = []
        var patterns: Set<ObjectIdentifier> = []
        func add(_ name: Header.Text, _ list: ObservationTable.List) {
            walks.append(FanOut.Walk(name: Array(name), observations: audience(list, of: peer)))
        }
        func addPatterns(of name: Header.Text) {
            observations.forEachPattern(of: name) { list in
                if patterns.insert(ObjectIdentifier(list)).inserted { add(name, list) }
            }
        }
        addPatterns(of: header.name)
        for alias in aliases(header, from: peer) {
            alias.withUnsafeBytes { alias in
                if let list = observations.find(alias) { add(alias, list) }
                addPatterns(of: alias)
            }
        }
        return walks
    }

    /// Returns the names that adapters give to a broadcast.
    func aliases(_ header: borrowing Header, from peer: Peer) -> [[UInt8]] {
        adapters.hasNotices && peer.role == .module ? noticeAliases(header, from: peer) : []
    }

    /// Queues a notice to each observation of a name that belongs to a later level.
    private func deliver(
        _ header: borrowing Header, _ name: Header.Text, _ body: UnsafeRawBufferPointer, _ payload: Payload?,
        to observed: [Unmanaged<Observation>], from peer: Peer, rank: Int
    ) -> Int {
        levels.nameBytes[rank].withUnsafeBytes { level in
            let notice = Notice(
                name: name, object: header.members.contains(.object) ? header.object : nil,
                from: peer.from, node: peer.node, level: level, via: "broadcast", trace: header.trace,
                meta: header.meta, body: body)
            return deliver(notice, payload, to: observed[...], rank: rank)
        }
    }

    /// Queues a notice to each of these observations that belongs to a later level.
    func deliver(_ notice: Notice, _ payload: Payload?, to some: ArraySlice<Unmanaged<Observation>>, rank: Int) -> Int {
        var recipients = 0
        let cost = notice.cost
        // A shared body waits once, so here only the rest is new.
        let new = payload == nil ? cost : cost - notice.body.count
        var number: UInt64?
        // Ending a slow consumer removes it from the list. The slice is a copy then, and costs
        // nothing otherwise.
        for observation in some {
            observation._withUnsafeGuaranteedRef { observation in
                // Ending a slow consumer may have removed it meanwhile. Then one that shared with it takes
                // its place.
                guard !observation.isEnded else {
                    recipients += deliver(notice, payload, toHeirOf: observation, rank: rank)
                    return
                }
                observation.unretainedPeer._withUnsafeGuaranteedRef { peer in
                    guard LevelRule.broadcastReaches(from: rank, to: observation.terms.rank),
                        observation.matches(notice.object), peer.isOpen
                    else { return }
                    // Ending a peer may have made other peers send notices in between, and they use
                    // the same frame.
                    if number != observations.frame.number {
                        number = observations.frame.begin(notice, copiesBody: payload == nil)
                    }
                    if observation.isSpecial {
                        if notifySpecially(observation, notice, cost, new, payload) { recipients += 1 }
                    } else if fits(cost, peer, new: new) {
                        // A constant 0 spares the frame of nearly every notice the work of `missed`.
                        if observation.gap == 0 {
                            queueNotice(observation, of: peer, notice, payload, missed: 0)
                        } else {
                            queueNoticeBehindGap(observation, of: peer, notice, payload)
                        }
                        recipients += 1
                    } else {
                        endSlowConsumer(peer, observation, cost)
                    }
                }
            }
        }
        return recipients
    }

    /// Queues a notice to one that shared with an observation which has ended during the walk.
    @inline(never)
    private func deliver(_ notice: Notice, _ payload: Payload?, toHeirOf ended: Observation, rank: Int) -> Int {
        guard let heir = ended.sharing?.first else { return 0 }
        return deliver(notice, payload, to: [.passUnretained(heir)], rank: rank)
    }

    /// Queues a notice for an observation that shares, or keeps the latest only.
    @inline(never)
    private func notifySpecially(
        _ observation: Observation, _ notice: Notice, _ cost: Int, _ new: Int, _ payload: Payload?
    ) -> Bool {
        var observation = observation
        if let sharing = observation.sharing {
            guard let next = sharing.next({ fits(cost, $0, new: new) }) else { return false }
            observation = next
        }
        if observation.terms.keep == .latest { return notifyLatest(observation, notice, cost, new, payload) }
        let peer = observation.peer
        guard fits(cost, peer, new: new) else {
            endSlowConsumer(peer, observation, cost)
            return false
        }
        queueNoticeBehindGap(observation, of: peer, notice, payload)
        return true
    }

    /// Queues a held notice to one observation of a session that catches up.
    /// - Parameter frame: the number of the notice's frame, once it is written.
    /// - Returns: false if the queue has no room for it now.
    func deliver(
        _ held: HeldNotice, to observation: Observation, of peer: Peer, _ frame: inout UInt64?
    ) -> Bool {
        held.notice.withNotice(held.name) { notice in
            let payload = notice.body.count < Outbox.largeBody ? nil : held.notice.body
            let cost = notice.cost
            let new = payload == nil ? cost : cost - notice.body.count
            guard fitsHeld(cost, peer, new: new) else { return false }
            if frame != observations.frame.number {
                frame = observations.frame.begin(notice, copiesBody: payload == nil)
            }
            observation.gap += held.missed
            if observation.terms.keep == .latest {
                guard notifyLatest(observation, notice, cost, new, payload) else { return false }
            } else {
                queueNoticeBehindGap(observation, of: peer, notice, payload)
            }
            statistics.notices += 1
            return true
        }
    }

    private func endSlowConsumer(_ peer: Peer, _ observation: Observation, _ cost: Int) {
        statistics.slowConsumers += 1
        end(
            peer, .slowConsumer,
            "\(peer.displayName) fell behind: \(whatIsFull(cost, peer)); read sooner, or observe "
                + "\(Request.Bytes.text(observation.terms.target.name)) with keep: latest")
    }

    /// Queues a notice to an observation with `keep: latest`, of which at most one notice waits.
    /// The new one goes to the queue's end, even if the queue has no room for it. So it comes
    /// before everything that its sender sends later.
    /// - Returns: false if the peer had to be ended instead.
    private func notifyLatest(
        _ observation: Observation, _ notice: Notice, _ cost: Int, _ new: Int, _ payload: Payload?
    ) -> Bool {
        let peer = observation.peer
        // A notice that is already being written can't be replaced.
        if peer.outbox.remove(endingAt: observation.waitingEnd) {
            observation.missed += 1 + observation.takeGap()
            statistics.replaced += 1
        } else {
            observation.missed = observation.takeGap()
        }
        let isBeyond = !fits(cost, peer, new: new)
        // Such notices of a peer may together fill the queue's limit once more.
        let beyond = peer.outbox.pendingBeyond
        guard !isBeyond || (beyond == 0 || beyond + cost <= table.limits.queue) && isWithinTotal(new, peer) else {
            endSlowConsumer(peer, observation, cost)
            return false
        }
        observation.waitingEnd = queueNotice(
            observation, of: peer, notice, payload, missed: observation.missed, isBeyond: isBeyond)
        return true
    }

    /// Ends one observation of a peer that stays, and removes its notice that is waiting beyond the
    /// queue's limit.
    func endObservation(_ observation: Observation) {
        observation.peer.outbox.remove(endingAt: observation.waitingEnd, ifBeyond: true)
        observations.remove(observation)
        observation.peer.observations.remove(observation)
    }

    @inline(never)
    private func queueNoticeBehindGap(
        _ observation: Observation, of peer: Peer, _ notice: Notice, _ payload: Payload?
    ) {
        queueNotice(observation, of: peer, notice, payload, missed: observation.takeGap())
    }

    /// Queues a copy of the notice that is in `observations.frame`.
    @inline(__always)
    @discardableResult
    private func queueNotice(
        _ observation: Observation, of peer: Peer, _ notice: Notice, _ payload: Payload?, missed: Int,
        isBeyond: Bool = false
    ) -> UInt64 {
        if monitors.isOn { monitorNotice(notice, to: peer) }
        let memory = peer.outbox.reserve(observations.frame.room)
        let count = observations.frame.write(to: memory, subscription: observation.terms.id, missed: missed)
        guard let payload else {
            let end = peer.outbox.commit(inlineCount: count, isAnswer: false)
            if isBeyond { peer.outbox.countBeyond() }
            wrote(to: peer)
            return end
        }
        let end = peer.outbox.commit(inlineCount: count, payload: payload, isAnswer: false)
        if isBeyond { peer.outbox.countBeyond() }
        wrote(to: peer)
        if payload.isBorrowed { turn.borrows(peer) }
        return end
    }
}

extension KeptNotice {
    func withNotice<Result>(_ name: [UInt8], _ use: (Notice) -> Result) -> Result {
        name.withUnsafeBytes { name in
            from.withUnsafeBytes { from in
                node.withUnsafeBytes { node in
                    level.withUnsafeBytes { level in
                        (object ?? []).withUnsafeBytes { object in
                            trace.withUnsafeBytes { trace in
                                meta.withUnsafeBytes { meta in
                                    use(
                                        Notice(
                                            name: name, object: self.object == nil ? nil : object, from: from,
                                            node: node, level: level, via: "broadcast", trace: trace, meta: meta,
                                            body: body.bytes))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
