import StrataCore

/// Events: `module/event` on each ready module that declared one.
extension Broker {
    private enum Policy: String { case notify, all, any }

    /// The answers to one event, until all are there.
    private final class Tally {
        var answers: [JSON?]
        var open = 0
        init(_ count: Int) { answers = Array(repeating: nil, count: count) }
    }

    func emit(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) throws(BusError) {
        guard header.members.contains(.name) else {
            throw BusError(.badParams, "bus/emit lacks the header member \"name\", the event's")
        }
        let name = header.name.text
        var policy = Policy.notify
        if header.members.contains(.meta) {
            var reader = try MemberReader(body: header.meta, of: "meta")
            let word = try reader.string("policy") ?? "notify"
            guard let known = Policy(rawValue: word) else {
                throw BusError(.badParams, "bus/emit has policy \"\(word)\": say notify, all or any")
            }
            policy = known
        }
        if peer.role == .launcher, !name.hasPrefix("app.") {
            throw BusError(.forbidden, "the launcher emits app.* alone, and asked for \(name)")
        }
        if let module = peer.module, !module.emits.contains(name) {
            throw BusError(.forbidden, "the row of \(module.name) doesn't list \(name) in emits: add it there")
        }
        let deadline =
            header.members.contains(.deadline) && header.deadline != 0
            ? UInt64(min(max(header.deadline, 1), 86_400_000)) : 5_000
        let params = Array(body)
        guard let call = openRequest(.served, header, from: peer) else { return }
        // Each answer has the deadline; the whole has none.
        wheel.remove(call)
        call.pointee.wasPassedOn = true
        let generation = call.pointee.generation
        let isOpen = { call.pointee.state != .free && call.pointee.generation == generation }
        emit(name, params, policy, deadline, for: call, while: isOpen) { [unowned self] answer, answers in
            guard isOpen(), let caller = call.pointee.caller?.takeUnretainedValue() else { return }
            let result: JSON = .object([.init("answer", .bool(answer)), .init("answers", .array(answers))])
            self.writeReply(caller, id: call.pointee.callerID, result)
            self.release(call, "the event was answered")
        }
    }

    private func emit(
        _ name: String, _ params: [UInt8], _ policy: Policy, _ deadline: UInt64, for request: CallPointer?,
        while isOpen: @escaping () -> Bool,
        then: @escaping (Bool, [JSON]) -> Void
    ) {
        let listeners = modules.inStartOrder.filter { $0.isReady && $0.peer != nil && $0.events.contains(name) }
        if policy == .any {
            emitInTurn(name, params, deadline, listeners[...], [], for: request, while: isOpen, then: then)
            return
        }
        let tally = Tally(listeners.count)
        tally.open = listeners.count
        let finish = {
            let answers = tally.answers.compactMap(\.self)
            then(policy == .notify || answers.allSatisfy { $0["answer"] == .bool(true) }, answers)
        }
        guard !listeners.isEmpty else {
            finish()
            return
        }
        for (index, module) in listeners.enumerated() {
            callEvent(name, params, deadline, module, for: request) { answer in
                tally.answers[index] = answer
                tally.open -= 1
                if tally.open == 0 { finish() }
            }
        }
    }

    /// One after another, up to the first `true`.
    private func emitInTurn(
        _ name: String, _ params: [UInt8], _ deadline: UInt64, _ left: ArraySlice<ModuleRecord>, _ answers: [JSON],
        for request: CallPointer?,
        while isOpen: @escaping () -> Bool, then: @escaping (Bool, [JSON]) -> Void
    ) {
        guard isOpen() else { return }
        guard let module = left.first else {
            then(false, answers)
            return
        }
        callEvent(name, params, deadline, module, for: request) { [unowned self] answer in
            if answer["answer"] == .bool(true) {
                then(true, answers + [answer])
            } else {
                self.emitInTurn(
                    name, params, deadline, left.dropFirst(), answers + [answer], for: request, while: isOpen,
                    then: then)
            }
        }
    }

    private func callEvent(
        _ name: String, _ params: [UInt8], _ deadline: UInt64, _ module: ModuleRecord, for request: CallPointer?,
        then: @escaping (JSON) -> Void
    ) {
        let member: JSON.Member = .init("module", .string(module.name))
        guard let peer = module.peer, module.isReady else {
            then(.object([member, .init("code", .string(ErrorCode.died.rawValue))]))
            return
        }
        callOwn(
            peer, to: "module/event", name: name, body: params, for: request, deadline: deadline, isLifecycle: true,
            mustFit: true
        ) { answer in
            switch answer {
            case .success(let body):
                let value = body.isEmpty ? JSON.null : (try? JSON(parsing: body))
                if let value {
                    then(.object([member, .init("answer", value)]))
                } else {
                    then(.object([member, .init("code", .string(ErrorCode.badParams.rawValue))]))
                }
            case .failure(let error):
                then(.object([member, .init("code", .string(error.code.rawValue))]))
            }
        }
    }

    /// The broker's own event at every end of a module's session.
    func emitModuleLost(_ module: ModuleRecord, reason: String) {
        let body: JSON = .object([
            .init("module", .string(module.name)), .init("reason", .string(reason)),
        ])
        emit("app.moduleLost", body.encoded(), .notify, 5_000, for: nil, while: { true }) { _, _ in }
    }
}
