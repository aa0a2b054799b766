import StrataCore

/// `replace: overlap`: a row's new process does its start beside the old one. Then it takes over
/// the names in one step, while the old one finishes its requests.
extension BusCore {
    /// Whether a hello comes from a row's next process, which starts beside the one that serves.
    func maySucceed(_ hello: Hello, _ module: ModuleRecord, _ serving: Peer) -> Bool {
        guard module.row?.replace == .overlap, module.successor == nil, !module.isRetired, hello.token != nil,
            let vouch = module.said.vouch
        else { return false }
        return serving.vouched != vouch.process
    }

    func joinBeside(_ peer: Peer, _ module: ModuleRecord, _ hello: Hello, _ id: UInt64) {
        register(peer, as: .module, module, rank: module.row?.rank ?? module.rank)
        let times = module.said.vouch?.spawnedAt.map { StartTimes(spawnedAt: $0, now: moment) } ?? StartTimes()
        let successor = Successor(peer, hello, times)
        successor.note(.connected, at: moment)
        module.setSuccessor(successor)
        peer.setWantsRetiring(hello.retiring)
        peer.settings = hello.settings.map(SessionSettings.init)
        admitDescriptors(hello, of: peer)
        beginOffering(peer, hello)
        answerHello(peer, id, module: module, subscriptions: observe(hello, module, peer))
        if hello.more { return }
        beginStart(of: module, peer, resumed: hello.resumed)
    }

    /// Takes a successor's next step. It starts late, so it waits for no other module.
    func advance(_ successor: Successor, _ module: ModuleRecord) {
        guard stage == .running, successor.peer.isOpen, successor.peer.offering == .over else { return }
        switch successor.step {
        case .joined:
            successor.take(.began(.settingUp))
            successor.note(.setUpBegun, at: moment)
            callStep(module, successor.peer, to: .setUp)
        case .setUp:
            successor.take(.began(.initializing))
            successor.note(.initializeBegun, at: moment)
            callStep(module, successor.peer, to: .initialized)
        case .initialized, .started: takeOver(successor, module)
        case .settingUp, .initializing: break
        }
    }

    /// Makes a successor take over because it is ready. Names, observations, reports and events
    /// pass to it together.
    func takeOver(_ successor: Successor, _ module: ModuleRecord) {
        // Earlier broadcasts belong to the old session. If delivering them ends it, the successor
        // already serves alone.
        finishFanOut()
        guard module.successor === successor, !endMisfit(successor, of: module) else { return }
        module.setSuccessor(nil)
        let old = module.peer
        if let old {
            endSupervision(of: old)
            observations.removeAll(of: old)
        }
        goOn(successor, as: module)
        if let old { leave(old, module) }
    }

    /// Makes a successor serve from now on, however far its start is. It is ready, or the session
    /// that served has ended first.
    func goOn(_ successor: Successor, as module: ModuleRecord) {
        serve(module, by: successor)
        if module.isReady {
            start.didInitialize(module.number)
            becomeReady(module)
        }
        advance(module)
        turnMayHaveChanged()
    }

    private func serve(_ module: ModuleRecord, by successor: Successor) {
        let peer = successor.peer
        for url in module.session.takeURLs() { remove(url) }
        let kept = Set(successor.offer.interfaces.map(\.name))
        for interface in module.session.interfaces where !kept.contains(interface.name) {
            module.session.remove(interface)
            remove(interface)
        }
        forgetRequired(by: module)
        stopCatchingUp(module)
        module.serve(by: peer)
        module.session.begin(peer.credentials, events: successor.events, requires: successor.requires)
        noteRequired(successor.requires + module.rowRequires, by: module)
        module.takeLevel(of: peer)
        module.said.forgetVerdict()
        module.history.forgetStartFailure()
        beginAnew(module, resumed: false)
        change(module, .wasSucceeded(at: successor.step))
        // What is held comes before newer notices.
        if module.isReady { module.take(.notices) }
        module.history.take(successor.times)
        module.history.began(isByItself: peer.vouched == nil)
        add(successor.offer, to: module)
        updateMailbox(module)
        for observation in peer.observations.all { begin(observation, of: module) }
    }

    /// Ends the process that was to take over.
    func endSuccessor(of module: ModuleRecord, _ reason: String) {
        if let successor = module.successor { end(successor.peer, .shuttingDown, reason) }
    }

    // MARK: the old session

    /// The most sessions of one module that may finish their requests beside the one that serves.
    /// If one more does, the first is ended.
    static let mostDraining = 8

    /// Lets the old session finish its requests, for `stop` at most, and notifies it if it wants
    /// that.
    private func leave(_ old: Peer, _ module: ModuleRecord) {
        let earlier = modules.draining.filter { $0.module === module }
        for peer in earlier.dropLast(Self.mostDraining - 1) { dismiss(peer, module) }
        endOffering(old)
        modules.beginsDraining(old)
        setAlarm(.finishing, of: old, after: old.stopTime)
        if old.wantsRetiring {
            callOwn(old, to: "module/retiring", deadline: old.stopTime, .retiring)
        }
    }

    func finishingTimePassed(_ old: Peer) {
        endOwned(by: old)
        tearDown(old)
    }

    /// Tears down the replaced sessions that have finished; called in each round of the loop.
    func endDrained() {
        for peer in modules.draining where peer.firstServed == nil && peer.instances.owned == 0 {
            // A session whose alarm is already gone is tearing down.
            if cancelAlarm(.finishing, of: peer) { tearDown(peer) }
        }
    }

    /// Asks a session to tear down, for which it has its row's `stop`.
    func askToTearDown(_ peer: Peer, _ purpose: OwnPurpose) {
        callOwn(peer, to: "module/tearDown", deadline: peer.stopTime, purpose)
    }

    private func tearDown(_ peer: Peer) {
        guard peer.isOpen, let module = peer.module else { return }
        askToTearDown(peer, .dismissal(module))
    }

    func dismiss(_ peer: Peer, _ module: ModuleRecord) {
        end(
            peer, .shuttingDown,
            "process \(module.session.pid) took over as \(module.name): this one, \(peer.credentials.pid), ends")
    }

    // MARK: what a session that doesn't serve may not do

    func isDraining(_ peer: Peer) -> Bool { modules.draining.contains { $0 === peer } }

    func onlyStaying(_ peer: Peer, _ module: ModuleRecord) throws(BusError) {
        guard !modules.draining.isEmpty, isDraining(peer) else { return }
        throw BusError(
            .shuttingDown,
            "process \(module.session.pid) took over as \(module.name): this one finishes its requests, and begins "
                + "nothing new")
    }

    func onlyServing(_ peer: Peer, _ module: ModuleRecord) throws(BusError) {
        try onlyStaying(peer, module)
        try require(
            module.peer === peer, .unavailable,
            "this process takes over as \(module.name) when it is ready: it can unregister after that")
    }
}

extension Peer {
    /// How long its tearDown may take, in milliseconds.
    fileprivate var stopTime: UInt64 { max(1, module?.row?.stop ?? 5_000) }
}
