internal import Glibc
import StrataCore

extension KitCheck {
    /// What docs/session.md recommends.
    static var recommended: [KitCheck] {
        [
            .own(.client, "a refused hello ends it with 1, and a line that says why") { trial throws(Finding) in
                let program = try trial.start()
                let session = try trial.connect()
                session.refuse(session.hello, "forbidden", ran: "no")
                session.endConnection(nil)
                try trial.expectFailure(of: program, saying: "forbidden")
            },
            .own(.client, "another error that ends the connection does so, too") { trial throws(Finding) in
                let session = try trial.ready()
                guard let program = trial.program else { return }
                session.endConnection("failed")
                try trial.expectFailure(of: program, saying: "failed")
            },
            again(
                "after overloaded it tries again, as after name-taken and slow-consumer", ["overloaded", "name-taken"]),
            .own(.client, "after slow-consumer it is back, and says resumed") { trial throws(Finding) in
                let first = try trial.ready()
                first.endConnection("slow-consumer")
                let second = try trial.connect()
                try second.expect(second.hello.json["resumed"], true, "resumed")
                try second.welcome()
                try second.expectItServes()
            },
            .own(.client, "shutting-down without tearDown ends it with 0") { trial throws(Finding) in
                let session = try trial.ready()
                guard let program = trial.program else { return }
                session.endConnection("shutting-down")
                let end = try trial.end(of: program)
                guard end == .exit(0) else { throw Finding("it must end with 0; found \(end)") }
            },
            .own(.client, "if the bus isn't there at first, it ends with 1") { trial throws(Finding) in
                let program = try trial.start(socket: trial.place.path + ".not")
                try trial.expectFailure(of: program, saying: nil)
            },
            .own(.client, "the launcher's end ends it with 0") { trial throws(Finding) in
                try trial.ready()
                guard let program = trial.program else { return }
                trial.note("the lifeline ends")
                program.endLifeline()
                let end = try trial.end(of: program)
                guard end == .exit(0) else { throw Finding("it must end with 0; found \(end)") }
            },
            .own(.client, "SIGTERM ends it with 0") { trial throws(Finding) in
                try trial.ready()
                guard let program = trial.program else { return }
                trial.note("SIGTERM")
                program.send(signal: SIGTERM)
                let end = try trial.end(of: program)
                guard end == .exit(0) else { throw Finding("it must end with 0; found \(end)") }
            },
            .own(.client, "--describe prints its hello, without a bus") { trial throws(Finding) in
                let program = try trial.start(["--describe"], socket: trial.place.path + ".not")
                let end = try trial.end(of: program)
                guard end == .exit(0) else { throw Finding("it must end with 0; found \(end)") }
                let body = (try? JSON(parsing: program.output)) ?? nil
                guard body["interfaces"]?["Probe"] != nil, program.output.filter({ $0 == 0x0A }).count <= 1 else {
                    throw Finding(
                        "it must print hello's body as one line; found \(ProbeFrame.shown(program.output, []))")
                }
                try HelloForm.judge(body)
            },
            .own(.session, "an operator says its role, calls, and ends") { trial throws(Finding) in
                let program = try trial.start(["--operator"])
                let session = try trial.connect()
                try session.expect(session.hello.json["role"], "operator", "role")
                guard session.hello.json["module"] == nil else { throw Finding("an operator's hello has no module") }
                try session.answerOperator()
                let request = try session.request("call", to: "Probe/echo")
                try session.expect(request.json, ["by": "operator"], "the params")
                session.reply(to: request, ["seen": 1])
                let end = try trial.end(of: program)
                guard end == .exit(0) else { throw Finding("it must end with 0; found \(end)") }
                try session.expect(try? JSON(parsing: program.output), ["seen": 1], "what it prints")
            },
        ]
    }

    private static func again(_ name: String, _ codes: [String]) -> KitCheck {
        .own(.client, name) { trial throws(Finding) in
            try trial.start()
            for code in codes {
                let session = try trial.connect()
                session.refuse(session.hello, code, ran: "no")
                session.endConnection(nil)
            }
            let session = try trial.connect()
            try session.welcome()
            try session.expectItServes()
        }
    }
}

extension KitTrial {
    fileprivate func expectFailure(of program: ProbeProgram, saying code: String?) throws(Finding) {
        let end = try self.end(of: program)
        guard end == .exit(1) else { throw Finding("it must end with 1; found \(end)") }
        let text = String(decoding: program.errors, as: UTF8.self)
        guard !text.isEmpty, code.map({ text.contains($0) }) ?? true else {
            throw Finding("standard error must say why, with \(code ?? "the socket"); found \(Printable.line(text))")
        }
    }
}

extension KitSession {
    fileprivate func answerOperator() throws(Finding) {
        guard case .object(let members) = HelloAnswer().body(observations: 0, settings: [:]) else { return }
        reply(
            to: hello,
            .object(members.map { ["module", "level", "rank"].contains($0.name) ? .init($0.name, nil) : $0 }))
    }
}
