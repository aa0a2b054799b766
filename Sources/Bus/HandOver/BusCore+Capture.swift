import StrataCore

/// Capturing everything that a broker knows. It is done only between two rounds of the loop, when
/// no frame is being handled and everything that could be written is written.
///
/// Waiting bytes aren't copied. The state refers to them until it is written, which is before the
/// bus does anything else.
extension BusCore {
    /// - Parameter scope: everything, or a sample for a trial.
    func capture(_ scope: inout CaptureScope) -> BrokerState {
        var state = BrokerState()
        state.table = table.json().encoded()
        state.user = user
        state.linkVouch = nodes.vouch
        state.nodes = nodes.nodes.map { node in
            var state = NodeState()
            state.node = node.name
            node.sent.capture(into: &state, most: scope.most)
            node.received.capture(into: &state, most: scope.most)
            return state
        }
        captureModules(into: &state, &scope)
        // The roles that an earlier build doesn't know come first, so that each trial sees them.
        // The link connects anew, with the bus that continues.
        let peers = connections.inOrder.filter { $0.role != .node && $0.role != .nodeLink }
        let isOfApp = { (peer: Peer) in peer.role == .app || peer.role == .link }
        let inOrder = scope.isWhole ? peers : peers.filter(isOfApp) + peers.filter { !isOfApp($0) }
        state.peers = scope.some(inOrder).map { capture($0, &scope) }
        state.next.peer = connections.next
        state.launcherSlot.peer = launcher?.number ?? 0
        state.launcherSlot.process = launcherSlot.process
        state.draining = modules.draining.map(\.number)
        captureCalls(into: &state, &scope)
        state.instances = instances.live(most: scope.most).map { instance in
            var state = InstanceState()
            state.number = instance.number
            state.interface = reference(instance.interface)
            state.creator = instance.creator.number
            state.owner = instance.owner.number
            state.isPending = instance.isPending
            return state
        }
        state.next.instance = instances.next
        captureStreams(into: &state, scope)
        captureRetained(into: &state, &scope)
        state.payloads = scope.payloads.payloads.map { .pieces([$0.bytes]) }
        for (place, payload) in scope.payloads.payloads.enumerated() {
            guard let descriptors = payload.descriptors else { continue }
            scope.handsOn(descriptors)
            state.descriptors.append(DescriptorState(descriptors, payload: place))
        }
        state.handedOn = scope.handedOn
        // The next program begins without notes and counts, and waits anew for the nodes.
        let lasting = alarms.all.filter { !Alarms.Alarm.Kind.ofThisProgram.contains($0.alarm.kind) }
        state.alarms = scope.some(lasting).map { alarm, due in
            var state = AlarmState()
            (state.kind, state.peer, state.due) = (alarm.kind, alarm.peer, due)
            return state
        }
        state.statistics = statistics
        let counted = durations.counted
        state.durations.slots = counted.map(\.slot)
        state.durations.counts = counted.map(\.count)
        state.durations.largest = durations.largest
        state.handOvers = scope.some(replacement.waiting.filter(\.isOpen)).map(CallReferenceState.init)
        return state
    }

    private func captureStreams(into state: inout BrokerState, _ scope: borrowing CaptureScope) {
        state.watches = scope.some(watches.watches).filter(\.asking.isOpen).map { watch in
            var state = WatchState()
            state.call = CallReferenceState(watch.asking)
            state.changed = watch.changed.map(\.number)
            return state
        }
        state.monitors = scope.some(monitors.monitors).map { monitor in
            MonitorState(
                call: CallReferenceState(CallReference(monitor.call)), wanted: monitor.wanted,
                missed: monitor.untold)
        }
        state.traffic = scope.some(traffic.streams).map { CallReferenceState(CallReference($0.call)) }
        state.launcherSlot.reloads = scope.some(launcherSlot.reloads).filter(\.isOpen).map(CallReferenceState.init)
        state.launcherSlot.isAsked = launcherSlot.askedReloads != nil
        state.launcherSlot.refusalCode = launcherSlot.refusal?.code.rawValue ?? ""
        state.launcherSlot.refusal = launcherSlot.refusal?.message ?? ""
        state.launcherSlot.asked = (launcherSlot.askedReloads ?? []).map(CallReferenceState.init)
    }

    // MARK: modules

    private func captureModules(into state: inout BrokerState, _ scope: inout CaptureScope) {
        state.modules = scope.some(modules.all + modules.groups).map { capture($0, &scope) }
        state.next.module = modules.nextNumber
        // The table in force no longer has the rows that a reload removed.
        var removed = AppTable(app: table.app)
        // As the table's reader wants, because rows refer to them.
        (removed.levels, removed.nodes) = (table.levels, table.nodes)
        removed.modules = modules.rows.filter(\.isRemoved).compactMap(\.row)
        state.removedRows = removed.json().encoded()
        state.start = start
    }

    private func capture(_ module: ModuleRecord, _ scope: inout CaptureScope) -> ModuleState {
        var state = ModuleState()
        state.number = module.number
        state.name = module.name
        state.isGuest = module.row == nil
        state.isRemoved = module.isRemoved
        state.place = module.place
        state.rank = module.rank
        state.peer = module.peer?.number ?? 0
        state.successor = module.successor.map {
            SuccessorState(peer: $0.peer.number, brought: $0.brought, step: $0.step, times: $0.times)
        }
        state.life = module.life
        state.session = module.session
        state.offer = module.offer
        state.said = module.said
        state.history = module.history
        state.waiting = scope.some(module.waiting).map(\.pointee.slot)
        state.readyWaiters = scope.some(module.readyWaiters).filter(\.call.isOpen).map(capture)
        state.mailbox = module.mailbox.capture(
            &scope.payloads, isWhole: scope.isWhole, isOwed: module.catchingUp == .notices)
        state.catchingUp = module.catchingUp
        state.formerSecrets = module.formerSecrets
        state.isGroup = module.replicas != nil
        state.keySlots = module.replicas?.slots ?? []
        state.waitingEvents = scope.some(module.waitingEvents).filter(\.isOpen).map(CallReferenceState.init)
        return state
    }

    private func capture(_ waiter: ReadyWaiter) -> ReadyWaiterState {
        var state = ReadyWaiterState()
        state.call = CallReferenceState(waiter.call)
        switch waiter {
        case .creation(_, let interface):
            state.isCreation = true
            state.interface = reference(interface)
        case .authorization(_, let interface): state.interface = reference(interface)
        }
        return state
    }

    func reference(_ interface: InterfaceRecord) -> InterfaceReference {
        var state = InterfaceReference()
        state.name = interface.name
        state.owner = interface.owner.number
        state.ownerName = interface.owner.name
        state.isPresent = routes.interface(interface.name) === interface
        return state
    }

    // MARK: peers

    private func capture(_ peer: Peer, _ scope: inout CaptureScope) -> PeerState {
        var state = PeerState()
        state.number = peer.number
        state.credentials = peer.credentials
        state.vouched = peer.vouched
        state.farewell = peer.farewell?.message
        state.life = peer.life
        state.role = peer.role
        state.module = peer.module?.number ?? -1
        state.rank = peer.rank
        if scope.isWhole {
            state.output = peer.outbox.contents(&scope.payloads)
            for descriptors in peer.descriptors?.received ?? [] {
                scope.handsOn(descriptors)
                state.received.append(DescriptorState(descriptors))
            }
        }
        state.takesDescriptors = peer.takes(.descriptors)
        state.takesMemory = peer.takes(.memory)
        state.observations = scope.some(peer.observations.all).map {
            ObservationState(terms: $0.terms, waitingEnd: $0.waitingEnd, missed: $0.missed, gap: $0.gap)
        }
        state.nextSubscription = peer.observations.next
        state.owesCredit = peer.owesCredit
        state.openReleases = peer.instances.openReleases
        state.lastRequest = peer.lastRequest
        state.stopAttempts = peer.stopAttempts
        state.awaitedRow = peer.greeting.row?.number ?? -1
        state.helloID = peer.greeting.helloID
        state.offering = peer.offering
        state.wantsRetiring = peer.wantsRetiring
        state.settings = peer.settings
        state.retainedWalks = peer.retainedWalks.state
        state.otherApp = peer.otherApp
        if peer.role == .link { state.link = links.find(peer).map(LinkState.init) }
        var call = peer.firstMade
        while let made = call, state.made.count < scope.most {
            state.made.append(made.pointee.slot)
            call = made.pointee.made.next
        }
        call = peer.firstServed
        while let served = call, state.served.count < scope.most {
            state.served.append(served.pointee.slot)
            call = served.pointee.served.next
        }
        return state
    }
}

/// How much of a broker is captured, and the objects that several of its parts refer to.
struct CaptureScope: ~Copyable {
    /// The most elements of each list in a trial's sample. The trial tests the format, and its cost
    /// to the bus doesn't grow with what waits.
    static let sampled = 64

    /// The most elements that are captured of each list.
    let most: Int
    var payloads = PayloadList()
    /// The descriptors that the next program gets.
    private(set) var handedOn: [FrameDescriptors] = []
    private(set) var emissions: [Emission] = []
    private var places: [ObjectIdentifier: Int] = [:]

    private init(most: Int) { self.most = most }

    mutating func handsOn(_ descriptors: FrameDescriptors) { handedOn.append(descriptors) }

    /// Captures everything.
    static var whole: CaptureScope { CaptureScope(most: .max) }
    /// Captures the first elements of each list, without what waits in queues.
    static var sample: CaptureScope { CaptureScope(most: sampled) }

    var isWhole: Bool { most == .max }

    func some<Elements: Collection>(_ elements: Elements) -> Elements.SubSequence { elements.prefix(most) }

    /// Returns an event's index in the state, and adds the event if it has none.
    mutating func place(of emission: Emission) -> Int {
        let place = places[ObjectIdentifier(emission), default: emissions.count]
        if place == emissions.count {
            places[ObjectIdentifier(emission)] = place
            emissions.append(emission)
        }
        return place
    }
}
