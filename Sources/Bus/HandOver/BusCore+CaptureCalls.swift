import StrataCore

/// Capturing the open requests.
extension BusCore {
    func captureCalls(into state: inout BrokerState, _ scope: inout CaptureScope) {
        state.generations = calls.generations(most: scope.most)
        state.calls = calls.open(most: scope.most).map { capture($0, &scope) }
        // After the calls, which add the emissions to the scope.
        state.emissions = scope.emissions.map { capture($0, scope) }
    }

    private func capture(_ call: CallPointer, _ scope: inout CaptureScope) -> CallState {
        var state = CallState()
        state.slot = call.pointee.slot
        state.life = call.pointee.life
        state.isLifecycle = call.pointee.isLifecycle
        state.isAuthorized = call.pointee.isAuthorized
        state.action = routes.actionNames.name(call.pointee.action) ?? ""
        state.caller = call.pointee.caller?.takeUnretainedValue().number ?? 0
        state.callerID = call.pointee.callerID
        state.callee = call.pointee.callee?.takeUnretainedValue().number ?? 0
        state.end = call.pointee.end
        state.waitsFor = call.pointee.waitsFor?.takeUnretainedValue().number ?? -1
        let held = call.pointee.held?.takeUnretainedValue()
        state.held = held?.copy
        if !scope.isWhole {
            state.held?.body = []
            state.held?.descriptors = nil
        }
        if let descriptors = state.held?.descriptors { scope.handsOn(descriptors) }
        state.mostDescriptors = call.pointee.mostDescriptors
        state.interface = held?.interface.map(reference)
        state.renamings = call.pointee.adaptation?.takeUnretainedValue().result ?? []
        state.deadline = call.pointee.deadline
        state.hasTimer = call.pointee.deadline.bucket >= 0
        state.stream = call.pointee.stream
        state.startedAt = call.pointee.startedAt
        state.notices = call.pointee.notices
        state.depth = call.pointee.depth
        state.root = calls.root(of: call).map(RootState.init)
        var next = call.pointee.firstChild
        while let child = next, state.children.count < scope.most {
            state.children.append(child.pointee.slot)
            next = child.pointee.child.next
        }
        if call.pointee.kind == .own, let purpose = calls.purpose(of: call) {
            state.purpose = capture(purpose, &scope)
        }
        return state
    }

    private func capture(_ purpose: OwnPurpose, _ scope: inout CaptureScope) -> PurposeState {
        var state = PurposeState()
        switch purpose {
        case .start(let module, let step): (state.kind, state.module, state.step) = (.start, module.number, step)
        case .retirement(let module, let retirement):
            state.module = module.number
            switch retirement {
            case .asked(let call): (state.kind, state.call) = (.askedRetirement, CallReferenceState(call))
            case .idle(let time): (state.kind, state.milliseconds) = (.idleRetirement, time)
            case .removed: state.kind = .removedRetirement
            }
        case .retiring: state.kind = .retiring
        case .settings: (state.kind, state.isSettings) = (.retiring, true)
        case .dismissal(let module): (state.kind, state.module) = (.dismissal, module.number)
        case .ending: state.kind = .ending
        case .event(let emission, let listener):
            (state.kind, state.emission, state.listener) = (.event, scope.place(of: emission), listener)
        case .table: state.kind = .table
        case .wanted(let module): (state.kind, state.module) = (.wanted, module.number)
        case .ping(let module, let interval):
            (state.kind, state.module, state.milliseconds) = (.ping, module.number, interval)
        case .stop(let peer, let pause): (state.kind, state.peer, state.milliseconds) = (.stop, peer, pause)
        case .restart(let peer, let pause): (state.kind, state.peer, state.milliseconds) = (.restart, peer, pause)
        case .hang(let peer, let pause): (state.kind, state.peer, state.milliseconds) = (.hang, peer, pause)
        case .release: state.kind = .release
        case .authorization(let call): (state.kind, state.call) = (.authorization, CallReferenceState(call))
        case .creation(let asking, let number):
            (state.kind, state.call, state.instance) = (.metrics, CallReferenceState(asking), number)
        case .question(let asking): (state.kind, state.call) = (.metrics, CallReferenceState(asking))
        }
        return state
    }

    private func capture(_ emission: Emission, _ scope: borrowing CaptureScope) -> EmissionState {
        var state = EmissionState()
        state.name = emission.name
        if scope.isWhole { state.params = .array(emission.params) }
        state.trace = emission.trace
        state.meta = emission.meta
        state.policy =
            switch emission.policy {
            case .notify: .notify
            case .all: .all
            case .any: .any
            }
        state.deadline = emission.deadline
        state.request = emission.request.map(CallReferenceState.init)
        state.listeners = emission.listeners.map(\.number)
        state.names = emission.listeners.map(\.name)
        let isWhole = scope.isWhole
        state.answers = emission.answers.map { answer in
            var state = EmissionState.AnswerState()
            state.isThere = answer != nil
            state.isTrue = answer?.isTrue ?? false
            if isWhole, let answer { state.json = .array(answer.json) }
            return state
        }
        return state
    }
}
