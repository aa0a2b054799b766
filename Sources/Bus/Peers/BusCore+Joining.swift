import StrataCore

/// How a peer that was admitted joins: its role, its observations, hello's answer.
extension BusCore {
    func register(_ peer: Peer, as role: Peer.Role, _ module: ModuleRecord? = nil, rank: Int = 0) {
        // Modules' sessions are counted by their role.
        peer.identify(as: role, module, rank: rank)
        move(peer, .admitted)
        cancelAlarm(.hello, of: peer)
    }

    func join(_ peer: Peer, _ module: ModuleRecord, _ hello: Hello, _ id: UInt64) {
        register(peer, as: .module, module, rank: module.rank)
        module.serve(by: peer)
        module.session.begin(peer.credentials, events: hello.events, requires: hello.requires)
        beginAnew(module, resumed: hello.resumed)
        noteHello(of: module, resumed: hello.resumed)
        module.history.began(isByItself: peer.vouched == nil)
        add(hello.offer, to: module)
        peer.setWantsRetiring(hello.retiring)
        beginOffering(peer, hello)
        answerHello(peer, id, module: module, subscriptions: observe(hello, module, peer))
        joined(module, resumed: hello.resumed && !hello.more)
    }

    /// Where a person has started it, its deaths are forgotten: through the
    /// launcher, or by hand, where nobody vouched for it.
    func beginAnew(_ module: ModuleRecord, resumed: Bool) {
        guard module.said.vouch?.isByHand ?? !resumed else { return }
        module.said.takeByHand()
        forgetDeaths(of: module)
    }

    /// Hello's observations, or those of a further part; behind the last part's the
    /// row's that are not among the peer's.
    func observe(_ part: Hello, _ module: ModuleRecord, _ peer: Peer) -> [UInt64] {
        let first = peer.observations.count
        for own in part.observes { addObservation(own, peer) }
        observeForRow(module, peer)
        return peer.observations.all[first...].map(\.terms.id)
    }

    /// What the module's row observes and the peer, which has said all, doesn't.
    func observeForRow(_ module: ModuleRecord, _ peer: Peer) {
        guard peer.offering == .over, let observes = module.row?.observes, !observes.isEmpty else { return }
        var observed = Set(peer.observations.all.map(\.terms.target))
        for own in observes where observed.insert(Observation.Target(own)).inserted {
            addObservation(own, peer, isOfRow: true)
        }
    }

    @discardableResult
    func addObservation(_ observed: AppTable.Observed, _ peer: Peer, isOfRow: Bool = false) -> UInt64 {
        let terms = Observation.Terms(
            id: peer.observations.next, target: Observation.Target(observed), keep: observed.keep, rank: peer.rank,
            isOfRow: isOfRow)
        let observation = Observation(terms, of: peer)
        peer.observations.add(observation)
        // A successor's are in force when it takes over.
        if peer.module?.peer === peer { observations.add(observation) }
        return terms.id
    }

    func answerHello(_ peer: Peer, _ id: UInt64, module: ModuleRecord?, subscriptions: [UInt64]) {
        let reply: JSON = [
            "app": .string(table.app),
            "env": .string(table.env),
            "module": module.map { .string($0.name) } ?? .null,
            "level": module == nil ? .null : .string(levels.names[peer.rank]),
            "rank": module == nil ? .null : JSON(peer.rank),
            "levels": JSON(levels.names),
            "schemes": JSON(table.schemes),
            "settings": table.settings,
            "launchOptions": table.launchOptions,
            "subscriptions": .array(subscriptions.map { JSON($0) }),
            "limits": table.limits.json(),
        ]
        writeReply(peer, id: id, reply)
    }
}

/// A hello that says `more`: the session says the rest of what it brings with
/// `bus/register`, and its start begins after the last part.
extension BusCore {
    /// A hello was taken.
    func beginOffering(_ peer: Peer, _ hello: Hello) {
        guard hello.more else { return }
        peer.setOffering(hello.resumed ? .resuming : .starting)
        setAlarm(.offering, of: peer, after: table.startup)
    }

    func offeringTimePassed(_ peer: Peer) {
        end(
            peer, .failed,
            "hello of \(peer.displayName) said \"more\", and no bus/register without it came within "
                + "\(table.startup) ms (startup): its start failed")
    }

    /// All is said, or it is too late to say more.
    func endOffering(_ peer: Peer) {
        guard peer.offering != .over else { return }
        peer.setOffering(.over)
        cancelAlarm(.offering, of: peer)
    }

    /// The start of a session that has said all that it brings.
    func beginStart(of module: ModuleRecord, _ peer: Peer, resumed: Bool) {
        guard stage == .running else { return }
        if let successor = module.successor, successor.peer === peer {
            if resumed { successor.take(.joined(resumed: true)) }
            advance(successor, module)
        } else if module.peer === peer, !module.isRetired {
            joined(module, resumed: resumed)
        }
    }

    /// What a row provides its module brings.
    func checkProvided(_ names: Set<String>, _ module: ModuleRecord) throws(BusError) {
        for provided in module.row?.provides ?? [] where !names.contains(provided) {
            throw BusError(
                .badParams, "hello of \(module.name) lacks the interface \(provided), which its row provides: bring it")
        }
    }
}
