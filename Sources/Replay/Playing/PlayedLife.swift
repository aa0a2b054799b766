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
    var count: ReplayCount
    private let onDifference: (Difference) -> Void

    var observations = PlayedObservations()
    var asks: [LiveAsk]
    var own: [LiveOwn]
    /// Which recorded call each number of this session stands for.
    var askOfID: [Int64: Int] = [:]
    var ownOfID: [Int64: Int] = [:]
    /// Recorded requests that the module hasn't sent yet, by what they ask for.
    var unsent: [Target: [Int]] = [:]
    /// Requests of the module that equal none of the recorded ones.
    var strays: [ProbeFrame] = []
    var noticeAnswers: [RecordedLife.Answer] = []
    var isStarting = true
    /// Notices of reports that couldn't be sent, and whose answers don't come.
    var unansweredNotices = 0
    /// What came with hello or after it, and was not looked at yet.
    var early: [ProbeFrame] = []

    init(
        _ life: RecordedLife, _ plan: ReplayPlan, _ session: PlayedSession, _ count: ReplayCount,
        tell: @escaping (Difference) -> Void
    ) {
        (self.life, self.plan, self.session, self.count, onDifference) = (life, plan, session, count, tell)
        asks = Array(repeating: LiveAsk(), count: life.asks.count)
        own = Array(repeating: LiveOwn(), count: life.own.count)
        for index in life.own.indices.reversed() { unsent[Target(life.own[index].frame), default: []].append(index) }
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
        if !session.isOver { try settleStrays() }
    }

    private func waitForTime(_ at: Int64, since begin: ContinuousClock.Instant) throws(Finding) {
        let due = begin + .microseconds(max(0, at - (life.steps.first?.at ?? at)))
        if due > .now { _ = try session.wait(take, within: due - .now, until: { false }) }
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
        case .end: _ = try wait { false }
        }
    }

    static func call(
        _ id: Int64, _ to: String, from: String, deadline: Int64 = 30_000, credit: Int64
    ) -> [JSON.Member] {
        [
            .init("kind", "call"), .init("id", .integer(id)), .init("to", .string(to)), .init("from", .string(from)),
            .init("deadline", .integer(deadline)), .init("credit", .integer(credit)),
        ]
    }

    func reply(_ id: Int64, _ body: JSON) throws(Finding) {
        try session.send([.init("kind", "reply"), .init("id", .integer(id))], body)
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
        // One more than it answered then: what it sends beyond that shows. A stream's deadline isn't known.
        let partial = life.asks[index].answers.count { $0.isPartial }
        var header = Self.call(
            id, frame.to, from: frame.from, deadline: partial == 0 ? 30_000 : 0,
            credit: frame.to.hasPrefix("module/") ? 0 : Int64(partial + 1))
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
            if frame.isReported { unansweredNotices += 1 }
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
        guard !Self.isAnsweredFromHere(life.own[index].frame.to) || !answer.code.isEmpty else { return }
        if !answer.isPartial { own[index].id = nil }
        guard let body = answer.body else {
            own[index].id = nil
            count.unsent += 1
            return try fail(id, "the recording doesn't have the body of this answer")
        }
        guard answer.code.isEmpty else {
            return try fail(id, "as in the recording", answer.code, body, ran: answer.ran)
        }
        var header: [JSON.Member] = [.init("kind", "reply"), .init("id", .integer(id))]
        if answer.isPartial {
            guard try wait(until: { [unowned self] in own[index].credit > 0 }) else {
                own[index].id = nil
                return try fail(id, "the recording goes on, and there is no credit", "overloaded", ran: "maybe")
            }
            own[index].credit -= 1
            header.append(.init("more", true))
        }
        try session.send(header, body)
    }

    func fail(
        _ id: Int64, _ message: String, _ code: String = "unavailable", _ body: JSON = .null, ran: String = "no"
    ) throws(Finding) {
        try session.send(
            [
                .init("kind", "error"), .init("id", .integer(id)), .init("code", .string(code)),
                .init("message", .string(message)), .init("ran", .string(ran)),
            ], body)
    }

    func tell(_ difference: Difference) {
        count.differences += 1
        onDifference(difference)
    }

    /// Whether a process that ended had done all that it did in the recording before its end.
    var hasDoneAll: Bool {
        for (step, _) in life.steps {
            switch step {
            case .ask(let index): if !asks[index].wasSent, life.asks[index].frame.body != nil { return false }
            case .answered(let index):
                if asks[index].answers.count < life.asks[index].answers.count { return false }
            case .own(let index): if !own[index].wasSent { return false }
            case .withdraw, .answer, .notice, .noticeAnswered: break
            case .end: return true
            }
        }
        return true
    }

    /// What the module was doing when it ended: the calls that it hadn't answered, the newest last.
    var open: [RecordedFrame] { asks.indices.filter { asks[$0].isOpen }.map { life.asks[$0].frame } }
}
