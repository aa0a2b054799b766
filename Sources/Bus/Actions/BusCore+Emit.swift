import StrataCore

/// Events: calls of `module/event` at each ready module that declared the event, and at those that
/// it wakes.
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
                throw BusError(.badParams, "bus/emit has policy \"\(word)\": use notify, all or any")
            }
            policy = known
        }
        try LiveFacts(core: self, kind: .event, peer: peer, name: header.pointee.name).check(.sender ... .declaration)
        let deadline =
            header.pointee.members.contains(.deadline) && header.pointee.deadline != 0
            ? UInt64(min(max(header.pointee.deadline, 1), 86_400_000)) : 5_000
        let (params, trace, meta) = (Array(body), Array(header.pointee.trace), Array(header.pointee.meta))
        let call = try open(asked)
        // Each answer has the deadline, or what the emit's `parent` has left if that is less. The
        // emit as a whole has no deadline.
        calls.disarm(call)
        call.pointee.deadline.expiry =
            openParent(header.pointee, of: peer)?.pointee.deadline.expiry ?? Call.Deadline.never
        // If it ends early, `ran` must be `maybe`, because handlers may have started.
        call.pointee.stream.wasPassedOn = true
        begin(
            Emission(
                name, params, trace: trace, meta: meta, policy, deadline: deadline, request: CallReference(call),
                listeners: listeners(to: name)))
    }

    /// Emits the bus's own event, at the end of each session of a module.
    func emitModuleLost(_ module: ModuleRecord, reason: String) {
        emit("app.moduleLost", about: ["module": .string(module.name), "reason": .string(reason)])
    }

    /// Emits one of the bus's own events.
    func emit(_ name: String, about body: JSON) {
        begin(Emission(name, body.encoded(), .notify, deadline: 5_000, request: nil, listeners: listeners(to: name)))
    }

    private func listeners(to name: String) -> [ModuleRecord] {
        // Filters before it sorts, because few modules listen, and this runs at each end of a
        // session.
        let isListening = { [self] (module: ModuleRecord) in
            guard module.isReady, module.peer != nil else { return isWoken(module, by: name) }
            return !module.session.events.isEmpty && module.session.events.contains(name)
        }
        return (modules.rows.filter(isListening) + modules.guests.filter(isListening)).sorted(
            by: ModuleTable.startsBefore)
    }

    /// Whether an event starts a module that isn't ready. What its row observes is a notification.
    private func isWoken(_ module: ModuleRecord, by name: String) -> Bool {
        guard let row = module.row, row.wakes.contains(name) else { return false }
        return !row.observes.contains { $0.name == name } && canBeWaitedFor(module)
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
            if isWoken(module, by: emission.name) { return awaitListener(index, of: emission) }
            return eventAnswered(emission, index, .failure(BusError(.died, "\(module.name) is no longer connected")))
        }
        call(peer, index, of: emission, deadline: deadline(of: emission))
    }

    private func call(_ peer: Peer, _ index: Int, of emission: Emission, deadline: UInt64) {
        callOwn(
            peer, to: "module/event", name: emission.name, body: emission.params, trace: emission.trace,
            meta: emission.meta, for: emission.request?.call, deadline: deadline,
            mustFit: true, .event(emission, index))
    }

    /// Keeps the place of a listener's call, with its deadline, until the listener is ready.
    private func awaitListener(_ index: Int, of emission: Emission) {
        let module = emission.listeners[index]
        guard module.canTakeEvent(table.limits.waiting), let call = calls.open(.own) else {
            let error = BusError(
                .overloaded, "\(table.limits.waiting) events wait for \(module.name) already (limits.waiting)")
            return eventAnswered(emission, index, .failure(error))
        }
        call.pointee.isLifecycle = true
        call.pointee.deadline.budget = deadline(of: emission)
        call.pointee.deadline.expiry = now + call.pointee.deadline.budget
        arm(call)
        emission.request?.call.adopt(call)
        calls.set(.event(emission, index), of: call)
        module.addWaitingEvent(CallReference(call))
        want(module)
    }

    /// Calls a module that is ready now at the events that woke it.
    func releaseEvents(_ module: ModuleRecord) {
        for event in module.takeWaitingEvents() where event.isOpen {
            guard case .event(let emission, let index)? = calls.takePurpose(of: event.call) else { continue }
            let left = remaining(event.call)
            release(event.call, "the module is ready")
            guard let peer = module.peer, module.session.events.contains(emission.name) else {
                let error = BusError(.unknownAction, "\(module.name) doesn't declare the event \(emission.name)")
                eventAnswered(emission, index, .failure(error))
                continue
            }
            call(peer, index, of: emission, deadline: left)
        }
    }

    private func deadline(of emission: Emission) -> UInt64 {
        guard let asking = emission.request, asking.isOpen, asking.call.pointee.deadline.expiry != Call.Deadline.never
        else {
            return emission.deadline
        }
        return min(emission.deadline, remaining(asking.call))
    }

    /// Handles a listener's answer, or its failure.
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

/// One event on its way to the modules that declared it, until all have answered.
final class Emission {
    enum Policy: String { case notify, all, any }

    let name: String
    let params: [UInt8]
    /// The emit's `trace` as it is in the header; empty if there is none, as for the bus's own
    /// events.
    let trace: [UInt8]
    let meta: [UInt8]
    let policy: Policy
    /// The time for each answer, in milliseconds.
    let deadline: UInt64
    /// The call that waits for the result; nil for the bus's own events.
    let request: CallReference?
    /// The modules that listen, in start order.
    let listeners: [ModuleRecord]
    /// The answers by listener; nil for one that hasn't come yet.
    private(set) var answers: [Answer?]
    /// The number of answers that have come, and their bytes.
    private var (count, bytes) = (0, 0)

    /// A listener's answer, or why there is none.
    struct Answer {
        /// The answer as it is in the result: `{"module", "answer"}` or `{"module", "code"}`.
        var json: [UInt8]
        var isTrue: Bool
    }

    init(
        _ name: String, _ params: [UInt8], trace: [UInt8] = [], meta: [UInt8] = [], _ policy: Policy,
        deadline: UInt64, request: CallReference?, listeners: [ModuleRecord]
    ) {
        self.name = name
        self.params = params
        self.trace = trace
        self.meta = meta
        self.policy = policy
        self.deadline = deadline
        self.request = request
        self.listeners = listeners
        answers = Array(repeating: nil, count: listeners.count)
    }

    /// Whether a caller still wants the result; false for the bus's own events.
    var isWanted: Bool { request?.isOpen ?? false }

    /// Takes a listener's answer, whose bytes are kept as they are. An answer that would make the
    /// reply too large is treated like one that is too large itself.
    func take(_ answer: Result<[UInt8], BusError>, of index: Int) {
        var entry = entry(answer, of: listeners[index])
        if bytes + entry.json.count > BodyLimit.eventAnswers {
            let error = BusError(.tooLarge, "the answers to an event have over \(BodyLimit.eventAnswers) bytes")
            entry = self.entry(.failure(error), of: listeners[index])
        }
        keep(entry, of: index)
    }

    private func entry(_ answer: Result<[UInt8], BusError>, of module: ModuleRecord) -> Answer {
        var entry = Answer(json: Array("{\"module\":\"\(module.name)\",".utf8), isTrue: false)
        do throws(BusError) {
            let body = try answer.get()
            entry.isTrue = try BodyLimit.ordinary.read(body, of: "an event's answer") == .bool(true)
            entry.json += "\"answer\":".utf8
            entry.json += body.isEmpty ? Array("null".utf8) : body
        } catch {
            entry.json += "\"code\":".utf8
            JSON.write(error.code.rawValue, to: &entry.json)
        }
        entry.json.append(UInt8(ascii: "}"))
        return entry
    }

    /// Keeps an answer, which the previous program's bus may have taken.
    func keep(_ answer: Answer, of index: Int) {
        answers[index] = answer
        count += 1
        bytes += answer.json.count
    }

    /// The emit's result; nil while answers are missing that it depends on.
    var result: [UInt8]? {
        // Under `any` the listeners answer one after another.
        let isFirstTrue = policy == .any && count > 0 && answers[count - 1]?.isTrue == true
        guard isFirstTrue || count == listeners.count else { return nil }
        let there = answers.compactMap(\.self)
        let answer =
            switch policy {
            case .any: isFirstTrue
            case .notify: true
            case .all: there.allSatisfy(\.isTrue)
            }
        var result = Array("{\"answer\":\(answer),\"answers\":[".utf8)
        for (index, one) in there.enumerated() {
            if index > 0 { result.append(UInt8(ascii: ",")) }
            result += one.json
        }
        result += "]}".utf8
        return result
    }
}
