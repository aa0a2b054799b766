import StrataCore

/// Writing down all that a broker knows. Between two rounds of the loop only:
/// no frame is in hand, and what could be written is written.
///
/// Bytes that wait are not copied: the state refers to them until it is written, which
/// is before the broker does anything else.
extension BusCore {
    /// - Parameter scope: all, or a sample for a trial.
    func capture(_ scope: inout CaptureScope) -> BrokerState {
        var state = BrokerState()
        state.table = table.json().encoded()
        state.user = user
        captureModules(into: &state, scope)
        state.peers = scope.some(connections.inOrder).map { capture($0, &scope) }
        state.nextPeer = connections.next
        state.launcher = launcher?.number ?? 0
        state.launcherProcess = seat.process.map(ProcessState.init)
        state.leaving = modules.leaving.map(\.number)
        captureCalls(into: &state, &scope)
        state.instances = scope.some(instances.instances.sorted { $0.key < $1.key }).map { number, instance in
            var state = InstanceState()
            state.number = number
            state.interface = reference(instance.interface)
            state.creator = instance.creator.number
            state.owner = instance.owner.number
            return state
        }
        state.nextInstance = instances.next
        captureStreams(into: &state, scope)
        state.payloads = scope.payloads.payloads.map { .pieces([$0.bytes]) }
        // Of notes the next program has none.
        state.alarms = scope.some(alarms.all.filter { $0.alarm.kind != .notes }).map { alarm, due in
            var state = AlarmState()
            (state.kind, state.peer, state.due) = (alarm.kind, alarm.peer, due)
            return state
        }
        state.counters = statistics.numbers
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
            var state = MonitorState()
            state.call = CallReferenceState(CallReference(monitor.call))
            state.module = monitor.wanted.module.map { String(decoding: $0, as: UTF8.self) }
            state.name = monitor.wanted.name.map { String(decoding: $0, as: UTF8.self) }
            state.bodies = monitor.wanted.bodies
            state.missed = monitor.missedBefore + monitor.missed
            return state
        }
        state.reloads = scope.some(seat.reloads).filter(\.isOpen).map(CallReferenceState.init)
        state.askedReloads = seat.askedReloads.map { asked in
            var state = ReloadState()
            state.asked = asked.map(CallReferenceState.init)
            return state
        }
    }

    // MARK: modules

    private func captureModules(into state: inout BrokerState, _ scope: borrowing CaptureScope) {
        let most = scope.most
        state.modules = scope.some(modules.all).map { capture($0, most) }
        state.nextModule = modules.nextNumber
        var removed = AppTable(app: table.app)
        removed.levels = table.levels
        removed.modules = modules.rows.filter(\.isRemoved).compactMap(\.row)
        state.removedRows = removed.json().encoded()
        state.order.hasBegun = start.order.hasBegun
        state.appTimes = StartTimesState(start.times)
        state.order.groups = start.order.groups.map { members in
            var group = StartOrderState.GroupState()
            group.members = members
            group.progress = members.map { (start.order.progress[$0] ?? .left).rawValue }
            return group
        }
    }

    private func capture(_ module: ModuleRecord, _ most: Int) -> ModuleState {
        var state = ModuleState()
        state.number = module.number
        state.name = module.name
        state.isGuest = module.row == nil
        state.isRemoved = module.isRemoved
        state.place = module.place
        state.rank = module.rank
        state.pending = module.pending
        state.peer = module.peer?.number ?? 0
        state.successor = module.successor.map { successor in
            var state = SuccessorState()
            state.peer = successor.peer.number
            state.offer = OfferState(successor.offer)
            state.events = successor.events
            state.requires = successor.requires
            state.step = successor.step
            state.times = StartTimesState(successor.times)
            return state
        }
        state.state = module.state.rawValue
        state.step = module.step
        state.reason = module.reason
        state.verdict = module.verdict
        state.verdictReason = module.verdictReason
        state.lastLines = module.lastLines
        state.deaths = module.deaths.entries.map(ActionDeathState.init)
        state.lastDeath = module.lastDeath.map(ModuleDeathState.init)
        state.vouch = module.vouch.map { vouch in
            var state = VouchState()
            state.token = vouch.token
            state.process = ProcessState(vouch.process)
            state.isByHand = vouch.isByHand
            state.spawnedAt = vouch.spawnedAt
            return state
        }
        state.diedForGood = module.diedForGood
        state.isRetired = module.isRetired
        state.isIdleStop = module.isIdleStop
        state.wasRetiredReady = module.wasRetiredReady
        state.isWanted = module.isWanted
        state.since = module.since
        state.restarts = module.restarts
        state.sessions = module.sessions
        state.pid = module.pid
        state.uid = module.uid
        state.times = StartTimesState(module.times)
        state.waiting = module.waiting.prefix(most).map(\.pointee.slot)
        state.readyWaiters = module.readyWaiters.prefix(most).filter(\.call.isOpen).map(capture)
        state.offer = OfferState(module.offer)
        state.events = module.events.sorted()
        state.requires = module.helloRequires
        state.seenReports = module.seenReports.names
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
        state.pid = peer.credentials.pid
        state.uid = peer.credentials.uid
        state.gid = peer.credentials.gid
        state.seenAt = peer.credentials.seenAt
        state.vouched = peer.vouched.map(ProcessState.init)
        state.farewell = peer.farewell?.message
        state.phase = peer.phase
        state.role = peer.role
        state.module = peer.module?.number ?? -1
        state.rank = peer.rank
        if scope.isWhole {
            state.output = peer.outbox.contents(&scope.payloads)
        }
        state.observations = scope.some(peer.observations).map { capture($0) }
        state.nextSubscription = peer.nextSubscription
        state.isPaused = peer.isPaused
        state.owesCredit = peer.owesCredit
        state.openReleases = peer.openReleases
        state.lastRequest = peer.lastRequest
        state.stopAttempts = peer.stopAttempts
        state.awaitedRow = peer.awaitedRow?.number ?? -1
        state.helloID = peer.helloID
        state.offering = peer.offering
        state.wantsRetiring = peer.wantsRetiring
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

    private func capture(_ observation: Observation) -> ObservationState {
        var state = ObservationState()
        state.id = observation.id
        state.name = observation.name
        state.object = observation.object.map(BytesState.init)
        state.keepsLatest = observation.keep == .latest
        state.rank = observation.rank
        state.isOfRow = observation.isOfRow
        state.waitingEnd = observation.waitingEnd
        state.missed = observation.missed
        return state
    }
}
