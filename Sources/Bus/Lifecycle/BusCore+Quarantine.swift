import StrataCore

/// The circuit breaker: deaths are counted per action. An action that was open alone at each of
/// them is quarantined, so the module's other actions keep working.
extension BusCore {
    /// Returns what was open in a session that ended by itself: the calls that had reached the
    /// peer. It must be called before any of them is ended.
    func death(of module: ModuleRecord, _ peer: Peer) -> ModuleDeath {
        var death = ModuleDeath(at: host.wallMicroseconds / 1_000, session: module.history.sessions)
        var open: [UInt32] = []
        var next = peer.firstServed
        while let call = next {
            next = call.pointee.served.next
            let number = call.pointee.action
            guard call.pointee.kind != .notice, !call.pointee.isLifecycle, mayArrive(call, at: peer) else { continue }
            open.append(number)
        }
        death.calls = open.count
        var seen: Set<UInt32> = []
        // The list has the newest first.
        for number in open.reversed() where seen.insert(number).inserted {
            guard death.actions.count < ModuleDeath.mostNamed, let name = routes.actionNames.name(number) else {
                death.unnamed += 1
                continue
            }
            death.actions.append(name)
        }
        return death
    }

    /// Counts a module's death against the action that was open alone.
    func count(_ death: ModuleDeath, of module: ModuleRecord) {
        // Cached routes skip the check for a quarantine, so they are made again.
        var quarantines = module.history.died(death, at: now, within: module.row?.backoffReset)
        // An action that ends one replica would end the others, too.
        if let group = module.group {
            quarantines = group.history.died(death, at: now, within: module.row?.backoffReset) || quarantines
        }
        if quarantines { routes.forgetRoutes() }
    }

    /// Forgets the deaths of a module that a person has started anew.
    func forgetDeaths(of module: ModuleRecord) {
        for record in [module, module.owning] where !record.history.deaths.isEmpty {
            record.history.forgetDeaths()
            routes.forgetRoutes()
        }
    }

    /// Returns the deaths for which an action is quarantined now; nil if it isn't.
    /// - Parameter action: `Interface/action`, as its owner sees it.
    func quarantine(_ module: ModuleRecord, _ action: @autoclosure () -> String) -> ActionDeaths.Entry? {
        guard !module.history.deaths.isEmpty else { return nil }
        if let entry = module.history.deaths.quarantined(action(), at: now) { return entry }
        if module.history.expireDeaths(at: now) { routes.forgetRoutes() }
        return nil
    }

    /// Removes the names that no open request has.
    func sweepActionNames() {
        routes.forgetRoutes()
        routes.actionNames.keep(Set(calls.open(most: .max).map(\.pointee.action)))
        forgetCountedActions()
    }

    // MARK: For `bus/modules`

    func describe(_ death: ModuleDeath) -> JSON {
        [
            "at": JSON(death.at), "calls": JSON(death.calls), "actions": JSON(death.actions),
            "unnamed": JSON(death.unnamed),
        ]
    }

    /// Describes the quarantined actions of a module; nil if there are none.
    func describeQuarantined(of module: ModuleRecord) -> JSON? {
        let quarantined = module.owning.history.deaths.quarantined(at: now)
        let wall = host.wallMicroseconds / 1_000
        return quarantined.isEmpty
            ? Optional.none
            : .array(
                quarantined.map { entry in
                    [
                        "action": .string(entry.action), "deaths": JSON(entry.deaths.count),
                        "until": JSON(wall + (entry.quarantinedUntil ?? 0) - now),
                    ]
                })
    }
}
