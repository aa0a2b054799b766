public import StrataCore

/// Well-formed frames: requests, answers and notifications.
extension RawPeer {
    /// Calls an action.
    /// - Parameters:
    ///   - to: the action, as `Interface/action`.
    ///   - body: the body of the call.
    ///   - members: further members of the header, such as `deadline` or `parent`.
    ///   - id: the request's id; nil takes a new one.
    /// - Returns: the request's id.
    @discardableResult
    public func call(_ to: String, _ body: JSON? = nil, _ members: JSON = [:], id: UInt64? = nil) throws -> UInt64 {
        try request(["kind": "call", "to": .string(to)], body, members, id)
    }

    /// Opens a URL.
    @discardableResult
    public func open(_ url: String, _ members: JSON = [:], id: UInt64? = nil) throws -> UInt64 {
        try request(["kind": "open", "url": .string(url)], nil, members, id)
    }

    /// Sends a report to a module.
    @discardableResult
    public func report(
        _ name: String, to module: String, _ body: JSON? = nil, _ members: JSON = [:], id: UInt64? = nil
    ) throws -> UInt64 {
        try request(["kind": "report", "to": .string(module), "name": .string(name)], body, members, id)
    }

    /// Sends a broadcast as a request, so that its reply tells the number of queued notices.
    @discardableResult
    public func broadcast(
        _ name: String, _ body: JSON? = nil, _ members: JSON = [:], id: UInt64? = nil
    ) throws -> UInt64 {
        try request(["kind": "broadcast", "name": .string(name)], body, members, id)
    }

    /// Sends a broadcast, and returns the number of its recipients.
    public func recipients(
        ofBroadcast name: String, _ body: JSON? = nil, _ members: JSON = [:],
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> Int {
        let answer = try expectReply(to: try broadcast(name, body, members), within: time, file: file, line: line)
        return Int(answer.json["recipients"]?.integer ?? -1)
    }

    /// Calls an action and waits for the final answer, a reply or an error.
    public func ask(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        try answer(to: try call(to, body, members), within: time, file: file, line: line)
    }

    /// Calls an action, expects a reply, and returns its body.
    @discardableResult
    public func asked(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> JSON {
        try expectReply(to: try call(to, body, members), within: time, file: file, line: line).json
    }

    /// Calls an action, and expects a reply that has these members in its body.
    /// - Throws: `TestFailure`, with the answer that came instead.
    @discardableResult
    public func expect(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], gives reply: JSON,
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> JSON {
        let frame = try ask(to, body, members, within: time, file: file, line: line)
        guard frame.matches(["kind": "reply"], body: reply) else {
            throw failure("expected \(to) to give \(reply), but received\n    \(frame)", file, line)
        }
        return frame.json
    }

    /// Calls an action, and expects an error of this code.
    @discardableResult
    public func refused(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], with code: String,
        ran: String? = "no", within time: Duration = TestBus.patience, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ReceivedFrame {
        try expectError(to: try call(to, body, members), code, ran: ran, within: time, file: file, line: line)
    }

    /// Expects a call of this action as the next frame.
    @discardableResult
    public func expectCall(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let header: JSON = ["kind": "call", "to": .string(to)]
        return try expect(header.adding(members), body: body, within: time, file: file, line: line)
    }

    /// Expects a notice with this name as the next frame.
    @discardableResult
    public func expectNotice(
        _ name: String, _ body: JSON? = nil, _ members: JSON = [:], within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let header: JSON = ["kind": "notice", "name": .string(name)]
        return try expect(header.adding(members), body: body, within: time, file: file, line: line)
    }

    /// Answers a call or a report's notice.
    public func reply(to frame: ReceivedFrame, _ body: JSON = [:], _ members: JSON = [:]) throws {
        let header: JSON = ["kind": "reply", "id": frame.id.json]
        try send(header.adding(members), body: body)
    }

    /// Sends a partial reply; more replies must follow.
    public func partialReply(to frame: ReceivedFrame, _ body: JSON = [:]) throws {
        try reply(to: frame, body, ["more": true])
    }

    /// Answers with an error.
    public func fail(
        _ frame: ReceivedFrame, _ code: String, _ message: String = "as the test says", _ members: JSON = [:],
        body: JSON? = nil
    ) throws {
        let header: JSON = [
            "kind": "error", "id": frame.id.json, "code": .string(code), "message": .string(message),
        ]
        try send(header.adding(members), body: body)
    }

    /// Cancels a request; its answer still comes.
    public func cancel(_ id: UInt64) throws { try send(["kind": "cancel", "id": id.json]) }

    /// Allows this many more partial replies to a request.
    public func credit(_ id: UInt64, _ credit: Int64) throws {
        try send(["kind": "credit", "id": id.json, "credit": .integer(credit)])
    }

    private func request(_ header: JSON, _ body: JSON?, _ members: JSON, _ id: UInt64?) throws -> UInt64 {
        let id = id ?? newID()
        let numbered: JSON = .object([.init("kind", header["kind"] ?? .null), .init("id", id.json)])
        let rest: JSON = .object((header.object ?? []).filter { $0.name != "kind" })
        try send(numbered.adding(rest).adding(members), body: body)
        return id
    }
}

/// Saying hello.
extension RawPeer {
    /// Says hello as a module, and waits for the answer.
    /// - Parameters:
    ///   - module: the module's name.
    ///   - members: members of hello's body besides `protocol` and `module`.
    ///   - file: the file that a failure names.
    ///   - line: the line that a failure names.
    /// - Returns: the answer's body.
    @discardableResult
    public func hello(
        _ module: String, _ members: JSON = [:], file: StaticString = #fileID, line: UInt = #line
    ) throws -> JSON {
        label = module
        welcome = try expectReply(to: try sendHello(module, members), file: file, line: line).json
        return welcome
    }

    /// Says hello as an operator's tool, or as the launcher.
    @discardableResult
    public func hello(role: String, file: StaticString = #fileID, line: UInt = #line) throws -> JSON {
        label = role
        let id = try call("bus/hello", ["protocol": 1, "role": .string(role)])
        welcome = try expectReply(to: id, file: file, line: line).json
        return welcome
    }

    /// Sends a module's hello, without waiting for the answer.
    public func sendHello(_ module: String, _ members: JSON = [:]) throws -> UInt64 {
        let body: JSON = ["protocol": 1, "module": .string(module)]
        return try call("bus/hello", body.adding(members))
    }

    /// Expects hello to be refused: with one error of this code, then the connection's end.
    @discardableResult
    public func expectRefusal(
        of id: UInt64, _ code: String, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let error = try expectError(to: id, code, ran: "no", file: file, line: line)
        try expectEnd(file: file, line: line)
        return error
    }

    /// Waits until the module's start is finished: it has answered `module/didStart`.
    public func becomeReady(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        _ = try wait("the end of the start", time, file, line) {
            self.lifecycle.contains("didStart") ? true : nil
        }
        try settle(within: time, file: file, line: line)
    }
}
