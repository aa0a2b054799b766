import StrataCore

/// `reload`: the launcher reads the manifest again, and the bus puts the new table in force, either
/// all of it or nothing.
extension BusCore {
    func reload(_ asked: BusCall) throws(BusError) {
        guard let launcher else {
            throw BusError(
                .unavailable, "no launcher is connected, and it is the launcher that reads the manifest: run strata up")
        }
        let keeps = asked.body.isEmpty ? false : try asked.params().bool("keep") ?? false
        let call = try open(asked)
        launcherSlot.add(reload: CallReference(call), keeps: keeps)
        if launcherSlot.askedReloads == nil { askForTable(launcher) }
    }

    /// Asks the launcher for a new table. Only one question is open at a time, and reloads that
    /// come meanwhile wait for the next one. It has no deadline: what the launcher has put in
    /// force, the bus must too, whether any caller still waits or not.
    private func askForTable(_ launcher: Peer) {
        // The launcher may put the table in force even if a caller's request ends early.
        for asking in launcherSlot.reloads { asking.call.pointee.stream.wasPassedOn = true }
        let body: JSON = launcherSlot.askForReloads() ? ["keep": true] : .object([])
        callOwn(launcher, to: "launcher/reload", body: body.encoded(), deadline: 0, .table)
    }

    /// Handles the launcher's answer, or its end.
    func tableAnswered(_ answer: OwnAnswer) {
        let asked = launcherSlot.takeAsked()
        let result = answer.mapError(Self.judged).flatMap { body in take(tableFrom: body) }
        launcherSlot.wasTaken(result)
        for asking in asked where asking.isOpen {
            switch result {
            case .success: self.answer(asking.call, JSON.object([]).encoded(), "the manifest was read again")
            case .failure(let error): fail(asking.call, error)
            }
        }
        endFormerOperators()
        endFormerNodeOperators()
        endFormerApps()
        endFormerLinks()
        launcherSlot.forgetEndedReloads()
        if let launcher, !launcherSlot.reloads.isEmpty { askForTable(launcher) }
    }

    /// Returns the error for the callers. What the launcher refuses changes nothing.
    private static func judged(_ error: BusError) -> BusError {
        guard error.code == .died else { return BusError(error.code, error.message) }
        return BusError(
            .unavailable, "the launcher ended before it had read the manifest, and nothing was changed: run strata up")
    }

    private func take(tableFrom body: [UInt8]) -> Result<Void, BusError> {
        do {
            try take(try AppTable(json: try BodyLimit.table.read(body, of: "the launcher's new table")))
            return .success(())
        } catch let error as BusError {
            return .failure(error)
        } catch {
            return .failure(BusError(.badParams, "the launcher's new table can't be read: \(error)"))
        }
    }

    private func take(_ new: AppTable) throws(BusError) {
        try new.mayFollow(table)
        try checkContracts(under: new)
        // Before the rows change: no guest may have the name of a row.
        endNamesakes(of: new)
        let old = table
        // Before the rows change, because it needs their old mappings.
        withdrawURLs()
        take(policyOf: new)
        let removed = modules.take(new.modules, on: new.node)
        declareInterfaces()
        declareURLs()
        takeAwayFromSuccessors()
        for module in modules.rows where !module.isRemoved { takeRow(module, old) }
        endMovedGuests()
        endSurplusGuests()
        for module in removed { remove(module) }
        for group in modules.groups where group.hasWaiters {
            if canBeWaitedFor(group) {
                releaseWaiting(forReplicasOf: group)
            } else {
                failWaiting(group, unavailable(group))
            }
        }
        noteAllRequired()
        settingsMayHaveChanged()
        turnMayHaveChanged()
        tellNodesOfRows()
    }

    /// Handles the launcher's `reloaded`: whether the table of its last answer is in force. Only
    /// then it puts the manifest in force itself.
    func reloaded(_: BusCall) throws(BusError) -> JSON {
        if let refusal = launcherSlot.refusal { throw refusal }
        return .object([])
    }

    // MARK: rows

    /// Puts a row in force that is new or that stayed.
    private func takeRow(_ module: ModuleRecord, _ old: AppTable) {
        if module.start != .eager || module.isAway { start.leave(module.number) }
        updateMailbox(module)
        endRetained(of: module)
        let before = old.modules.first { $0.name == module.name }
        if let successor = module.successor { observeAnew(module, successor.peer, before) }
        if let peer = module.peer, let row = module.row {
            observeAnew(module, peer, before)
            if module.isReady, before?.idle != row.idle || before?.ping != row.ping || before?.start != row.start {
                endSupervision(of: peer)
                supervise(module)
            }
        }
        if module.isWaitedFor, module.peer == nil {
            if let before, before.isAway(from: table.node) != module.isAway {
                failWaiting(module, BusError(.unavailable, "\(module.name) has moved to another node: try again"))
            } else if module.isAway {
                waitingMayGoOn(for: module)
            } else if canBeWaitedFor(module) {
                want(module)
            } else {
                failWaiting(module, unavailable(module))
            }
        }
    }

    /// Adds what the row newly observes, and ends what it observed only before.
    private func observeAnew(_ module: ModuleRecord, _ peer: Peer, _ before: AppTable.Row?) {
        let observed = Set((module.row?.observes ?? []).map(Observation.Target.init))
        for observation in peer.observations.all
        where observation.terms.isOfRow && !observed.contains(observation.terms.target) {
            endObservation(observation)
        }
        observeForRow(module, peer, former: before?.observes ?? [])
    }

    /// Removes a module whose row is gone. The launcher ends the processes that it started; one
    /// that was started by hand is ended here.
    private func remove(_ module: ModuleRecord) {
        start.leave(module.number)
        updateMailbox(module)
        guard let peer = module.peer else { return forget(module) }
        if module.isRetired { return }
        if let vouch = module.said.vouch, host.isAlive(vouch.process) { return }
        retire(module, peer, .removed)
    }

    /// Removes everything that is left of a module whose row is gone, including its sessions that
    /// don't serve.
    func forget(_ module: ModuleRecord) {
        let reason = "the row of \(module.name) was removed from the manifest"
        endSuccessor(of: module, reason)
        for peer in modules.draining where peer.module === module { end(peer, .shuttingDown, reason) }
        for peer in module.awaitingVouch.compactMap({ connections[$0] }) { judgeAgain(peer) }
        failWaiting(module, BusError(.unavailable, "\(reason): it isn't started again"))
        endRetained(of: module)
        change(module, .processIs(.absent), "its row was removed from the manifest")
        modules.remove(module)
    }

    // MARK: sessions that the new table has no place for

    /// Ends guests whose name now belongs to a row.
    private func endNamesakes(of new: AppTable) {
        for guest in modules.guests where new.modules.contains(where: { ReplicaName.row(of: $0.name) == guest.name }) {
            guard let peer = guest.peer else { continue }
            end(peer, .shuttingDown, "\(guest.name) is a row of the manifest now, so it is no longer a guest")
        }
    }

    /// Ends guests that have another level now.
    private func endMovedGuests() {
        guard let terms = table.guests else { return }
        for guest in modules.guests {
            guard let peer = guest.peer else { continue }
            let rank = terms.rank(of: guest.name, user: peer.credentials.uid)
            guard rank != guest.rank else { continue }
            end(
                peer, .shuttingDown,
                "the manifest gives \(guest.name) the level \(levels.names[rank]) now, and it joined in "
                    + "\(levels.names[guest.rank]): connect again")
        }
    }

    private func endSurplusGuests() {
        let most = table.guests?.most ?? 0
        for guest in modules.guests.dropFirst(most) {
            guard let peer = guest.peer else { continue }
            end(
                peer, .shuttingDown,
                most == 0
                    ? "the manifest no longer allows guests" : "the manifest allows \(most) guests now (guests.most)")
        }
    }

    /// Ends the sessions of users who are no longer operators. The reload is answered first,
    /// because an operator may have asked for it.
    private func endFormerOperators() {
        let former = connections.inOrder.filter {
            $0.role == .operator && $0.isOpen && !isOperator($0.credentials.uid)
        }
        for peer in former {
            let uid = peer.credentials.uid
            end(peer, .shuttingDown, "user \(uid) is no longer an operator in the manifest", dropsQueued: false)
        }
    }
}
