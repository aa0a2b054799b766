import StrataConformance
import StrataCore

/// The module's hello and start.
extension PlayedLife {
    /// Answers hello, and starts the module if the recording doesn't.
    func start() throws(Finding) {
        guard let hello = try early("bus/hello") else { throw Finding("the module doesn't say hello") }
        let numbers = observations.add(hello.json["observes"]?.array ?? [], row: plan.observes)
        let settings = plan.settings(declared: hello.json["settings"]?.array)
        try reply(
            hello.id, .object(plan.welcome + [.init("settings", settings), .init("subscriptions", .array(numbers))]))
        var hasAll = hello.json["more"]?.bool != true
        while !hasAll {
            guard let part = try early("bus/register") else {
                throw Finding("the module doesn't send all parts of its hello")
            }
            hasAll = part.json["more"]?.bool != true
            try answerFromHere(part)
        }
        isStarting = !life.hasStart
        for frame in early { try take(frame) }
        guard isStarting else { return }
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

    /// Returns the module's next call of an action. What comes before it is looked at later.
    private func early(_ action: String) throws(Finding) -> ProbeFrame? {
        let place = { [unowned self] in early.firstIndex { $0.to == action } }
        _ = try session.wait({ [unowned self] in early.append($0) }, until: { place() != nil })
        return place().map { early.remove(at: $0) }
    }
}
