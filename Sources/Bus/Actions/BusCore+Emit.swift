import StrataCore

/// Events: `module/event` on each ready module that declared one.
extension BusCore {
    func emit(_ asked: BusCall) throws(BusError) {
        let (peer, body) = (asked.peer, asked.body)
        let header = asked.header
        try require(
            header.pointee.members.contains(.name), .badParams, "bus/emit lacks the header member \"name\", the event's"
        )
        let name = header.pointee.name.text
        var policy = Emission.Policy.notify
        if header.pointee.members.contains(.meta) {
            let reader = try MemberReader(body: header.pointee.meta, of: "meta")
            let word = try reader.string("policy") ?? "notify"
            guard let known = Emission.Policy(rawValue: word) else {
                throw BusError(.badParams, "bus/emit has policy \"\(word)\": say notify, all or any")
            }
            policy = known
        }
        try LiveFacts(core: self, kind: .event, peer: peer, name: header.pointee.name).check(.sender ... .declaration)
        let deadline =
            header.pointee.members.contains(.deadline) && header.pointee.deadline != 0
            ? UInt64(min(max(header.pointee.deadline, 1), 86_400_000)) : 5_000
        let (params, trace, meta) = (Array(body), Array(header.pointee.trace), Array(header.pointee.meta))
        let call = try open(asked)
        // Each answer has the deadline, and at most what a parent has left; the whole
        // has none.
        calls.disarm(call)
        call.pointee.deadline.expiry =
            openParent(header.pointee, of: peer)?.pointee.deadline.expiry ?? Call.Deadline.never
        call.pointee.stream.wasPassedOn = true
        begin(
            Emission(
                name, params, trace: trace, meta: meta, policy, deadline: deadline, request: CallReference(call),
                listeners: listeners(to: name)))
    }

    /// The bus's own event at every end of a module's session.
    func emitModuleLost(_ module: ModuleRecord, reason: String) {
        let body: JSON = ["module": .string(module.name), "reason": .string(reason)]
        let name = "app.moduleLost"
        begin(Emission(name, body.encoded(), .notify, deadline: 5_000, request: nil, listeners: listeners(to: name)))
    }

    private func listeners(to name: String) -> [ModuleRecord] {
        // Sorted are those that listen alone: each end of a session is told to them.
        let isListening = { (module: ModuleRecord) in
            !module.session.events.isEmpty && module.isReady && module.peer != nil
                && module.session.events.contains(name)
        }
        return (modules.rows.filter(isListening) + modules.guests.filter(isListening)).sorted(
            by: ModuleTable.startsBefore)
    }

    private func begin(_ emission: Emission) {
        guard !emission.listeners.isEmpty else {
            if let result = emission.result { finish(emission, result) }
            return
        }
        switch emission.policy {
        case .any: callListener(0, of: emission)
        case .notify, .all: for index in emission.listeners.indices { callListener(index, of: emission) }
        }
    }

    private func callListener(_ index: Int, of emission: Emission) {
        let module = emission.listeners[index]
        guard let peer = module.peer, module.isReady else {
            return eventAnswered(emission, index, .failure(BusError(.died, "\(module.name) is gone")))
        }
        callOwn(
            peer, to: "module/event", name: emission.name, body: emission.params, trace: emission.trace,
            meta: emission.meta, for: emission.request?.call, deadline: deadline(of: emission),
            mustFit: true, .event(emission, index))
    }

    private func deadline(of emission: Emission) -> UInt64 {
        guard let asking = emission.request, asking.isOpen, asking.call.pointee.deadline.expiry != Call.Deadline.never
        else {
            return emission.deadline
        }
        return min(emission.deadline, remaining(asking.call))
    }

    /// A listener has answered, or will not.
    func eventAnswered(_ emission: Emission, _ index: Int, _ answer: OwnAnswer) {
        guard emission.isWanted else { return }
        emission.take(answer, of: index)
        if let result = emission.result {
            finish(emission, result)
        } else if emission.policy == .any {
            callListener(index + 1, of: emission)
        }
    }

    private func finish(_ emission: Emission, _ result: [UInt8]) {
        guard let asking = emission.request, asking.isOpen else { return }
        answer(asking.call, result, ran: .yes, "the event was answered")
    }
}
