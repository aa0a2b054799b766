import StrataCore

/// Notices for rows that no session serves: those that wake a row are held and start it, the others
/// are counted.
extension BusCore {
    /// Sets which of a module's observations its mailbox takes, after its session or its row has
    /// changed. A ready session that has got the held notices takes all notices itself. Any other
    /// leaves those that wake its row to the mailbox. So no held notice comes after a newer one.
    func updateMailbox(_ module: ModuleRecord) {
        guard let row = module.row, module.replicas == nil else { return }
        var observed: [BoxedObservation] = []
        let takesAll = module.isReady && module.peer != nil && module.catchingUp != .notices
        if !module.isRemoved, !module.isAway, !takesAll {
            var targets: Set<Observation.Target> = []
            // What replicas share, another one gets.
            for own in row.observes where !own.share && (module.peer == nil || row.wakes.contains(own.name)) {
                guard targets.insert(Observation.Target(own)).inserted else { continue }
                observed.append(BoxedObservation(own, of: module, wakes: row.wakes.contains(own.name)))
            }
        }
        guard !observed.isEmpty || !module.mailbox.observations.isEmpty else { return }
        for own in module.mailbox.observations { mailboxes.remove(own) }
        for notice in module.mailbox.take(observed) { mailboxes.letsGo(of: notice) }
        for own in observed { mailboxes.add(own) }
        guard let peer = module.peer else { return }
        for observation in peer.observations.all {
            let isHeld = module.mailbox.holds(observation.terms.target)
            guard isHeld != observation.isEnded else { continue }
            if isHeld {
                observations.remove(observation)
                peer.retainedWalks.remove(observation)
            } else {
                begin(observation, of: module)
            }
        }
    }

    /// Holds or counts a broadcast for the rows that no session serves.
    /// - Returns: the number of observations for which it is held.
    @inline(never)
    func box(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer, rank: Int) -> Int {
        var kept: KeptNotice?
        guard mailboxes.mayHavePattern(of: header.name) || observations.hasAliases else {
            // Most broadcasts wake nobody, and end here.
            guard let list = mailboxes.find(header.name) else { return 0 }
            return box(Array(header.name), list.observations, header, body, &kept, from: peer, rank: rank)
        }
        var patterns: Set<ObjectIdentifier> = []
        // All are looked up first, because asking the launcher may change the lists.
        let found = ([Array(header.name)] + aliases(header, from: peer)).map { name in
            var observed: [BoxedObservation] = []
            name.withUnsafeBytes { name in
                observed = mailboxes.find(name)?.observations ?? []
                mailboxes.forEachPattern(of: name) { list in
                    if patterns.insert(ObjectIdentifier(list)).inserted { observed += list.observations }
                }
            }
            return (name, observed)
        }
        return found.reduce(0) { $0 + box($1.0, $1.1, header, body, &kept, from: peer, rank: rank) }
    }

    private func box(
        _ name: [UInt8], _ observed: [BoxedObservation], _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        _ kept: inout KeptNotice?, from peer: Peer, rank: Int
    ) -> Int {
        let object = header.members.contains(.object) ? header.object : nil
        let texts =
            name.count + header.object.count + peer.from.count + header.trace.count + header.meta.count
            + HeaderWriter.overhead / 4
        var count = 0
        for own in observed
        where LevelRule.broadcastReaches(from: rank, to: own.module.rank) && own.target.matches(object) {
            guard own.wakes, canBeWaitedFor(own.module) else {
                own.module.mailbox.miss(own)
                continue
            }
            want(own.module)
            // A body that is held already counts.
            guard hasRoom(forHeld: kept == nil ? texts + body.count : texts, beside: own.module.mailbox.bytes) else {
                own.module.mailbox.miss(own)
                continue
            }
            let notice = kept ?? keep(header, body, from: peer, rank: rank)
            kept = notice
            hold(HeldNotice(observation: own, name: name, notice: notice, rank: rank, textCost: texts))
            count += 1
        }
        return count
    }

    private func keep(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer, rank: Int
    ) -> KeptNotice {
        KeptNotice(
            from: Array(peer.from), level: levels.nameBytes[rank],
            object: header.members.contains(.object) ? Array(header.object) : nil, trace: Array(header.trace),
            meta: Array(header.meta), body: Payload(copying: body, reclaimer))
    }

    private func hold(_ notice: HeldNotice) {
        mailboxes.holds(notice)
        let (replaced, dropped) = notice.observation.module.mailbox.hold(notice, most: table.limits.queue)
        statistics.replaced += UInt64(replaced)
        for notice in dropped { mailboxes.letsGo(of: notice) }
    }

    /// Drops what is held for a module that can't be started.
    func dropHeldNotices(of module: ModuleRecord) {
        for notice in module.mailbox.dropHeld() { mailboxes.letsGo(of: notice) }
    }
}
