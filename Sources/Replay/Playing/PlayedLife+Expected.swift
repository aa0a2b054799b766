import StrataConformance
import StrataCore

/// What the module must do by now, as it did in the recording.
extension PlayedLife {
    /// Waits until a condition holds. A module whose time is over may wait for the answer to a request that isn't in
    /// the recording: it is answered, and has its time again.
    func wait(until condition: @escaping () -> Bool) throws(Finding) -> Bool {
        if try session.wait(take, until: condition) { return true }
        guard !session.isOver, !strays.isEmpty else { return false }
        try settleStrays()
        return try session.wait(take, until: condition)
    }

    func expectAnswer(_ index: Int) throws(Finding) {
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
        } else if !isSame(recorded[expected - 1], found[expected - 1], life.asks[index].frame.to) {
            asks[index].isTold = true
            count.answered += 1
            tell(index, .answer, recorded[expected - 1], found[expected - 1].shown)
        } else if isLast {
            count.answered += 1
        }
    }

    /// Whether an answer is as it was. What a module has measured isn't.
    private func isSame(_ one: RecordedLife.Answer, _ other: RecordedLife.Answer, _ to: String) -> Bool {
        to == "module/metrics" ? one.code == other.code : one.isSame(as: other, ignoring: plan.ignored)
    }

    private func tell(_ index: Int, _ kind: Difference.Kind, _ recorded: RecordedLife.Answer, _ replayed: String) {
        let frame = life.asks[index].frame
        tell(
            Difference(
                kind: kind, at: frame.at, what: "\(frame.to) from \(frame.from)", params: frame.body,
                recorded: recorded.shown, replayed: replayed))
    }

    func expectOwn(_ index: Int) throws(Finding) {
        let frame = life.own[index].frame
        let target = Target(frame)
        let isThere = { [unowned self] in own[index].wasSent || strays.contains { Target($0) == target } }
        _ = try wait(until: isThere)
        if !own[index].wasSent, let stray = strays.firstIndex(where: { Target($0) == target }) {
            try pair(strays.remove(at: stray), index)
        }
        if own[index].wasSent {
            count.requests += 1
        } else if !session.isOver {
            unsent[target]?.removeAll { $0 == index }
            tell(
                Difference(
                    kind: .missingRequest, at: frame.at, what: "\(target)", recorded: Self.sent(frame.body),
                    replayed: "not sent"))
        }
    }

    /// Takes a request of the module for a recorded one with another body.
    private func pair(_ request: ProbeFrame, _ index: Int) throws(Finding) {
        let frame = life.own[index].frame
        unsent[Target(frame)]?.removeAll { $0 == index }
        try note(request, as: index)
        tell(
            Difference(
                kind: .request, at: frame.at, what: "\(Target(frame))", recorded: Self.sent(frame.body),
                replayed: Self.sent(request.json)))
    }

    private static func sent(_ body: JSON?) -> String { "sent" + (body.map { $0 == .null ? "" : " \($0)" } ?? "") }

    func expectNoticeAnswer(_ answer: RecordedLife.Answer) throws(Finding) {
        guard unansweredNotices == 0 else {
            unansweredNotices -= 1
            return
        }
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

    /// Decides about the strays. If the recording has a request with the same target and another body, the stray is
    /// taken for that one. The other strays are new: each is told, and answered.
    func settleStrays() throws(Finding) {
        for frame in strays {
            if let index = unsent[Target(frame)]?.last {
                try pair(frame, index)
                continue
            }
            tell(
                Difference(
                    kind: .newRequest, at: 0, what: "\(Target(frame))", recorded: "not sent",
                    replayed: Self.sent(frame.json)))
            try answerFromHere(frame)
        }
        strays = []
    }
}
