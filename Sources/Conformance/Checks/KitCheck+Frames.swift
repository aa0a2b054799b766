import StrataCore

extension KitCheck {
    /// Sections 2 to 4: bytes, headers, kinds.
    static var frames: [KitCheck] {
        [
            .ready(.frame, "a frame may come in pieces of one byte") { session throws(Finding) in
                let id = session.newID()
                try session.send(
                    bytes: session.prepared(session.header("Probe/echo", id), [UInt8]("[1,2]".utf8)), pieces: 1)
                try session.expect(try session.value(of: id), [1, 2])
            },
            .ready(.frame, "many frames may come at once, and the last one cut in two") { session throws(Finding) in
                let ids = (0..<20).map { _ in session.newID() }
                let bytes = ids.flatMap { session.prepared(session.header("Probe/echo", $0), [UInt8]("\($0)".utf8)) }
                try session.send(bytes: bytes, pieces: bytes.count - 3)
                for id in ids { try session.expect(try session.value(of: id), .integer(id)) }
            },
            .ready(.frame, "an empty body is null") { session throws(Finding) in
                try session.expect(try session.value(of: session.call("Probe/echo")), nil)
            },
            .ready(.frame, "a body of 1 MiB comes back whole") { session throws(Finding) in
                let text = JSON.string(String(repeating: "0123456789abcdef", count: 65_536))
                let found = try session.ask("Probe/echo", text)
                guard found == text else { throw Finding("the body came back as another one") }
            },
            .ready(.frame, "a body has any UTF-8, and any escape of JSON") { session throws(Finding) in
                let id = session.newID()
                let body = #"{"e":"\"\\\/\b\f\n\r\t\u0000\u00e9","p":"\ud83d\ude00","é😀":[1.5,-2e3,true,null,{}]}"#
                session.send(session.header("Probe/echo", id), [UInt8](body.utf8))
                let wanted = (try? JSON(parsing: body)) ?? nil
                try session.expect(try session.value(of: id), wanted)
            },
            refused("a body that isn't JSON is bad-params", [UInt8](#"{"a":"#.utf8)),
            refused("a body with a name twice is bad-params", [UInt8](#"{"a":1,"b":{"c":1,"c":2}}"#.utf8)),
            refused("a body with a name twice, once as an escape, is bad-params", [UInt8](#"{"a":1,"\u0061":2}"#.utf8)),
            refused("a body that isn't UTF-8 is bad-params", [0x22, 0xC3, 0x28, 0x22]),
            .own(.frame, "a frame of the bus may exceed both limits by 1 KiB", needs: ["probe.begun"]) {
                trial throws(Finding) in
                let session = try trial.ready(HelloAnswer(frameLimit: 100_000))
                let object = String(repeating: "o", count: 16 << 10)
                let params = String(repeating: "p", count: 100_000 + 800 - object.utf8.count - 200)
                _ = try session.value(of: session.reported(.string(params), adding: ["object": .string(object)]))
            },
            .own(.frame, "an answer beyond the limit of frames becomes an error") { trial throws(Finding) in
                let session = try trial.ready(HelloAnswer(frameLimit: 100_000))
                let id = session.call("Probe/echo", .string(String(repeating: "p", count: 99_980)))
                let answer = try session.answer(to: id)
                guard answer.kind == "error" else { throw Finding("expected an error; found a reply") }
                try session.expectItServes()
            },
            fault(
                "a first length under 4 ends the connection, not the program by a signal",
                ProbeFrame.lengths(frame: 3, header: 0)),
            fault(
                "a header longer than its frame does, too",
                ProbeFrame.lengths(frame: 20, header: 17) + Array(repeating: 32, count: 16)),
            fault("a frame of 4 GiB does, too, and takes no memory", ProbeFrame.lengths(frame: .max, header: 100)),
            fault(
                "a frame that the end of the connection cuts does, too",
                ProbeFrame.lengths(frame: 100, header: 90) + [0x7B], cut: true),
        ]
    }

    private static func refused(_ name: String, _ body: [UInt8]) -> KitCheck {
        .ready(.frame, name) { session throws(Finding) in
            let id = session.newID()
            session.send(session.header("Probe/echo", id), body)
            try session.expectError(id, "bad-params")
            try session.expectItServes()
        }
    }

    /// Bytes that no broker sends: the client drops the connection. It may connect again, or end.
    private static func fault(_ name: String, _ bytes: [UInt8], cut: Bool = false, in section: Section = .frame)
        -> KitCheck
    {
        .own(section, name) { trial throws(Finding) in
            let session = try trial.ready()
            trial.note("> \(bytes.prefix(12).map { String($0, radix: 16) }.joined(separator: " "))")
            try session.send(bytes: bytes)
            try trial.expectNoCrash(after: session, cut: cut)
        }
    }

    static var headers: [KitCheck] {
        [
            .ready(.header, "numbers go up to 2^53 - 1") { session throws(Finding) in
                let id = HeaderScanner.largestInteger
                session.send(session.header("Probe/echo", id), [UInt8]("1".utf8))
                try session.expect(try session.value(of: id), 1)
            },
            .ready(.header, "members that the client doesn't know are ignored") { session throws(Finding) in
                let id = session.call(
                    "Probe/echo", 7, adding: ["brandNew": ["deep": .array([["x": nil]])], "b": "\u{0}"])
                try session.expect(try session.value(of: id), 7)
            },
            .ready(.header, "meta and trace may be on any frame") { session throws(Finding) in
                let id = session.call(
                    "Probe/echo", 8,
                    adding: [
                        "trace": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                        "meta": ["kind": "reply", "id": 1],
                    ])
                try session.expect(try session.value(of: id), 8)
            },
            .ready(.header, "texts have escapes", needs: ["probe.begun", "Probe/notices"]) { session throws(Finding) in
                _ = try session.ask("Probe/notices")
                session.notice(
                    HelloAnswer.observation, "probe.begun", 1, adding: ["object": "a\"\\\n\u{1}é😀"])
                let found = try session.ask("Probe/notices")
                try session.expect(found.array?.first?["object"], "a\"\\\n\u{1}é😀", "the object")
            },
            fault(
                "a header that isn't JSON ends the connection, not the program by a signal",
                ProbeFrame.bytes([UInt8](#"{"kind":"#.utf8)), in: .header),
        ]
    }

    static var kinds: [KitCheck] {
        [
            .ready(.kinds, "answers, cancels and credits for what isn't open are dropped") { session throws(Finding) in
                for kind in ["reply", "error", "cancel", "credit"] {
                    var header: [JSON.Member] = [.init("kind", .string(kind)), .init("id", 987_654_321)]
                    if kind == "credit" { header.append(.init("credit", 1)) }
                    if kind == "error" {
                        header += [.init("code", "failed"), .init("message", ""), .init("ran", "no")]
                    }
                    session.send(.object(header))
                }
                try session.expectItServes()
            },
            .ready(.kinds, "a remark, an error without id, leaves the session as it is") { session throws(Finding) in
                session.send(["kind": "error", "code": "bad-id", "message": "the id 9 is in use", "ran": "no"])
                try session.expectItServes()
            },
        ]
    }
}

extension KitTrial {
    /// Waits until the client has dropped the connection, and is back or has ended by itself.
    /// - Parameter cut: whether the kit ends the connection.
    func expectNoCrash(after session: KitSession, cut: Bool = false) throws(Finding) {
        guard let program else { preconditionFailure("the trial has a program") }
        if cut { session.endConnection(nil) } else { try session.waitForClose() }
        if try place.accept(from: program, until: Moment(after: patience)) != nil {
            note("the client connects again")
        } else if case .signal(let signal) = program.end {
            throw Finding("bad bytes ended the program: signal \(signal)")
        } else if let end = program.end {
            note("the program ends: \(end)")
        } else {
            throw Finding("after bad bytes the client must connect again, or end; it does neither")
        }
    }
}
