import StrataCore

extension KitCheck {
    /// Section 11.
    static var lifeCycle: [KitCheck] {
        [
            .own(.lifeCycle, "the start has its three steps, in order", needs: ["Probe/steps"]) {
                trial throws(Finding) in
                let session = try trial.ready()
                let steps = try session.ask("Probe/steps").array ?? []
                let wanted: [JSON] = ["setUp", "initialize", "didStart"]
                try session.expect(
                    .array(steps.filter { wanted.contains($0) }), .array(wanted), "the steps of the start")
            },
            .ready(.lifeCycle, "an unknown module/… call is answered") { session throws(Finding) in
                try session.expectError(session.call("module/brandNew", credit: 0), "unknown-action")
            },
            .ready(.lifeCycle, "a ping is answered while another call is open", needs: ["Probe/hang"]) {
                session throws(Finding) in
                let hanging = session.call("Probe/hang")
                _ = try session.answer(to: session.call("module/ping", credit: 0))
                session.send(["kind": "cancel", "id": .integer(hanging)])
            },
            .own(.lifeCycle, "settings come with setUp, and change", needs: ["Probe/settings"]) {
                trial throws(Finding) in
                let session = try trial.ready(HelloAnswer(word: "green"))
                try session.expect(try session.ask("Probe/settings")["probe.word"], "green", "the setting probe.word")
                let changing = session.call("module/settings", ["settings": ["probe.word": "red"]], credit: 0)
                let answer = try session.answer(to: changing)
                let wanted: JSON = answer.kind == "reply" ? "red" : "green"
                try session.expect(
                    try session.ask("Probe/settings")["probe.word"], wanted,
                    "after \(answer.kind == "reply" ? "a reply" : "an error") to module/settings, the setting probe.word"
                )
            },
            .ready(.lifeCycle, "an event is answered", needs: ["probe.event"]) { session throws(Finding) in
                let id = session.call("module/event", ["reason": "lid"], credit: 0, adding: ["name": "probe.event"])
                try session.expect(try session.value(of: id), true, "the event's answer")
                guard session.offers.has("Probe/steps") else { return }
                guard try session.ask("Probe/steps").array?.contains("event probe.event") == true else {
                    throw Finding("the event must reach its handler")
                }
            },
            .ready(.lifeCycle, "metrics have their form, if there are any") { session throws(Finding) in
                let answer = try session.finishStep(session.call("module/metrics", credit: 0))
                guard answer.kind == "reply" else { return }
                let metrics = answer.json["metrics"]?.array ?? []
                let types = ["counter", "gauge", "summary"]
                guard answer.json["metrics"]?.array != nil,
                    metrics.allSatisfy({ $0["name"]?.string != nil && types.contains($0["type"]?.string ?? "") })
                else { throw Finding("each of metrics has a name and the type counter, gauge or summary") }
            },
            .ready(.lifeCycle, "contracts have their form, if there are any") { session throws(Finding) in
                let answer = try session.finishStep(session.call("module/contracts", credit: 0))
                guard answer.kind == "reply" else { return }
                guard answer.json["provides"]?.array != nil else {
                    throw Finding("the answer has the array provides; found \(answer.json)")
                }
            },
            .own(.lifeCycle, "it is torn down, and ends with the app") { trial throws(Finding) in
                let session = try trial.ready()
                guard let program = trial.program else { return }
                _ = try session.answer(to: session.call("module/retiring", deadline: 5_000, credit: 0))
                try session.finishStep(session.call("module/tearDown", deadline: 5_000, credit: 0))
                session.endConnection("shutting-down")
                let end = try trial.end(of: program)
                guard end == .exit(0) else { throw Finding("after shutting-down it must end with 0; found \(end)") }
            },
        ]
    }
}
