import StrataCore

/// Restoring the open requests, and the lists that they are in.
extension Resumption {
    func resumeCalls() throws(StateError) {
        for state in state.calls {
            guard let call = bus.calls.place(state.slot), call.pointee.state == .free else {
                throw StateError("two calls are open in slot \(state.slot), or it was never used")
            }
            bus.calls.reopen(call, state.life)
            try fill(call, state)
        }
        bus.calls.freeTheRest()
        // The references to other calls come last, when all of them exist.
        let emissions = try state.emissions.map { (state) throws(StateError) in try emission(state) }
        for state in state.calls {
            let call = try call(state.slot)
            for child in state.children.reversed() { call.adopt(try self.call(child)) }
            guard let purpose = state.purpose else { continue }
            if let purpose = try ownPurpose(purpose, emissions) { bus.calls.set(purpose, of: call) }
        }
        for state in state.calls where state.hasTimer { bus.arm(try call(state.slot)) }
        for state in state.peers { try link(state) }
        for state in state.modules {
            let module = try module(state.number)
            for slot in state.waiting { module.addWaiting(try call(slot)) }
            for event in state.waitingEvents { module.addWaitingEvent(try reference(event)) }
            for waiter in state.readyWaiters {
                let (call, interface) = (try reference(waiter.call), try interface(waiter.interface))
                module.whenReady(waiter.isCreation ? .creation(call, interface) : .authorization(call, interface))
            }
        }
    }

    private func fill(_ call: CallPointer, _ state: CallState) throws(StateError) {
        call.pointee.isLifecycle = state.isLifecycle
        call.pointee.isAuthorized = state.isAuthorized
        if !state.action.isEmpty { call.pointee.action = bus.routes.actionNames.number(of: state.action) }
        if state.caller != 0 { call.pointee.caller = .passUnretained(try peer(state.caller)) }
        call.pointee.callerID = state.callerID
        if state.callee != 0 { call.pointee.callee = .passUnretained(try peer(state.callee)) }
        call.pointee.end = state.end
        if state.waitsFor >= 0 { call.pointee.waitsFor = .passUnretained(try module(state.waitsFor)) }
        if !state.renamings.isEmpty {
            call.pointee.adaptation = .passRetained(.init(params: [], result: state.renamings))
        }
        (call.pointee.deadline.expiry, call.pointee.deadline.budget) = (state.deadline.expiry, state.deadline.budget)
        call.pointee.stream = state.stream
        call.pointee.startedAt = state.startedAt
        call.pointee.notices = state.notices
        call.pointee.depth = state.depth
        if let root = state.root { bus.calls.set(root.root, of: call) }
        call.pointee.mostDescriptors = state.mostDescriptors
        if var held = state.held {
            if !held.descriptorNumbers.isEmpty {
                held.descriptors = try descriptors(
                    held.descriptorNumbers, body: held.bodyCount, of: state.caller)
            }
            let interface = try state.interface.map { (own) throws(StateError) in try self.interface(own) }
            bus.keep(HeldRequest(held, interface), for: call, of: try caller(of: call))
        }
    }

    /// Rebuilds the lists of a peer's requests, from the end because each call is added at the
    /// front.
    private func link(_ state: PeerState) throws(StateError) {
        let peer = try peer(state.number)
        for slot in state.made.reversed() {
            let call = try call(slot)
            peer.addMade(call)
            peer.requests.add(call, call.pointee.callerID)
        }
        for slot in state.served.reversed() { peer.addServed(try call(slot)) }
    }

    private func emission(_ state: EmissionState) throws(StateError) -> Emission {
        let listeners = zip(state.listeners, state.names).map { number, name in
            knownModule(number) ?? ModuleRecord(guest: name, rank: 0, number: number)
        }
        let policy: Emission.Policy =
            switch state.policy {
            case .notify: .notify
            case .all: .all
            case .any: .any
            }
        let request = try state.request.map { (own) throws(StateError) in try reference(own) }
        let emission = Emission(
            state.name, state.params.array, trace: state.trace, meta: state.meta, policy, deadline: state.deadline,
            request: request, listeners: listeners)
        for (index, answer) in state.answers.enumerated() {
            if answer.isThere { emission.keep(.init(json: answer.json.array, isTrue: answer.isTrue), of: index) }
        }
        return emission
    }

    /// Returns nil if the purpose concerns a module that has left: nothing follows from the call's
    /// end.
    private func ownPurpose(_ state: PurposeState, _ emissions: [Emission]) throws(StateError) -> OwnPurpose? {
        func about(_ make: (ModuleRecord) throws(StateError) -> OwnPurpose) throws(StateError) -> OwnPurpose? {
            guard let module = knownModule(state.module) else { return nil }
            return try make(module)
        }
        switch state.kind {
        case .start: return try about { (module) throws(StateError) in .start(module, reaches: state.step) }
        case .askedRetirement:
            let call = try reference(state.call)
            return try about { (module) throws(StateError) in .retirement(module, .asked(call)) }
        case .idleRetirement:
            return try about { (module) throws(StateError) in .retirement(module, .idle(state.milliseconds)) }
        case .removedRetirement: return try about { (module) throws(StateError) in .retirement(module, .removed) }
        case .retiring: return state.isSettings ? .settings : .retiring
        case .dismissal: return try about { (module) throws(StateError) in .dismissal(module) }
        case .ending: return .ending
        case .event:
            guard emissions.indices.contains(state.emission),
                emissions[state.emission].answers.indices.contains(state.listener)
            else { throw StateError("there is no event \(state.emission)") }
            return .event(emissions[state.emission], state.listener)
        case .table: return .table
        case .wanted: return try about { (module) throws(StateError) in .wanted(module) }
        case .ping:
            return try about { (module) throws(StateError) in .ping(module, interval: state.milliseconds) }
        case .stop: return .stop(peer: state.peer, pause: state.milliseconds)
        case .restart: return .restart(peer: state.peer, pause: state.milliseconds)
        case .hang: return .hang(peer: state.peer, pause: state.milliseconds)
        case .release: return .release
        case .authorization: return .authorization(try reference(state.call))
        case .metrics where state.instance != 0:
            return .creation(try reference(state.call), instance: state.instance)
        case .metrics: return .question(try reference(state.call))
        }
    }
}
