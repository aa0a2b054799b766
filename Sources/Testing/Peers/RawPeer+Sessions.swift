public import StrataCore

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
