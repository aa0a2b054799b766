import StrataCore

/// What peers do and send.
extension BusSimulation {
    func act(_ step: SimulationStep, _ session: SimulatedSession) {
        // Another app asks for little, because a request before its answer to hello ends the connection.
        if session.isLink, step.kind.isRequest, step.a & 7 > 0 { return answer(step, session) }
        switch step.kind {
        case .stall: session.isStalled = step.a & 1 == 1
        case .hangUp:
            tell("# \(session.label) ends its writing")
            session.pipe.endWriting()
        case .close:
            tell("# \(session.label) closes")
            session.pipe.close()
        case .lie: lie(step, session)
        case .call: call(step, session)
        case .open: open(step, session)
        case .report: report(step, session)
        case .broadcast: broadcast(step, session)
        case .cancel: cancel(step, session)
        case .credit: credit(step, session)
        case .observe, .unobserve, .create, .release, .ask: askBus(step, session)
        case .reply, .fail, .partial: answer(step, session)
        case .flood:
            for turn in 0..<40 { call(SimulationStep(kind: .call, peer: 0, a: step.a + turn, b: step.b), session) }
        case .tell: emit(step, session)
        case .read, .deliver, .writeOn, .idle, .endRound, .wait, .replace, .connect, .spawn, .kill, .retire: break
        }
    }

    // MARK: Reading

    /// Reads the frames that have arrived, and answers some of them at once.
    func read(_ session: SimulatedSession) {
        session.pipe.take { _ in }
        let frames = session.inbox
        session.inbox = []
        for frame in frames where frame.kind == .call || frame.kind == .open || frame.kind == .notice && frame.id != 0 {
            if frame.to == "bus/hello" {
                answerHello(frame, session)
            } else if frame.to.hasPrefix("launcher/") {
                obey(frame, session)
            } else if frame.to == "module/event" {
                let answer = ["true", "false", "7"][Int(frame.id >> 22) % 3]
                send(
                    session, #"{"kind":"reply","id":\#(frame.id)}"#, answer,
                    .answer(serving: frame.id, request: -1, .init(kind: .reply, number: 0)))
            } else if frame.to == "module/setUp" || frame.to == "module/initialize",
                (frame.id >> 22 + frame.id + UInt64(session.number)) % 5 == 3
            {
                send(
                    session, #"{"kind":"error","id":\#(frame.id),"code":"Own.broken"}"#, "",
                    .answer(
                        serving: frame.id, request: -1, .init(kind: .error(code: "Own.broken", ran: .yes), number: 0)))
            } else if frame.to == "module/create", frame.id >> 22 % 3 > 0 {
                // Answered later, or refused.
                let served = SimulatedSession.Served(id: frame.id, request: -1, to: frame.to)
                if frame.id >> 22 % 3 == 1 { session.pending.append(served) } else { fail(served, session, choice: 0) }
            } else if frame.to.hasPrefix("module/") {
                send(
                    session, #"{"kind":"reply","id":\#(frame.id)}"#, "{}",
                    .answer(serving: frame.id, request: -1, .init(kind: .reply, number: 0)))
            } else if frame.from == "bus" {
                judge(frame, session)
            } else {
                let number = session.isLink ? SimulatedLink.number(in: frame) : frame.number()
                let served = SimulatedSession.Served(id: frame.id, request: number, to: frame.to)
                switch (Int(frame.id >> 20) &+ number) % 4 {
                case 0: reply(to: served, session)
                case 1: fail(served, session, choice: number)
                default: session.pending.append(served)
                }
            }
        }
    }

    /// Answers for the authorizer.
    private func judge(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        let number = frame.number()
        let isAllowed = number % 3 != 0
        send(
            session, #"{"kind":"reply","id":\#(frame.id)}"#, #"{"allow":\#(isAllowed)}"#,
            .verdict(request: number, isAllowed: isAllowed))
    }

    // MARK: Answers

    private func answer(_ step: SimulationStep, _ session: SimulatedSession) {
        guard !session.pending.isEmpty else { return }
        let place = step.a % session.pending.count
        if session.pending[place].to == "bus/hello" {
            session.pending.remove(at: place)
            return greet(session, step.kind == .fail ? .refusal : step.kind == .partial ? .nonsense : .welcome)
        }
        if step.kind == .partial {
            let number = newAnswer()
            let served = session.pending[place]
            return send(
                session, #"{"kind":"reply","id":\#(served.id),"more":true}"#, #"{"r":\#(number)}"#,
                .answer(serving: served.id, request: served.request, .init(kind: .partial, number: number)))
        }
        let served = session.pending.remove(at: place)
        if step.kind == .reply || step.kind.isRequest {
            reply(to: served, session)
        } else {
            fail(served, session, choice: step.b)
        }
    }

    private func reply(to served: SimulatedSession.Served, _ session: SimulatedSession) {
        let number = newAnswer()
        send(
            session, #"{"kind":"reply","id":\#(served.id)}"#, #"{"r":\#(number)}"#,
            .answer(serving: served.id, request: served.request, .init(kind: .reply, number: number)))
    }

    /// The errors that a callee may send, and what its caller should get (section 6, Final answers).
    private static let errors: [(said: String, code: String, ran: BusError.Ran)] = [
        (#""code":"Own.error""#, "Own.error", .yes), (#""code":"failed","ran":"maybe""#, "failed", .maybe),
        (#""code":"overloaded""#, "overloaded", .no), (#""code":"unknown-action""#, "unknown-action", .no),
        (#""code":"died""#, "failed", .yes), (#""message":"no code""#, "failed", .yes),
        (#""code":"bad-params","ran":"no""#, "bad-params", .no),
    ]

    private func fail(_ served: SimulatedSession.Served, _ session: SimulatedSession, choice: Int) {
        var error = Self.errors[choice % Self.errors.count]
        // All of the bus's codes pass from another app.
        if session.isLink, choice % Self.errors.count == 4 { error.code = "died" }
        send(
            session, #"{"kind":"error","id":\#(served.id),\#(error.said)}"#, "",
            .answer(
                serving: served.id, request: served.request,
                .init(kind: .error(code: error.code, ran: error.ran), number: 0)))
    }

    // MARK: Requests

    /// Makes a session's request, and sends it.
    func request(
        _ session: SimulatedSession, _ kind: String, _ target: SimulatedRequest.Target, _ members: String,
        body: (Int) -> String, step: SimulationStep, hasID: Bool = true, name: Int = 0, object: Int? = nil,
        rank: Int? = nil, skips: Bool = false, isEndless: Bool = false, told: Int = 1, key: Int = 0
    ) {
        let number = referee.requests.count
        let id = hasID ? session.nextID : 0
        var header = #"{"kind":"\#(kind)""#
        if hasID {
            header += #","id":\#(id)"#
            session.nextID += 1
        }
        header += members
        if key > 0 { header += #","key":"k\#(key)""# }
        var deadline: Int? = 30_000
        var credit = 16
        var parent = -1
        var parentID: UInt64 = 0
        if kind != "broadcast" {
            switch step.b >> 4 & 7 {
            case 0:
                (deadline, credit) = (nil, step.b & 3)
                header += #","deadline":0,"credit":\#(credit)"#
            case 1:
                deadline = 1
                header += #","deadline":-5"#
            case 2, 3:
                deadline = 1 + step.b % 500
                header += #","deadline":\#(1 + step.b % 500)"#
            case 4:
                (deadline, credit) = (2_000, step.b & 3)
                header += #","deadline":2000,"credit":\#(credit)"#
            default: break
            }
            // The end of one of the bus's own calls isn't judged.
            if step.a & 512 > 0, let served = session.pending.last, served.request >= 0 {
                header += #","parent":\#(served.id)"#
                (parent, parentID) = (served.request, served.id)
            } else if step.a & 1_024 > 0, step.b & 15 == 0 {
                header += #","parent":77"#
                parent = -2
            }
        }
        let request = SimulatedRequest(
            number: number, session: session.number, id: id, target: target, name: name, object: object,
            rank: rank ?? session.rank, deadline: deadline, parent: parent, parentID: parentID,
            depth: parent < 0 ? told : 1 + referee.requests[parent].depth, key: key, skipsAuthorization: skips,
            isEndless: isEndless, stream: .init(credit: credit))
        referee.requests.append(request)
        if hasID {
            session.open[id] = number
            referee.open.append(number)
        }
        send(session, header + "}", body(number), .request(number))
    }

    /// Made once, because they are long.
    private static let (long, larger) = (
        #","p":"\#(String(repeating: "x", count: 1_500))""#, #","p":"\#(String(repeating: "x", count: 17_000))""#
    )

    /// Returns a body with the request's number. Some bodies are longer, and some are too long to
    /// be copied.
    private func body(_ step: SimulationStep) -> (Int) -> String {
        // Of requests with a key more are long, so that they wait for room while shorter ones could go.
        let isLong = step.b & 31 == 2 || Self.key(step) > 0 && step.a & 3 == 0
        let rest = step.b & 31 == 1 ? Self.larger : isLong ? Self.long : ""
        return { #"{"n":\#($0)\#(rest)}"# }
    }

    private func call(_ step: SimulationStep, _ session: SimulatedSession) {
        guard session.role != .launcher else { return }
        if goesElsewhere(step), step.b >> 9 & 1 == 1 { return openElsewhere(step, session) }
        let owner = app.row(of: step.a % app.modules.count)
        if step.a & 128 > 0, let instance = referee.sessions.last(where: { $0.instances.last != nil })?.instances.last {
            return request(
                session, "call", .instance(instance), #","to":"\#(instance)/a""#, body: body(step), step: step)
        }
        let action = SimulatedApp.actions[step.b % 3]
        let skips = action == "b" && step.a & 64 > 0
        request(
            session, "call", .action(owner, action),
            #","to":"\#(app.modules[owner].interface)/\#(action)"\#(skips ? #","auth":"skip""# : "")"#,
            body: body(step), step: step, skips: skips, key: Self.key(step))
    }

    private func open(_ step: SimulationStep, _ session: SimulatedSession) {
        guard session.role != .launcher else { return }
        if goesElsewhere(step) { return openElsewhere(step, session) }
        let owner = app.row(of: step.a % app.modules.count)
        let url = SimulatedURL.allCases[step.b % SimulatedURL.allCases.count]
        let text = url.text(owner, referee.requests.count)
        // Another app's chain goes on; from other peers the member means nothing.
        let depth = [1, 1, 2, 4][step.b >> 8 & 3]
        request(
            session, "open", .url(owner, url), #","url":"\#(text)","depth":\#(depth)"#, body: { _ in "" }, step: step,
            told: session.isOtherApp ? depth : 1, key: Self.key(step))
    }

    private func report(_ step: SimulationStep, _ session: SimulatedSession) {
        guard session.role != .launcher else { return }
        let target = app.row(of: step.a % app.modules.count)
        let (name, object) = Self.notification(step)
        request(
            session, "report", .report(target),
            #","to":"\#(app.rowName(target))""# + Self.members(name, object), body: body(step), step: step,
            name: name, object: object, key: Self.key(step))
    }

    private func broadcast(_ step: SimulationStep, _ session: SimulatedSession) {
        guard session.role != .launcher else { return }
        let (name, object) = Self.notification(step)
        let rank = session.role == .operator ? step.a % 3 : session.rank
        let level = session.role == .operator ? #","level":"\#(SimulatedApp.levels[rank])""# : ""
        request(
            session, "broadcast", .broadcast, Self.members(name, object) + level, body: body(step), step: step,
            hasID: step.b & 64 > 0, name: name, object: object, rank: rank)
    }

    /// Returns the number of a request's key; 0 for none.
    private static func key(_ step: SimulationStep) -> Int { step.b >> 11 & 1 == 1 ? 1 + step.a >> 10 & 1 : 0 }

    private static func notification(_ step: SimulationStep) -> (Int, Int?) {
        ((step.a >> 5) % SimulatedApp.notifications, step.a >> 8 & 3 < SimulatedApp.objects ? step.a >> 8 & 3 : nil)
    }

    private static func members(_ name: Int, _ object: Int?) -> String {
        #","name":"n\#(name)"\#(object.map { #","object":"o\#($0)""# } ?? "")"#
    }

    private func cancel(_ step: SimulationStep, _ session: SimulatedSession) {
        guard let id = Self.pick(session.open, step) else { return }
        send(session, #"{"kind":"cancel","id":\#(id)}"#, "", .cancel(session.open[id] ?? 0))
    }

    private func credit(_ step: SimulationStep, _ session: SimulatedSession) {
        let delivered = session.open.filter { !referee.requests[$0.value].delivery.sessions.isEmpty }
        guard let id = Self.pick(delivered.isEmpty ? session.open : delivered, step) else { return }
        let credit = step.b % 4
        send(
            session, #"{"kind":"credit","id":\#(id),"credit":\#(credit)}"#, "", .credit(session.open[id] ?? 0, credit))
    }

    /// Picks one of the open requests. Sorts them first, because a dictionary's order differs on
    /// each run.
    private static func pick(_ open: [UInt64: Int], _ step: SimulationStep) -> UInt64? {
        open.isEmpty ? nil : open.keys.sorted()[step.a % open.count]
    }

    // MARK: The bus's own actions

    private func askBus(_ step: SimulationStep, _ session: SimulatedSession) {
        switch step.kind {
        case .observe:
            guard session.isModule else { return }
            let what = SimulatedApp.observed(step.a)
            request(session, "call", .observe(what), #","to":"bus/observe""#, body: { _ in what.json }, step: step)
        case .unobserve:
            guard !session.observations.isEmpty else { return }
            let number = session.observations[step.a % session.observations.count].number
            guard session.observations.contains(where: { $0.number == number && $0.until == .max }) else { return }
            request(
                session, "call", .unobserve(number), #","to":"bus/unobserve""#,
                body: { _ in #"{"subscription":\#(number)}"# }, step: step)
        case .create:
            let owner = app.row(of: step.a % app.modules.count)
            guard session.isModule, let interface = app.modules[owner].instances else { return }
            request(
                session, "call", .create(owner), #","to":"bus/create""#,
                body: { _ in #"{"interface":"\#(interface)"}"# }, step: step)
        case .release:
            guard let instance = session.instances.last else { return }
            request(
                session, "call", .release(instance), #","to":"bus/release""#,
                body: { _ in #"{"instance":"\#(instance)"}"# }, step: step)
        case .ask where goesElsewhere(step) && session.role != .launcher: askElsewhere(step, session)
        default:
            if step.b & 15 == 1, session.place >= 0 {
                let name = app.rowName(step.a % app.modules.count)
                let action = AppTable.Row.managing[step.a / 8 % 3]
                return request(
                    session, "call", .bus, #","to":"launcher/\#(action)""#, body: { _ in #"{"module":"\#(name)"}"# },
                    step: step)
            }
            let list = step.b & 1 == 0 ? "timeline" : "requests"
            let action = ["ping", "levels", "modules", "interfaces", "names", "stats", "watch", list][step.a % 8]
            request(
                session, "call", .bus, #","to":"bus/\#(action)""#, body: { _ in "{}" }, step: step,
                isEndless: action == "watch")
        }
    }

    private func emit(_ step: SimulationStep, _ session: SimulatedSession) {
        guard session.role == .operator else { return }
        switch step.a % 4 {
        case 0, 1:
            let policy = ["notify", "all", "any"][step.b % 3]
            request(
                session, "call", .bus, #","to":"bus/emit","name":"e0","meta":{"policy":"\#(policy)"}"#,
                body: { _ in "{}" }, step: step, isEndless: true)
        case 2 where step.b & 3 == 3:
            request(session, "call", .bus, #","to":"bus/traffic""#, body: { _ in "{}" }, step: step, isEndless: true)
        case 2:
            let params = step.b & 1 == 0 ? #"{"bodies":true}"# : #"{"kinds":["call","notice","error"],"most":2}"#
            request(
                session, "call", .bus, #","to":"bus/monitor""#, body: { _ in params }, step: step, isEndless: true)
        default:
            request(session, "call", .bus, #","to":"bus/reload""#, body: { _ in "{}" }, step: step)
        }
    }

    // MARK: Lies

    /// Sends what no honest peer would send. Some of it ends the connection.
    private func lie(_ step: SimulationStep, _ session: SimulatedSession) {
        func raw(_ header: String) { send(session, header, "", .other) }
        switch step.a % 10 {
        case 0: raw(#"{"kind":"reply","id":4242}"#)
        case 1: raw(#"{"kind":"error","id":999999}"#)
        case 2: raw(#"{"kind":"cancel","id":31337}"#)
        case 3: raw(#"{"kind":"credit","id":31337,"credit":5}"#)
        case 4:
            guard let id = Self.pick(session.open, step) else { return }
            session.reused.insert(id)
            raw(#"{"kind":"call","id":\#(id),"to":"bus/ping"}"#)
        case 5: raw(#"{"kind":"call","id":0,"to":"bus/ping"}"#)
        case 6: raw(#"{"kind":"call","id":5,"id":6,"to":"bus/ping"}"#)
        case 7: send(session, bytes: FrameBytes.lengths(frame: 3, header: 9), .other)
        case 8:
            send(session, bytes: FrameBytes.lengths(frame: 90, header: 20), .other)
            session.pipe.close()
        default: send(session, bytes: FrameBytes.lengths(frame: 1 << 28, header: 20), .other)
        }
    }
}
