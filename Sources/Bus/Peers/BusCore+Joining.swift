import StrataCore

/// How an admitted peer joins: its role, its observations, and the answer to its hello.
extension BusCore {
    func register(_ peer: Peer, as role: Peer.Role, _ module: ModuleRecord? = nil, rank: Int = 0) {
        // The role is set before the move, because sessions of modules are counted by role.
        peer.identify(as: role, module, rank: rank)
        move(peer, .admitted)
        cancelAlarm(.hello, of: peer)
    }

    func join(_ peer: Peer, _ module: ModuleRecord, _ hello: Hello, _ id: UInt64) {
        register(peer, as: .module, module, rank: module.rank)
        module.serve(by: peer)
        updateMailbox(module)
        module.session.begin(peer.credentials, events: hello.events, requires: hello.requires)
        noteRequired(hello.requires + module.rowRequires, by: module)
        beginAnew(module, resumed: hello.resumed)
        noteHello(of: module, resumed: hello.resumed)
        module.history.began(isByItself: peer.vouched == nil)
        add(hello.offer, to: module)
        peer.setWantsRetiring(hello.retiring)
        peer.settings = hello.settings.map(SessionSettings.init)
        admitDescriptors(hello, of: peer)
        beginOffering(peer, hello)
        answerHello(peer, id, module: module, subscriptions: observe(hello, module, peer))
        deliverRetained(to: peer)
        // With `more`, even a resumed session isn't ready before its last part.
        joined(module, resumed: hello.resumed && !hello.more)
    }

    /// Forgets a module's deaths if a person has started it: through the launcher, or by hand,
    /// without a vouch.
    func beginAnew(_ module: ModuleRecord, resumed: Bool) {
        guard module.said.vouch?.isByHand ?? !resumed else { return }
        module.said.takeByHand()
        forgetDeaths(of: module)
    }

    /// Adds the observations of hello or of a further part. The last part also adds those of the
    /// row that the peer doesn't have yet.
    /// - Returns: the numbers of the added observations.
    func observe(_ part: Hello, _ module: ModuleRecord, _ peer: Peer) -> [UInt64] {
        let first = peer.observations.count
        for own in part.observes { addObservation(own, peer) }
        observeForRow(module, peer)
        return peer.observations.all[first...].map(\.terms.id)
    }

    /// Adds the row's observations that the peer doesn't have, once the peer has registered
    /// everything.
    /// - Parameter former: what the row observed before a reload. The peer has these observations, or
    ///   has ended them.
    func observeForRow(_ module: ModuleRecord, _ peer: Peer, former: [AppTable.Observed] = []) {
        guard peer.offering == .over, let observes = module.row?.observes, !observes.isEmpty else { return }
        var observed = Set(peer.observations.all.map(\.terms.target) + former.map(Observation.Target.init))
        for own in observes where observed.insert(Observation.Target(own)).inserted {
            addObservation(own, peer, isOfRow: true)
        }
    }

    @discardableResult
    func addObservation(_ observed: AppTable.Observed, _ peer: Peer, isOfRow: Bool = false) -> UInt64 {
        let terms = Observation.Terms(
            id: peer.observations.next, target: Observation.Target(observed), keep: observed.keep, rank: peer.rank,
            isOfRow: isOfRow,
            // What wakes the row is held for each replica.
            share: observed.share && peer.module?.row?.wakes.contains(observed.name) != true)
        let observation = Observation(terms, of: peer)
        peer.observations.add(observation)
        // Those of a successor take effect when it takes over.
        if let module = peer.module, module.peer === peer { begin(observation, of: module) }
        return terms.id
    }

    /// Makes an observation get notices, those first that are retained for it.
    func begin(_ observation: Observation, of module: ModuleRecord) {
        putInForce(observation, of: module)
        if !observation.isEnded { observesRetained(observation, of: observation.peer) }
    }

    /// Makes an observation get notices, unless they go to the row's mailbox for now.
    func putInForce(_ observation: Observation, of module: ModuleRecord) {
        if module.mailbox.holds(observation.terms.target) {
            observation.isEnded = true
        } else {
            putInForce(observation)
        }
    }

    func putInForce(_ observation: Observation) {
        if !nodes.isEmpty { observation.subscription = subscription(for: observation.terms) }
        observations.add(observation)
    }

    func answerHello(_ peer: Peer, _ id: UInt64, module: ModuleRecord?, subscriptions: [UInt64]) {
        let settings = settings(for: peer, module)
        func reply(_ settings: JSON) -> JSON {
            [
                "app": .string(table.app),
                "env": .string(table.env),
                "module": module.map { .string($0.name) } ?? .null,
                "level": module == nil ? .null : .string(levels.names[peer.rank]),
                "rank": module == nil ? .null : JSON(peer.rank),
                "levels": JSON(levels.names),
                "schemes": JSON(table.schemes),
                "settings": settings,
                "launchOptions": table.launchOptions,
                "subscriptions": .array(subscriptions.map { JSON($0) }),
                "limits": table.limits.json(),
                "features": JSON(BrokerFeature.all + (nodes.isEmpty ? [] : [BrokerFeature.node])),
            ]
        }
        writeReply(peer, id: id, reply(settings.json), shown: settings.shown.map(reply))
    }
}

/// A hello with `more`: the session registers the rest of what it brings with `bus/register`, and
/// its start begins after the last part.
extension BusCore {
    /// Begins the parts of a session whose hello was accepted.
    func beginOffering(_ peer: Peer, _ hello: Hello) {
        guard hello.more else { return }
        peer.setOffering(hello.resumed ? .resuming : .starting)
        setAlarm(.offering, of: peer, after: table.startup)
    }

    func offeringTimePassed(_ peer: Peer) {
        guard let module = peer.module else { return }
        failStart(
            of: module, peer, "it did not send all parts of its hello within \(duration(table.startup))",
            "hello of \(peer.displayName) said \"more\", and no bus/register without it came within "
                + "\(table.startup) ms (startup): its start failed")
    }

    /// Ends the parts: everything is registered, or it is too late for more.
    func endOffering(_ peer: Peer) {
        guard peer.offering != .over else { return }
        peer.setOffering(.over)
        cancelAlarm(.offering, of: peer)
    }

    /// Begins the start of a session that has registered everything that it brings.
    func beginStart(of module: ModuleRecord, _ peer: Peer, resumed: Bool) {
        guard stage == .running else { return }
        if let successor = module.successor, successor.peer === peer {
            if resumed {
                successor.take(.joined(resumed: true))
                giveSettings(to: peer, module)
            }
            advance(successor, module)
        } else if module.peer === peer, !module.isRetired {
            joined(module, resumed: resumed)
        }
    }

    /// Checks that a module brings every interface that its row provides.
    func checkProvided(_ names: Set<String>, _ module: ModuleRecord) throws(BusError) {
        for provided in module.row?.provides ?? [] where !names.contains(provided) {
            throw BusError(
                .badParams, "hello of \(module.name) lacks the interface \(provided), which its row provides: add it")
        }
    }
}
