import StrataCore

extension KitCheck {
    /// Section 5.
    static var sessions: [KitCheck] {
        [
            .own(.session, "hello says the protocol, the module's name and its token") { trial throws(Finding) in
                try trial.start()
                let session = try trial.connect()
                let body = session.hello.json
                try session.expect(body["protocol"], 1, "protocol")
                try session.expect(body["module"], "Probe", "module")
                try session.expect(body["token"], .string(KitTrial.token), "token")
                guard body["interfaces"]?["Probe"]?["actions"]?["echo"] != nil else {
                    throw Finding("hello must bring the interface Probe with the action echo")
                }
                if let resumed = body["resumed"] { try session.expect(resumed, false, "resumed") }
                try HelloForm.judge(body)
                try session.welcome()
                try session.expectItServes()
            },
            .ready(
                .session, "an observation is known by the number that the bus gave it",
                needs: ["Probe/observe", "Probe/notices"]
            ) {
                session throws(Finding) in
                _ = try session.ask("Probe/notices")
                let observing = session.call("Probe/observe", ["name": "other.one", "object": "42", "keep": "latest"])
                let request = try session.request("call", to: "bus/observe")
                try session.expect(
                    request.json, ["name": "other.one", "object": "42", "keep": "latest"], "the body of bus/observe")
                session.reply(to: request, ["subscription": 4711])
                _ = try session.value(of: observing)
                session.notice(4711, "other.one", "seen", adding: ["object": "42"])
                let found = try session.ask("Probe/notices")
                try session.expect(
                    found, .array([["name": "other.one", "object": "42", "params": "seen", "missed": 0]]), "the notices"
                )
                guard session.offers.has("Probe/unobserve") else { return }
                let ending = session.call("Probe/unobserve", ["name": "other.one"])
                let end = try session.request("call", to: "bus/unobserve")
                try session.expect(end.json, ["subscription": 4711], "the body of bus/unobserve")
                session.reply(to: end, [:])
                _ = try session.value(of: ending)
                session.notice(4711, "other.one", "late", adding: ["object": "42"])
                try session.expect(try session.ask("Probe/notices"), .array([]), "the notices after unobserve")
            },
            .own(.session, "after a lost connection it is back, and says resumed") { trial throws(Finding) in
                let first = try trial.ready()
                let hello = first.hello.json
                first.endConnection(nil)
                let second = try trial.connect()
                try second.expect(second.hello.json["resumed"], true, "resumed")
                try second.expect(
                    second.hello.json["interfaces"], hello["interfaces"] ?? nil, "interfaces of the second hello")
                try second.expect(second.hello.json["token"], .string(KitTrial.token), "token")
                try second.welcome()
                try second.expectItServes()
            },
            .own(
                .session, "then its observations have the new session's numbers, those that began later included",
                needs: ["probe.begun", "Probe/observe", "Probe/notices"]
            ) { trial throws(Finding) in
                let first = try trial.ready()
                let observing = first.call("Probe/observe", ["name": "other.one"])
                first.reply(to: try first.request("call", to: "bus/observe"), ["subscription": 4711])
                _ = try first.value(of: observing)
                first.endConnection(nil)
                let second = try trial.connect()
                try second.welcome(HelloAnswer(firstObservation: 9_000))
                let names = second.hello.json["observes"]?.array?.map(HelloForm.observedName) ?? []
                for (index, name) in names.enumerated() {
                    second.notice(9_000 + 11 * Int64(index), name, .integer(Int64(index)))
                }
                let seen = try second.ask("Probe/notices").array?.compactMap { $0["name"]?.string } ?? []
                guard seen == names, seen.contains("probe.begun"), seen.contains("other.one") else {
                    throw Finding("hello observes \(names), and the notices of these reached the handlers: \(seen)")
                }
            },
            .own(.session, "one that was lost before the start was done isn't resumed") { trial throws(Finding) in
                try trial.start()
                let first = try trial.connect()
                first.endConnection(nil)
                let second = try trial.connect()
                if let resumed = second.hello.json["resumed"] { try second.expect(resumed, false, "resumed") }
                try second.welcome()
                try second.expectItServes()
            },
            .own(.session, "the instances of its interface end with the connection", needs: ["Box/put", "Box/get"]) {
                trial throws(Finding) in
                let first = try trial.ready()
                try first.finishStep(
                    first.call(
                        "module/create", ["instance": "Box#3", "params": nil], credit: 0,
                        adding: ["meta": ["from": "Tester", "level": "basic"]]))
                _ = try first.ask("Box#3/put", "kept")
                first.endConnection(nil)
                let second = try trial.connect()
                try second.welcome()
                // An error, or a new box: no bus sends such a call.
                guard try second.answer(to: second.call("Box#3/get")).json != "kept" else {
                    throw Finding("Box#3 must be gone, and has what was kept in it")
                }
            },
            .own(
                .session, "what is open at the client ends with the connection",
                needs: ["Probe/call", "Probe/hang", "Probe/cancels"]
            ) {
                trial throws(Finding) in
                let first = try trial.ready()
                _ = first.call("Probe/hang")
                _ = first.call("Probe/call", ["to": "Other/slow"])
                _ = try first.request("call", to: "Other/slow")
                first.endConnection(nil)
                let second = try trial.connect()
                try second.welcome()
                try second.expectCancels(1)
            },
        ]
    }
}

extension KitSession {
    /// Waits until the probe has seen this many cancels.
    func expectCancels(_ count: Int64) throws(Finding) {
        // Its handlers may run beside one another, so the first answer may come too early.
        var found: JSON = nil
        for _ in 0..<1_000 {
            found = try ask("Probe/cancels")
            if found.isSame(as: .integer(count)) { return }
        }
        throw Finding("\(count) of its handlers must be cancelled; cancels answers \(found)")
    }
}

/// The form of hello's body: each member that the page names has its type.
enum HelloForm {
    static func judge(_ body: JSON) throws(Finding) {
        for (name, isFine, wanted) in rules {
            guard let value = body[name] else { continue }
            guard isFine(value) else {
                throw Finding("hello's \(name) must be \(wanted); found \(ProbeFrame.shown(value.encoded(), []))")
            }
        }
    }

    /// Returns the name that an observation is of, or one that its pattern matches.
    static func observedName(_ observation: JSON) -> String {
        let pattern = (observation["pattern"]?.string ?? "").split(separator: ".", omittingEmptySubsequences: false)
        return observation.string ?? observation["name"]?.string
            ?? pattern.map { $0 == "*" || $0 == ">" ? "any" : String($0) }.joined(separator: ".")
    }

    private static let rules: [(String, @Sendable (JSON) -> Bool, String)] = [
        ("level", { $0.string != nil }, "a text"), ("runtime", { $0.string != nil }, "a text"),
        ("interfaces", areInterfaces, "an object of interfaces"), ("urls", areObjects, "an array of objects"),
        (
            "observes", { all($0) { $0.string != nil || $0["name"]?.string != nil || $0["pattern"]?.string != nil } },
            "an array of names or observations"
        ),
        ("broadcasts", areTexts, "an array of names"), ("events", areTexts, "an array of names"),
        ("requires", areTexts, "an array of interfaces"),
        ("reports", { $0.object?.allSatisfy { areTexts($0.value) } ?? false }, "names for each module"),
        ("resumed", { $0.bool != nil }, "true or false"), ("retiring", { $0.bool != nil }, "true or false"),
        ("more", { $0.bool != nil }, "true or false"),
        ("settings", { all($0) { $0.string != nil || $0["name"]?.string != nil } }, "an array of settings"),
    ]

    private static func all(_ value: JSON, _ isFine: (JSON) -> Bool) -> Bool {
        value.array?.allSatisfy(isFine) ?? false
    }
    @Sendable private static func areTexts(_ value: JSON) -> Bool { all(value) { $0.string != nil } }
    @Sendable private static func areObjects(_ value: JSON) -> Bool { all(value) { $0.object != nil } }
    @Sendable private static func areInterfaces(_ value: JSON) -> Bool {
        value.object?.allSatisfy { interface in
            let instances = interface.value["instances"]?.string ?? "single"
            let actions = interface.value["actions"] ?? [:]
            return (instances == "single" || instances == "multiple")
                && actions.object?.allSatisfy { $0.value.object != nil } ?? false
        } ?? false
    }
}
