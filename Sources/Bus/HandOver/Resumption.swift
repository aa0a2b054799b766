import StrataCore

/// Restores in a fresh bus the state that another program's bus captured. Used once.
struct Resumption {
    let bus: BusCore
    let state: BrokerState
    /// The modules by number.
    private let modules: [Int: ModuleRecord]
    let payloads: [Payload]
    private let taken = Taken()

    /// The descriptors that were taken over, by their first number. A frame and a request may have the same.
    private final class Taken { var all: [Int32: FrameDescriptors] = [:] }

    init(_ bus: BusCore, _ state: BrokerState, _ records: [ModuleRecord]) {
        self.bus = bus
        self.state = state
        payloads = state.payloads.map { Self.payload($0, state.queues.mapped, bus.reclaimer) }
        modules = Dictionary(records.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Makes a payload; a large one stays in the mapped file.
    private static func payload(_ bytes: WaitingBytes, _ file: MappedFile?, _ reclaimer: Reclaimer) -> Payload {
        if case .pieces(let pieces) = bytes, pieces.count == 1, let file {
            return Payload(pieces[0], in: file, reclaimer)
        }
        return bytes.array.withUnsafeBytes { Payload(copying: $0, reclaimer) }
    }

    /// Restores everything in the state, except for what happens by itself.
    /// - Parameter connect: makes a connection of the state, with what waits for it.
    func make(connect: (PeerState, consuming Outbox) throws(StateError) -> Peer) throws(StateError) {
        bus.declareInterfaces()
        bus.declareURLs()
        bus.launcherSlot.expect(state.launcherSlot.process)
        for own in state.peers { try resume(own, connect) }
        for own in state.descriptors {
            guard payloads.indices.contains(own.payload) else { throw StateError("descriptors have no frame") }
            payloads[own.payload].descriptors = try descriptors(own.numbers, body: own.bodyCount, of: own.sender)
        }
        for module in state.modules { try resume(module) }
        try resumeRetained()
        bus.noteAllRequired()
        // Connections are counted now, because it needs the vouched processes.
        for state in state.peers { bus.count(try peer(state.number)) }
        for number in state.draining { bus.modules.beginsDraining(try peer(number)) }
        for peer in state.peers {
            try observe(peer)
            guard let farewell = peer.farewell else { continue }
            bus.end(try self.peer(peer.number), onceHeardOut: BusError(.shuttingDown, farewell))
        }
        try resumeCalls()
        for instance in state.instances {
            bus.instances.resume(
                instance.number, try interface(instance.interface), creator: try peer(instance.creator),
                owner: try peer(instance.owner), isPending: instance.isPending)
        }
        try resumeStreams()
        for module in modules.values.sorted(by: { $0.number < $1.number }) where module.catchingUp != .no {
            bus.work.add(catchingUp: module)
        }
        resumeClocks()
    }

    /// Takes over descriptors that a peer has sent.
    /// - Parameter bodyCount: the length of the body that the only one holds; 0 for other descriptors.
    func descriptors(
        _ numbers: [Int32], body bodyCount: Int, of sender: UInt64
    ) throws(StateError) -> FrameDescriptors {
        guard let first = numbers.first else { throw StateError("descriptors have no numbers") }
        if let own = taken.all[first] { return own }
        let own = bus.connections[sender]?.descriptors?.take(numbers) ?? FrameDescriptors(numbers, bus.descriptors)
        taken.all[first] = own
        guard bodyCount > 0 else { return own }
        guard numbers.count == 1 else { throw StateError("a body is in \(numbers.count) files") }
        // Its size was within the limit when it came.
        own.holdBody(of: bodyCount, most: .max / DescriptorCount.senders)
        do throws(BusError) { _ = try own.mappedBody() } catch { throw StateError(error.message) }
        return own
    }

    private func resumeStreams() throws(StateError) {
        for watch in state.watches {
            let call = try reference(watch.call).call
            let rows = watch.changed.compactMap { modules[$0] }
            bus.watches.add(Watch(peer: try caller(of: call), call: call, rows: rows))
        }
        for monitor in state.monitors {
            let call = try reference(monitor.call).call
            bus.monitors.add(of: try caller(of: call), call, monitor.wanted, missed: monitor.missed)
        }
        for stream in state.traffic {
            let call = try reference(stream).call
            bus.resumeTraffic(call, of: try caller(of: call))
        }
        for peer in state.peers {
            guard let link = peer.link else { continue }
            bus.links.add(Link(link, try self.peer(peer.number), waiting: try references(link.waiting)))
        }
        let asked = state.launcherSlot.isAsked ? try references(state.launcherSlot.asked) : nil
        let slot = state.launcherSlot
        bus.launcherSlot.resume(
            reloads: try references(slot.reloads), asked: asked,
            refusal: slot.refusalCode.isEmpty ? nil : BusError(ErrorCode(slot.refusalCode), slot.refusal))
        bus.replacement.resume(try references(state.handOvers))
    }

    private func resumeClocks() {
        bus.start.resumeTurn()
        for alarm in state.alarms { bus.alarms.set(.init(kind: alarm.kind, peer: alarm.peer), at: alarm.due) }
        bus.setJoinAlarm()
        // Deadlines may have passed during the hand-over.
        bus.deadlinesPassed()
        bus.wakeForTheEarliest()
    }

    // MARK: peers

    private func resume(
        _ state: PeerState, _ connect: (PeerState, consuming Outbox) throws(StateError) -> Peer
    ) throws(StateError) {
        guard state.output.isSound(payloads) else {
            throw StateError("the frames that wait for the connection \(state.number) contradict each other")
        }
        let peer = try connect(state, Outbox(pool: bus.pool, state.output, payloads))
        peer.resume(state)
        peer.setOtherApp(state.otherApp)
        if state.role != .none { peer.identify(as: state.role, modules[state.module], rank: state.rank) }
        if peer.life == .waitingForVouch, let row = modules[state.awaitedRow] {
            peer.waits(for: row, helloID: state.helloID)
        }
        if state.takesDescriptors || state.takesMemory {
            var terms: PeerDescriptors.Terms = []
            if state.takesDescriptors { terms.insert(.descriptors) }
            if state.takesMemory { terms.insert(.memory) }
            let own = PeerDescriptors(
                terms, of: peer.number, user: peer.credentials.uid, in: bus.descriptors)
            peer.descriptors = own
            for came in state.received {
                // A file that was refused is refused again.
                own.add(came.numbers.isEmpty ? FrameDescriptors(refused: came.refusal) : own.take(came.numbers))
            }
        }
        bus.resumed(peer)
        if peer.number == self.state.launcherSlot.peer { bus.launcherSlot.take(peer) }
    }

    private func observe(_ state: PeerState) throws(StateError) {
        let peer = try peer(state.number)
        for own in state.observations {
            let observation = Observation(own.terms, of: peer)
            observation.waitingEnd = own.waitingEnd
            observation.missed = own.missed
            observation.gap = own.gap
            peer.observations.add(observation)
            // Only for a session that serves. The observations of a successor or a replaced session
            // aren't in force.
            if let module = peer.module, module.peer === peer { bus.putInForce(observation, of: module) }
        }
        resumeWalks(state, of: peer)
    }

    // MARK: modules

    private func resume(_ state: ModuleState) throws(StateError) {
        let module = try module(state.number)
        module.resume(state, peer: state.peer == 0 ? nil : try peer(state.peer))
        module.replicas?.resume(slots: state.keySlots)
        // Nodes that connect to this program are told what is ready, not only what changes from now on.
        bus.noteForNodes(module)
        bus.updateMailbox(module)
        try module.mailbox.resume(state.mailbox, payloads)
        for notice in module.mailbox.held { bus.mailboxes.holds(notice) }
        // What its row declares is in force already.
        if module.peer != nil { bus.add(state.offer, to: module) }
        if let successor = state.successor {
            module.setSuccessor(Successor(try peer(successor.peer), successor))
        }
    }

    // MARK: finding

    func module(_ number: Int) throws(StateError) -> ModuleRecord {
        guard let module = modules[number] else { throw StateError("there is no module \(number)") }
        return module
    }

    func knownModule(_ number: Int) -> ModuleRecord? { modules[number] }

    func peer(_ number: UInt64) throws(StateError) -> Peer {
        guard let peer = bus.connections[number] else { throw StateError("there is no connection \(number)") }
        return peer
    }

    func caller(of call: CallPointer) throws(StateError) -> Peer {
        guard let peer = call.pointee.caller else { throw StateError("the call \(call.pointee.id) has no caller") }
        return peer.takeUnretainedValue()
    }

    func call(_ slot: UInt32) throws(StateError) -> CallPointer {
        guard let call = bus.calls.place(slot), call.pointee.state != .free else {
            throw StateError("no call is open in slot \(slot)")
        }
        return call
    }

    func reference(_ state: CallReferenceState) throws(StateError) -> CallReference {
        guard let call = bus.calls.place(state.slot) else { throw StateError("there is no slot \(state.slot)") }
        return CallReference(call, generation: state.generation)
    }

    func references(_ states: [CallReferenceState]) throws(StateError) -> [CallReference] {
        try states.map { (state) throws(StateError) in try reference(state) }
    }

    /// Returns the interface that a reference means. One that can't be found any more is created
    /// again, with its name and its owner's.
    func interface(_ reference: InterfaceReference) throws(StateError) -> InterfaceRecord {
        if reference.isPresent {
            guard let interface = bus.routes.interface(reference.name) else {
                throw StateError("there is no interface \(reference.name)")
            }
            return interface
        }
        let owner =
            modules[reference.owner] ?? ModuleRecord(guest: reference.ownerName, rank: 0, number: reference.owner)
        return InterfaceRecord(name: reference.name, owner: owner, isDeclared: false)
    }
}
