import StrataCore

extension KitCheck {
    /// Section 7.
    static var notifications: [KitCheck] {
        [
            .ready(.notifications, "a broadcast has its name, object and body", needs: ["Probe/broadcast"]) {
                session throws(Finding) in
                let id = session.call("Probe/broadcast", ["name": "probe.sent", "object": "o", "params": ["a": 1]])
                let sent = try session.request("broadcast")
                try session.expect(sent.header["name"], "probe.sent", "name")
                try session.expect(sent.header["object"], "o", "object")
                try session.expect(sent.json, ["a": 1], "the params")
                let isCounted = sent.header["id"] != nil
                if isCounted { session.reply(to: sent, ["recipients": 3]) }
                try session.expect(try session.value(of: id), isCounted ? ["recipients": 3] : nil)
            },
            .ready(.notifications, "a report waits for its answer", needs: ["Probe/report"]) {
                session throws(Finding) in
                let id = session.call("Probe/report", ["to": "Log", "name": "probe.told", "object": "o", "params": 5])
                let sent = try session.request("report", to: "Log")
                try session.expect(sent.header["name"], "probe.told", "name")
                try session.expect(sent.header["object"], "o", "object")
                try session.expect(sent.json, 5, "the params")
                session.reply(to: sent, ["observers": 2])
                try session.expect(try session.value(of: id), ["reply": ["observers": 2]])
            },
            .ready(.notifications, "a report may be refused", needs: ["Probe/report"]) { session throws(Finding) in
                let id = session.call("Probe/report", ["to": "Log", "name": "probe.told"])
                session.refuse(try session.request("report", to: "Log"), "level-violation", ran: "no")
                try session.expect(try session.value(of: id)["error"]?["code"], "level-violation", "the code")
            },
            .ready(.notifications, "notices keep their order", needs: ["probe.begun", "Probe/notices"]) {
                session throws(Finding) in
                _ = try session.ask("Probe/notices")
                for number in 0..<50 as Range<Int64> {
                    session.notice(HelloAnswer.observation, "probe.begun", .integer(number))
                }
                let found = try session.ask("Probe/notices").array ?? []
                try session.expect(
                    .array(found.map { $0["params"] ?? nil }), .array((0..<50).map { .integer($0) }),
                    "the notices' params")
            },
            .ready(
                .notifications, "a notice says how many were missed before it", needs: ["probe.begun", "Probe/notices"]
            ) {
                session throws(Finding) in
                _ = try session.ask("Probe/notices")
                session.notice(HelloAnswer.observation, "probe.begun", nil, adding: ["missed": 4])
                let found = try session.ask("Probe/notices")
                try session.expect(
                    found, .array([["name": "probe.begun", "object": nil, "params": nil, "missed": 4]]), "the notices")
            },
            .ready(
                .notifications, "a reported notice is answered once it is handled",
                needs: ["probe.begun", "Probe/notices"]
            ) {
                session throws(Finding) in
                let told = session.reported(["x": 1])
                _ = try session.value(of: told)
                guard try session.ask("Probe/notices").array?.contains(where: { $0["params"]?["x"] != nil }) == true
                else {
                    throw Finding("the notice must reach its handler")
                }
            },
            .ready(.notifications, "a reported notice may be refused", needs: ["probe.begun"]) {
                session throws(Finding) in
                try session.expectError(session.reported(["fail": "Probe.not-now"]), "Probe.not-now")
            },
            .ready(.notifications, "a notice of an observation that isn't there is answered, and does no harm") {
                session throws(Finding) in
                let id = session.newID()
                session.send(
                    [
                        "kind": "notice", "id": .integer(id), "from": "Tester", "level": "basic",
                        "name": "never.observed",
                        "via": "report", "subscription": 999_999,
                    ])
                _ = try session.answer(to: id)
                try session.expectItServes()
            },
        ]
    }
}

extension KitSession {
    /// Sends a notice that was reported, which wants an answer.
    func reported(_ params: JSON, adding: JSON = [:]) -> Int64 {
        let id = newID()
        let header: JSON = [
            "kind": "notice", "id": .integer(id), "from": "Tester", "level": "topout", "name": "probe.begun",
            "via": "report", "subscription": .integer(HelloAnswer.observation),
        ]
        send(header.adding(adding), params.encoded())
        return id
    }
}

extension JSON {
    /// Returns this object with further members after its own.
    func adding(_ further: JSON) -> JSON { .object((object ?? []) + (further.object ?? [])) }
}
