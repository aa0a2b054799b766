import StrataConformance
import StrataCore

/// What the module sends.
extension PlayedLife {
    func take(_ frame: ProbeFrame) throws(Finding) {
        switch frame.kind {
        case "reply", "error": takeAnswer(frame)
        case "credit":
            guard let index = ownOfID[frame.id] else { return }
            let (sum, isTooMuch) = own[index].credit.addingReportingOverflow(
                max(0, frame.header["credit"]?.integer ?? 0))
            own[index].credit = isTooMuch ? .max : sum
        case "call", "open", "broadcast", "report":
            // A start that the recording doesn't have is no part of the comparison.
            guard !isStarting else { return try answerStart(frame) }
            let target = Target(frame)
            if let place = unsent[target, default: []].lastIndex(where: { isSame($0, frame, target) }),
                let index = unsent[target]?.remove(at: place)
            {
                return try note(frame, as: index)
            }
            strays.append(frame)
            guard strays.count <= Self.mostStrays else {
                throw Finding("the module sent over \(Self.mostStrays) requests that the recording doesn't have")
            }
        default: break
        }
    }

    private static let mostStrays = 1_000

    private func isSame(_ index: Int, _ frame: ProbeFrame, _ target: Target) -> Bool {
        guard target.comparesBody, let recorded = life.own[index].frame.body else { return true }
        return recorded.isSame(as: frame.json, ignoring: plan.ignored)
    }

    /// Answers a request of a start that isn't in the recording, as the recording answers the same request later.
    private func answerStart(_ frame: ProbeFrame) throws(Finding) {
        let target = Target(frame)
        for case (.answer(let index, let answer), _) in life.steps {
            guard frame.id != 0, Target(life.own[index].frame) == target, isSame(index, frame, target),
                !Self.isAnsweredFromHere(frame.to), !answer.isPartial, let body = answer.body
            else { continue }
            return answer.code.isEmpty
                ? try reply(frame.id, body)
                : try fail(frame.id, "as in the recording", answer.code, body, ran: answer.ran)
        }
        try answerFromHere(frame)
    }

    /// Takes a request of the module for a recorded one.
    func note(_ frame: ProbeFrame, as index: Int) throws(Finding) {
        own[index].wasSent = true
        guard frame.id != 0 else { return }
        own[index].id = frame.id
        own[index].credit = max(0, frame.header["credit"]?.integer ?? 16)
        ownOfID[frame.id] = index
        if Self.isAnsweredFromHere(frame.to), !life.own[index].hasFailed { try answerFromHere(frame) }
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
    static func isAnsweredFromHere(_ to: String) -> Bool {
        ["bus/observe", "bus/unobserve", "bus/register"].contains(to)
    }

    /// Answers a request that has no answer in the recording.
    func answerFromHere(_ frame: ProbeFrame) throws(Finding) {
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
}
