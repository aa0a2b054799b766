import StrataConformance
import StrataCore

/// The module's hello and start.
extension PlayedLife {
    /// Answers hello, and starts the module if the recording doesn't.
    func start() throws(Finding) {
        var hello: ProbeFrame?
        _ = try session.wait({ hello = $0 }, until: { hello != nil })
        guard let hello, hello.to == "bus/hello" else {
            throw Finding("the module doesn't say hello")
        }
        let numbers = observations.add(hello.json["observes"]?.array ?? [], row: plan.observes)
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
}
