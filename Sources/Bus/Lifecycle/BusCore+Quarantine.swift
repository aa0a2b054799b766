import StrataCore

/// Deaths are counted per action: one that was alone open each time is quarantined,
/// so that the module's other actions go on.
extension BusCore {
    /// What was open at a peer whose session ends by itself: of the calls that
    /// reached it. Asked before any of them is ended.
    func death(of module: ModuleRecord, _ peer: Peer) -> ModuleDeath {
        var death = ModuleDeath(at: host.wallMicroseconds / 1_000, session: module.history.sessions)
        var open: [UInt32] = []
        var next = peer.firstServed
        while let call = next {
            next = call.pointee.served.next
            let number = call.pointee.action
            guard number != ActionNames.none, mayArrive(call, at: peer) else { continue }
            open.append(number)
        }
        death.calls = open.count
        var seen: Set<UInt32> = []
        // The newest come first in the list.
        for number in open.reversed() where seen.insert(number).inserted {
            guard death.actions.count < ModuleDeath.mostNamed, let name = routes.actionNames.name(number) else {
                death.unnamed += 1
                continue
            }
            death.actions.append(name)
        }
        return death
    }

    /// A module died: its death counts against the action that was alone open.
    func count(_ death: ModuleDeath, of module: ModuleRecord) {
        if module.history.died(death, at: now, within: module.row?.backoffReset) { routes.forgetRoutes() }
    }

    /// A person started it anew: its past doesn't count.
    func forgetDeaths(of module: ModuleRecord) {
        guard !module.history.deaths.isEmpty else { return }
        module.history.forgetDeaths()
        routes.forgetRoutes()
    }

    /// The deaths for which an action is quarantined now; nil where it isn't.
    /// - Parameter action: `Interface/action`, as its owner sees it.
    func quarantine(_ module: ModuleRecord, _ action: @autoclosure () -> String) -> ActionDeaths.Entry? {
        guard !module.history.deaths.isEmpty else { return nil }
        if let entry = module.history.deaths.quarantined(action(), at: now) { return entry }
        if module.history.expireDeaths(at: now) { routes.forgetRoutes() }
        return nil
    }

    /// Lets go of the names that no open call has.
    func sweepActionNames() {
        routes.forgetRoutes()
        routes.actionNames.keep(Set(calls.open(most: .max).map(\.pointee.action)))
    }

    // MARK: For `bus/modules`

    func describe(_ death: ModuleDeath) -> JSON {
        [
            "at": JSON(death.at), "calls": JSON(death.calls), "actions": JSON(death.actions),
            "unnamed": JSON(death.unnamed),
        ]
    }

    /// Nil where no action of a module's is quarantined.
    func describeQuarantined(of module: ModuleRecord) -> JSON? {
        let quarantined = module.history.deaths.quarantined(at: now)
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
