public import StrataCore

/// Frames that are well formed: requests, answers and notifications.
extension RawPeer {
    /// Calls an action.
    /// - Parameters:
    ///   - to: `Interface/action`.
    ///   - body: what is sent.
    ///   - members: further members of the header, `deadline` or `parent`.
    ///   - id: the request's; nil takes a new one.
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

    /// Reports to a module.
    @discardableResult
    public func report(
        _ name: String, to module: String, _ body: JSON? = nil, _ members: JSON = [:], id: UInt64? = nil
    ) throws -> UInt64 {
        try request(["kind": "report", "to": .string(module), "name": .string(name)], body, members, id)
    }

    /// Broadcasts, asking how many notices were queued.
    @discardableResult
    public func broadcast(
        _ name: String, _ body: JSON? = nil, _ members: JSON = [:], id: UInt64? = nil
    ) throws -> UInt64 {
        try request(["kind": "broadcast", "name": .string(name)], body, members, id)
    }

    /// Broadcasts and waits for the number of recipients.
    public func recipients(
        ofBroadcast name: String, _ body: JSON? = nil, _ members: JSON = [:], file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> Int {
        let answer = try expectReply(to: try broadcast(name, body, members), file: file, line: line)
        return Int(answer.json["recipients"]?.integer ?? -1)
    }

    /// Calls and waits for the final answer, be it a reply or an error.
    public func ask(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        try answer(to: try call(to, body, members), within: time, file: file, line: line)
    }

    /// Calls, and the answer is a reply: its body.
    @discardableResult
    public func asked(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> JSON {
        try expectReply(to: try call(to, body, members), within: time, file: file, line: line).json
    }

    /// Calls, and the answer is an error of this code.
    @discardableResult
    public func refused(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], with code: String,
        ran: String? = "no", within time: Duration = TestBus.patience, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ReceivedFrame {
        try expectError(to: try call(to, body, members), code, ran: ran, within: time, file: file, line: line)
    }

    /// The next frame is a call of this action.
    @discardableResult
    public func expectCall(
        _ to: String, _ body: JSON? = nil, _ members: JSON = [:], within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let header: JSON = ["kind": "call", "to": .string(to)]
        return try expect(header.adding(members), body: body, within: time, file: file, line: line)
    }

    /// The next frame is a notice of this name.
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

    /// A partial reply: others follow.
    public func partialReply(to frame: ReceivedFrame, _ body: JSON = [:]) throws {
        try reply(to: frame, body, ["more": true])
    }

    /// Answers with an error.
    public func fail(
        _ frame: ReceivedFrame, _ code: String, _ message: String = "as the test wanted", _ members: JSON = [:],
        body: JSON? = nil
    ) throws {
        let header: JSON = [
            "kind": "error", "id": frame.id.json, "code": .string(code), "message": .string(message),
        ]
        try send(header.adding(members), body: body)
    }

    /// Gives up on a request; its answer still comes.
    public func cancel(_ id: UInt64) throws { try send(["kind": "cancel", "id": id.json]) }

    /// Lets so many more partial replies come.
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
    /// Says hello as a module and waits for the answer.
    /// - Parameters:
    ///   - module: the module's name.
    ///   - members: of hello's body, beside `protocol` and `module`.
    ///   - file: where the test says so.
    ///   - line: where the test says so.
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

    /// Sends a module's hello without waiting.
    public func sendHello(_ module: String, _ members: JSON = [:]) throws -> UInt64 {
        let body: JSON = ["protocol": 1, "module": .string(module)]
        return try call("bus/hello", body.adding(members))
    }

    /// Hello is refused with this code: one error, then the connection's end.
    @discardableResult
    public func expectRefusal(
        of id: UInt64, _ code: String, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let error = try expectError(to: id, code, ran: "no", file: file, line: line)
        try expectEnd(file: file, line: line)
        return error
    }

    /// Waits until its start is done: it has answered `module/didStart`.
    public func becomeReady(file: StaticString = #fileID, line: UInt = #line) throws {
        _ = try wait("the end of the start", TestBus.patience, file, line) {
            self.lifecycle.contains("didStart") ? true : nil
        }
        try settle(file: file, line: line)
    }
}
