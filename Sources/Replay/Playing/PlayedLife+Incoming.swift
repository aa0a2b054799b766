import StrataConformance
import StrataCore

/// What the module sends.
extension PlayedLife {
    func take(_ frame: ProbeFrame) throws(Finding) {
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
                guard target.comparesBody, let recorded = life.own[index].frame.body else { return true }
                return recorded.isSame(as: frame.json, ignoring: plan.ignored)
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

    func note(_ frame: ProbeFrame, as index: Int) {
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
