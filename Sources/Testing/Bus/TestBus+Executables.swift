internal import StrataCore

/// Real module processes on a test's bus.
extension TestBus {
    /// Starts a module's executable as the launcher would: with
    /// `STRATA_SOCKET`, `STRATA_MODULE`, `STRATA_TOKEN` and `STRATA_ENV`, and
    /// vouched for. It is killed at the bus's end.
    /// - Parameters:
    ///   - executable: its path.
    ///   - module: the row's name.
    ///   - arguments: its arguments.
    ///   - environment: further variables.
    ///   - waits: false returns before the module is ready.
    ///   - time: how long it may take to be ready.
    ///   - file: where the test says so.
    ///   - line: where the test says so.
    @discardableResult
    public func start(
        _ executable: String, as module: String, _ arguments: [String] = [], environment: [String: String] = [:],
        waits: Bool = true, within time: Duration = .seconds(10), file: StaticString = #fileID, line: UInt = #line
    ) throws -> ChildProgram {
        let launcher = try launcher()
        let token = makeToken()
        try launcher.asked(
            "bus/moduleState", ["module": .string(module), "state": "starting", "reason": "a test starts it"])
        var variables = environment
        variables["STRATA_SOCKET"] = path
        variables["STRATA_MODULE"] = module
        variables["STRATA_TOKEN"] = token
        variables["STRATA_ENV"] = table.env
        let program = try ChildProgram(executable, arguments, environment: variables, label: module)
        keep(program)
        try vouch(for: module, pid: program.pid, token: token)
        if waits { try waitUntil(module, is: "ready", within: time, file: file, line: line) }
        return program
    }

    /// Waits until a module is in a state of `bus/modules`, by the bus's own
    /// `watch`.
    public func waitUntil(
        _ module: String, is state: String, within time: Duration = .seconds(10), file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        let peer = try `operator`()
        let watch = try peer.call("bus/watch", nil, ["credit": .integer(1 << 40)])
        defer {
            if !peer.isClosed {
                _ = try? peer.cancel(watch)
                _ = try? peer.answer(to: watch)
                peer.inbox.removeAll { $0.id == watch }
            }
        }
        try peer.find(
            ["kind": "reply", "id": watch.json], body: ["module": .string(module), "state": .string(state)],
            within: time, file: file, line: line)
    }
}
