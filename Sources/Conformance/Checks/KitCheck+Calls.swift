import StrataCore

extension KitCheck {
    /// Section 6 without instances and streams, and section 12.
    static var calls: [KitCheck] {
        [
            .ready(.calls, "calls are served beside one another", needs: ["Probe/hang", "Probe/cancels"]) {
                session throws(Finding) in
                let hanging = session.call("Probe/hang")
                try session.expectItServes()
                session.send(["kind": "cancel", "id": .integer(hanging)])
                try session.expectItServes()
            },
            .own(.calls, "a cancel ends its handler, and no other", needs: ["Probe/hang", "Probe/cancels"]) {
                trial throws(Finding) in
                let session = try trial.ready()
                let first = session.call("Probe/hang")
                let second = session.call("Probe/hang")
                // So that both handlers run by then: one that is cancelled before may never start.
                try session.expectItServes()
                session.send(["kind": "cancel", "id": .integer(first)])
                try session.expectCancels(1)
                session.send(["kind": "cancel", "id": .integer(second)])
                try session.expectCancels(2)
            },
            .ready(.calls, "an action that isn't there is unknown-action") { session throws(Finding) in
                try session.expectError(session.call("Probe/nothingLikeThis"), "unknown-action")
            },
            .ready(.calls, "the deadline 0 means none, the credit 0 none either") { session throws(Finding) in
                let id = session.call("Probe/echo", 5, deadline: 0, credit: 0)
                try session.expect(try session.value(of: id), 5)
            },
            .ready(.errors, "an error has its code, message, ran and body", needs: ["Probe/fail"]) {
                session throws(Finding) in
                for ran in ["no", "maybe", "yes"] {
                    let id = session.call(
                        "Probe/fail",
                        [
                            "code": "Probe.no", "message": "not \"today\"", "ran": .string(ran),
                            "body": ["a": .array([1])],
                        ])
                    let error = try session.expectError(id, "Probe.no")
                    try session.expect(error.header["message"], "not \"today\"", "the message")
                    try session.expect(error.header["ran"], .string(ran), "ran")
                    try session.expect(error.json, ["a": .array([1])], "the error's body")
                }
                let error = try session.expectError(
                    session.call("Probe/fail", ["code": "failed", "message": "m"]), "failed")
                if let ran = error.header["ran"] { try session.expect(ran, "yes", "ran without the handler's word") }
            },
            .ready(.calls, "a call for a served one names it as its parent", needs: ["Probe/call"]) {
                session throws(Finding) in
                let id = session.call("Probe/call", ["to": "Other/thing", "params": ["a": 1], "deadline": 1_500])
                let request = try session.request("call", to: "Other/thing")
                try session.expect(request.header["parent"], .integer(id), "parent")
                try session.expect(request.json, ["a": 1], "the params")
                let deadline = request.header["deadline"]?.integer ?? 30_000
                guard (1...1_500).contains(deadline) else {
                    throw Finding("the deadline should be 1500, or a little less; found \(deadline)")
                }
                session.reply(to: request, ["b": 2])
                try session.expect(try session.value(of: id), ["reply": ["b": 2]])
            },
            .ready(.calls, "answers may come in any order", needs: ["Probe/call"]) { session throws(Finding) in
                let ids = (0..<3).map {
                    session.call("Probe/call", ["to": "Other/thing", "params": .integer(Int64($0))])
                }
                var requests: [ProbeFrame] = []
                for _ in ids { requests.append(try session.request("call", to: "Other/thing")) }
                for request in requests.reversed() { session.reply(to: request, request.json) }
                for (index, id) in ids.enumerated() {
                    try session.expect(try session.value(of: id), ["reply": .integer(Int64(index))])
                }
            },
            .ready(.calls, "a reply without a body is null", needs: ["Probe/call"]) { session throws(Finding) in
                let id = session.call("Probe/call", ["to": "Other/thing"])
                session.reply(to: try session.request("call", to: "Other/thing"))
                try session.expect(try session.value(of: id), ["reply": nil])
            },
            .ready(
                .errors, "an error of the bus reaches the caller, also with a code that is new", needs: ["Probe/call"]
            ) {
                session throws(Finding) in
                for (code, ran) in [("died", "maybe"), ("brand-new", "no"), ("Other.full", "yes")] {
                    let id = session.call("Probe/call", ["to": "Other/thing"])
                    session.refuse(
                        try session.request("call", to: "Other/thing"), code, ran: ran, body: ["left": 0],
                        adding: ["root": ["code": "Deep.down", "message": "m", "module": "Deep", "path": "Deep/x"]])
                    let error = try session.value(of: id)["error"]
                    try session.expect(error?["code"], .string(code), "code")
                    try session.expect(error?["ran"], .string(ran), "ran")
                    try session.expect(error?["message"], "the kit says so", "message")
                    try session.expect(error?["body"], ["left": 0], "the error's body")
                }
            },
            .ready(.calls, "a call whose parent is cancelled may end before its answer", needs: ["Probe/call"]) {
                session throws(Finding) in
                let id = session.call("Probe/call", ["to": "Other/thing"])
                let request = try session.request("call", to: "Other/thing")
                session.send(["kind": "cancel", "id": .integer(id)])
                session.refuse(request, "cancelled", ran: "maybe")
                try session.expectItServes()
            },
            .ready(.calls, "an open sends its URL", needs: ["Probe/open"]) { session throws(Finding) in
                let id = session.call("Probe/open", ["url": "probe://host/show/7?tag=a%20b"])
                let request = try session.request("open")
                try session.expect(request.header["url"], "probe://host/show/7?tag=a%20b", "url")
                try session.expect(request.header["parent"], .integer(id), "parent")
                session.reply(to: request, "opened")
                try session.expect(try session.value(of: id), ["reply": "opened"])
            },
        ]
    }

    /// Section 6, instances.
    static var instances: [KitCheck] {
        [
            .ready(
                .calls, "instances of its interface are apart, and end", needs: ["Box/put", "Box/get", "Probe/steps"]
            ) {
                session throws(Finding) in
                for number in [3, 12] {
                    let making = session.call(
                        "module/create", ["instance": .string("Box#\(number)"), "params": nil], credit: 0,
                        adding: ["meta": ["from": "Tester", "level": "basic"]])
                    try session.finishStep(making)
                }
                _ = try session.ask("Box#3/put", "three")
                _ = try session.ask("Box#12/put", "twelve")
                try session.expect(try session.ask("Box#3/get"), "three", "what Box#3 keeps")
                try session.finishStep(session.call("module/released", ["instance": "Box#3"], credit: 0))
                try session.expect(try session.ask("Box#12/get"), "twelve", "what Box#12 keeps")
                let steps = try session.ask("Probe/steps").array ?? []
                guard steps.contains("created 3"), steps.contains("created 12"), steps.contains("released 3") else {
                    throw Finding("steps should have created 3, created 12 and released 3; found \(JSON.array(steps))")
                }
            },
            .ready(.calls, "its owner may refuse an instance", needs: ["Box/put"]) { session throws(Finding) in
                let id = session.call(
                    "module/create", ["instance": "Box#4", "params": ["refuse": true]], credit: 0,
                    adding: ["meta": ["from": "Tester", "level": "basic"]])
                try session.expectError(id, "Probe.no-box")
            },
            .ready(
                .calls, "it creates, uses and releases an instance of another",
                needs: ["Probe/create", "Probe/release", "Probe/call"]
            ) {
                session throws(Finding) in
                try session.expect(try session.crate(7), ["reply": ["instance": "Crate#7"]])
                let using = session.call("Probe/call", ["to": "Crate#7/look"])
                session.reply(to: try session.request("call", to: "Crate#7/look"), 1)
                try session.expect(try session.value(of: using), ["reply": 1])
                let releasing = session.call("Probe/release", ["instance": "Crate#7"])
                let release = try session.request("call", to: "bus/release")
                try session.expect(release.json, ["instance": "Crate#7"], "the body of bus/release")
                session.reply(to: release, [:])
                _ = try session.answer(to: releasing)
            },
            .ready(.calls, "it hears that an instance's owner has ended it", needs: ["Probe/create", "Probe/steps"]) {
                session throws(Finding) in
                _ = try session.crate(9)
                try session.finishStep(session.call("module/instanceEnded", ["instance": "Crate#9"], credit: 0))
                guard try session.ask("Probe/steps").array?.contains("ended Crate#9") == true else {
                    throw Finding("steps should have ended Crate#9")
                }
            },
        ]
    }
}

extension KitSession {
    /// Has the probe create an instance.
    fileprivate func crate(_ number: Int) throws(Finding) -> JSON {
        let id = call("Probe/create", ["interface": "Crate", "params": ["for": "Ada"]])
        let request = try request("call", to: "bus/create")
        try expect(request.json, ["interface": "Crate", "params": ["for": "Ada"]], "the body of bus/create")
        reply(to: request, ["instance": .string("Crate#\(number)")])
        return try value(of: id)
    }
}
