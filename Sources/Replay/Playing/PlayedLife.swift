import StrataConformance
import StrataCore

/// Plays one life of a module: sends what it was sent, waits for what it sent then, and compares.
///
/// A frame goes to the module when everything has come that came before it in the recording. So an answer that the
/// module needs is there in time, and nothing is sent to a module that isn't as far yet. What hasn't come when the
/// module's time is over is a difference, and the replay goes on without it.
final class PlayedLife {
    let plan: ReplayPlan
    let life: RecordedLife
    let session: PlayedSession
    private(set) var count: ReplayCount
    let tell: (Difference) -> Void

    var observations = PlayedObservations()
    var asks: [LiveAsk]
    var own: [LiveOwn]
    /// Which recorded call each number of this session stands for.
    private var askOfID: [Int64: Int] = [:]
    private var ownOfID: [Int64: Int] = [:]
    /// Recorded requests that the module hasn't sent yet, by what they ask for.
    private var unsent: [Target: [Int]] = [:]
    /// Requests of the module that aren't in the recording so.
    private var strays: [ProbeFrame] = []
    private var noticeAnswers: [RecordedLife.Answer] = []
    private var isStarting = true

    init(
        _ life: RecordedLife, _ plan: ReplayPlan, _ session: PlayedSession, _ count: ReplayCount,
        tell: @escaping (Difference) -> Void
    ) {
        (self.life, self.plan, self.session, self.count, self.tell) = (life, plan, session, count, tell)
        asks = Array(repeating: LiveAsk(), count: life.asks.count)
        own = Array(repeating: LiveOwn(), count: life.own.count)
        for index in life.own.indices.reversed() { unsent[Target(life.own[index].frame), default: []].append(index) }
    }

    // MARK: The start

    /// Answers hello, and starts the module if the recording doesn't.
    func start() throws(Finding) {
        var hello: ProbeFrame?
        _ = try session.wait({ hello = $0 }, until: { hello != nil })
        guard let hello, hello.to == "bus/hello" else {
            throw Finding("the module doesn't say hello")
        }
        let numbers = observations.add((hello.json["observes"]?.array ?? []) + plan.observes)
        let settings = plan.settings(declared: hello.json["settings"]?.array)
        try reply(
            hello.id, .object(plan.welcome + [.init("settings", settings), .init("subscriptions", .array(numbers))]))
        var hasAll = hello.json["more"]?.bool != true
        while !hasAll {
            var part: ProbeFrame?
            guard try session.wait({ part = $0 }, until: { part != nil }), let part, part.to == "bus/register" else {
                throw Finding("the module doesn't send all parts of its hello")
            }
            hasAll = part.json["more"]?.bool != true
            try answerFromHere(part)
        }
        guard !life.hasStart else {
            isStarting = false
            return
        }
        let body: JSON = ["env": .string(plan.env), "settings": settings, "launchOptions": plan.launchOptions]
        for (action, body) in [("module/setUp", body), ("module/initialize", .null), ("module/didStart", .null)] {
            let id = session.newID()
            var isAnswered = false
            try session.send(Self.call(id, action, from: "bus", credit: 0), body)
            let take: (ProbeFrame) throws(Finding) -> Void = { [unowned self] frame throws(Finding) in
                if frame.kind == "reply" || frame.kind == "error", frame.id == id {
                    isAnswered = true
                } else {
                    try self.take(frame)
                }
            }
            guard try session.wait(take, until: { isAnswered }) else {
                throw Finding("the module doesn't answer \(action); the recording doesn't have its start")
            }
        }
        isStarting = false
    }

    static func call(_ id: Int64, _ to: String, from: String, credit: Int64) -> [JSON.Member] {
        [
            .init("kind", "call"), .init("id", .integer(id)), .init("to", .string(to)), .init("from", .string(from)),
            .init("deadline", 30_000), .init("credit", .integer(credit)),
        ]
    }

    private func reply(_ id: Int64, _ body: JSON) throws(Finding) {
        try session.send([.init("kind", "reply"), .init("id", .integer(id))], body)
    }

    // MARK: The steps

    /// Plays all steps. Ends early if the module ends.
    func play() throws(Finding) {
        let begin = ContinuousClock.now
        for (step, at) in life.steps {
            if plan.keepsTimes { try waitForTime(at, since: begin) }
            try play(step)
            if session.isOver { break }
        }
        if !session.isOver { try tellStrays() }
    }

    private func waitForTime(_ at: Int64, since begin: ContinuousClock.Instant) throws(Finding) {
        let due = begin + .microseconds(max(0, at - (life.steps.first?.at ?? at)))
        if due > .now { try session.pass(due - .now, take) }
    }

    private func play(_ step: RecordedLife.Step) throws(Finding) {
        switch step {
        case .ask(let index): try send(ask: index)
        case .answered(let index): try expectAnswer(index)
        case .withdraw(let index):
            if asks[index].isOpen, let id = askOfID.first(where: { $0.value == index })?.key {
                try session.send([.init("kind", "cancel"), .init("id", .integer(id))])
                asks[index].isOpen = false
            }
        case .own(let index): try expectOwn(index)
        case .answer(let index, let answer): try send(answer, to: index)
        case .notice(let frame): try send(notice: frame)
        case .noticeAnswered(let answer): try expectNoticeAnswer(answer)
        case .end: _ = try session.wait(take, until: { false })
        }
    }

    private func send(ask index: Int) throws(Finding) {
        let frame = life.asks[index].frame
        guard let body = frame.body else {
            count.unsent += 1
            return
        }
        let id = session.newID()
        askOfID[id] = index
        asks[index].wasSent = true
        asks[index].isOpen = true
        // One more than it answered then: what it sends beyond that shows.
        let partial = life.asks[index].answers.count { $0.isPartial }
        var header = Self.call(id, frame.to, from: frame.from, credit: Int64(partial + 1))
        if let url = frame.url { header.append(.init("url", .string(url))) }
        if !frame.name.isEmpty { header.append(.init("name", .string(frame.name))) }
        if let creator = life.asks[index].creator {
            header.append(
                .init("meta", ["from": .string(creator), "level": .string(plan.levels[creator] ?? "")]))
        }
        try session.send(header, plan.withSecrets(body))
    }

    private func send(notice frame: RecordedFrame) throws(Finding) {
        guard let body = frame.body, let number = observations.take(frame.name, frame.object) else {
            count.unsent += 1
            return
        }
        count.notices += 1
        var header: [JSON.Member] = [.init("kind", "notice")]
        if frame.isReported { header.append(.init("id", .integer(session.newID()))) }
        header += [
            .init("from", .string(frame.from)), .init("level", .string(plan.levels[frame.from] ?? "")),
            .init("name", .string(frame.name)),
        ]
        if let object = frame.object { header.append(.init("object", .string(object))) }
        header += [
            .init("via", frame.isReported ? "report" : "broadcast"), .init("subscription", .integer(number)),
        ]
        try session.send(header, body)
    }

    private func send(_ answer: RecordedLife.Answer, to index: Int) throws(Finding) {
        guard own[index].wasSent, let id = own[index].id else { return }
        if answer.isPartial {
            _ = try wait { self.own[index].credit > 0 }
            own[index].credit -= 1
        }
        guard let body = answer.body else {
            count.unsent += 1
            return try fail(id, "the recording doesn't have the body of this answer")
        }
        let target = life.own[index].frame.to
        guard !Self.isAnsweredFromHere(target) || !answer.code.isEmpty else { return }
        if answer.code.isEmpty {
            var header: [JSON.Member] = [.init("kind", "reply"), .init("id", .integer(id))]
            if answer.isPartial { header.append(.init("more", true)) }
            try session.send(header, body)
        } else {
            try fail(id, "as in the recording", answer.code, body)
        }
    }

    private func fail(
        _ id: Int64, _ message: String, _ code: String = "unavailable", _ body: JSON = .null
    ) throws(Finding) {
        try session.send(
            [
                .init("kind", "error"), .init("id", .integer(id)), .init("code", .string(code)),
                .init("message", .string(message)), .init("ran", "no"),
            ], body)
    }

    // MARK: What is expected

    private func wait(until condition: @escaping () -> Bool) throws(Finding) -> Bool {
        try session.wait(take, until: condition)
    }

    private func expectAnswer(_ index: Int) throws(Finding) {
        guard asks[index].wasSent, !asks[index].isTold else { return }
        asks[index].expected += 1
        let (recorded, expected) = (life.asks[index].answers, asks[index].expected)
        let hasCome = try wait { [unowned self] in asks[index].answers.count >= expected || !asks[index].isOpen }
        let found = asks[index].answers
        let isLast = expected == recorded.count
        if found.count < expected {
            asks[index].isTold = true
            // What a process that ended didn't answer is told with its end.
            if !session.isOver {
                tell(index, .missingAnswer, recorded[expected - 1], hasCome ? "no further answer" : "no answer")
            }
        } else if !recorded[expected - 1].isSame(as: found[expected - 1], ignoring: plan.ignored) {
            asks[index].isTold = true
            count.answered += 1
            tell(index, .answer, recorded[expected - 1], found[expected - 1].shown)
        } else if isLast {
            count.answered += 1
        }
    }

    private func tell(_ index: Int, _ kind: Difference.Kind, _ recorded: RecordedLife.Answer, _ replayed: String) {
        let frame = life.asks[index].frame
        tell(
            Difference(
                kind: kind, at: frame.at, what: "\(frame.to) from \(frame.from)", params: frame.body,
                recorded: recorded.shown, replayed: replayed))
    }

    private func tell(_ difference: Difference) {
        count.differences += 1
        (self.tell as (Difference) -> Void)(difference)
    }

    private func expectOwn(_ index: Int) throws(Finding) {
        let frame = life.own[index].frame
        let target = Target(frame)
        let isThere = { [unowned self] in own[index].wasSent || strays.contains { Target($0) == target } }
        if try !wait(until: isThere), !session.isOver {
            // It may wait for the answer to something that isn't in the recording.
            try tellStrays()
            _ = try wait(until: isThere)
        }
        guard !own[index].wasSent else {
            count.requests += 1
            return
        }
        unsent[target]?.removeAll { $0 == index }
        guard let stray = strays.firstIndex(where: { Target($0) == target }) else {
            guard !session.isOver else { return }
            return tell(
                Difference(
                    kind: .missingRequest, at: frame.at, what: "\(target)", recorded: Self.sent(frame.body),
                    replayed: "not sent"))
        }
        count.requests += 1
        let request = strays.remove(at: stray)
        note(request, as: index)
        tell(
            Difference(
                kind: .request, at: frame.at, what: "\(target)", recorded: Self.sent(frame.body),
                replayed: Self.sent(request.json)))
    }

    private static func sent(_ body: JSON?) -> String { "sent" + (body.map { $0 == .null ? "" : " \($0)" } ?? "") }

    private func expectNoticeAnswer(_ answer: RecordedLife.Answer) throws(Finding) {
        guard try wait(until: { [unowned self] in !noticeAnswers.isEmpty }) else {
            guard !session.isOver else { return }
            return tell(
                Difference(
                    kind: .missingAnswer, at: 0, what: "a report's notice", recorded: answer.shown,
                    replayed: "no answer"))
        }
        count.answered += 1
        let found = noticeAnswers.removeFirst()
        guard !answer.isSame(as: found, ignoring: plan.ignored) else { return }
        tell(
            Difference(
                kind: .answer, at: 0, what: "a report's notice", recorded: answer.shown, replayed: found.shown))
    }

    /// Tells of the requests that the recording doesn't have, and answers them.
    private func tellStrays() throws(Finding) {
        for frame in strays {
            tell(
                Difference(
                    kind: .newRequest, at: 0, what: "\(Target(frame))", recorded: "not sent",
                    replayed: Self.sent(frame.json)))
            try answerFromHere(frame)
        }
        strays = []
    }

    // MARK: What comes

    private func take(_ frame: ProbeFrame) throws(Finding) {
        switch frame.kind {
        case "reply", "error": takeAnswer(frame)
        case "credit":
            guard let index = ownOfID[frame.id] else { return }
            let (sum, isTooMuch) = own[index].credit.addingReportingOverflow(frame.header["credit"]?.integer ?? 0)
            own[index].credit = isTooMuch ? .max : sum
        case "call", "open", "broadcast", "report":
            let target = Target(frame)
            let places = unsent[target] ?? []
            let isSame = { [life, plan] (index: Int) -> Bool in
                let recorded = life.own[index].frame.body
                return !target.comparesBody || recorded == nil
                    || recorded!.isSame(as: frame.json, ignoring: plan.ignored)  // because it was compared with nil
            }
            if let place = places.lastIndex(where: isSame) {
                unsent[target]?.remove(at: place)
                note(frame, as: places[place])
            } else if isStarting {
                // The recording doesn't have this start.
                try answerFromHere(frame)
                return
            } else {
                strays.append(frame)
                guard strays.count <= Self.mostStrays else {
                    throw Finding("the module sent over \(Self.mostStrays) requests that the recording doesn't have")
                }
            }
            if Self.isAnsweredFromHere(frame.to) { try answerFromHere(frame) }
        default: break
        }
    }

    private static let mostStrays = 1_000

    private func note(_ frame: ProbeFrame, as index: Int) {
        own[index].wasSent = true
        guard frame.id != 0 else { return }
        own[index].id = frame.id
        own[index].credit = frame.header["credit"]?.integer ?? 16
        ownOfID[frame.id] = index
    }

    private func takeAnswer(_ frame: ProbeFrame) {
        let answer = RecordedLife.Answer(code: frame.code, isPartial: frame.isPartial, body: frame.json)
        guard let index = askOfID[frame.id] else {
            noticeAnswers.append(answer)
            return
        }
        guard asks[index].isOpen else { return }
        asks[index].answers.append(answer)
        asks[index].isOpen = answer.isPartial
    }

    // MARK: What the broker itself answers

    /// Whether the replay answers a request anew, because the answer has numbers of this session.
    private static func isAnsweredFromHere(_ to: String) -> Bool {
        ["bus/observe", "bus/unobserve", "bus/register"].contains(to)
    }

    /// Answers a request that has no answer in the recording.
    private func answerFromHere(_ frame: ProbeFrame) throws(Finding) {
        guard frame.id != 0 else { return }
        switch (frame.kind, frame.to) {
        case ("call", "bus/observe"):
            try reply(frame.id, ["subscription": observations.add([frame.json]).first ?? .null])
        case ("call", "bus/unobserve"):
            observations.remove([frame.json["subscription"]?.integer ?? 0])
            try reply(frame.id, [:])
        case ("call", "bus/register"):
            try reply(frame.id, ["subscriptions": .array(observations.add(frame.json["observes"]?.array ?? []))])
        case ("broadcast", _): try reply(frame.id, ["recipients": 0])
        case ("report", _): try reply(frame.id, ["observers": 0])
        case ("call", let to) where to.hasPrefix("bus/"): try reply(frame.id, [:])
        default: try fail(frame.id, "the recording has no answer to this request")
        }
    }

    /// What the module was doing when it ended: the calls that it hadn't answered, the newest last.
    var open: [RecordedFrame] { asks.indices.filter { asks[$0].isOpen }.map { life.asks[$0].frame } }
}
