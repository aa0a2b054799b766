internal import Glibc
internal import StrataCore

/// Real module processes on a test's bus.
extension TestBus {
    /// Starts a module's executable as the launcher would.
    ///
    /// The process gets `STRATA_SOCKET`, `STRATA_MODULE`, `STRATA_TOKEN` and `STRATA_ENV`, and
    /// the test's launcher vouches for it. The end of the bus kills it.
    /// - Parameters:
    ///   - executable: the path of the executable.
    ///   - module: the name of the module's row.
    ///   - arguments: the program's arguments.
    ///   - environment: further environment variables.
    ///   - folder: the working folder; nil for a temporary folder of its own, `folder(of:)`.
    ///   - waits: false to return before the module is ready.
    ///   - time: how long the module may take to become ready.
    ///   - file: the file that a failure names.
    ///   - line: the line that a failure names.
    /// - Throws: `TestFailure` with the module's output if it isn't ready in time, or as soon as
    ///   it ends.
    @discardableResult
    public func start(
        _ executable: String, as module: String, _ arguments: [String] = [], environment: [String: String] = [:],
        folder: String? = nil, waits: Bool = true, within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ChildProgram {
        guard memory == nil else {
            throw TestFailure("\(module) can't be started as a process: its bus is in memory", file: file, line: line)
        }
        let token = try announceStart(of: module)
        var variables = environment
        variables["STRATA_SOCKET"] = path
        variables["STRATA_MODULE"] = module
        variables["STRATA_TOKEN"] = token
        variables["STRATA_ENV"] = table.env
        let program = try ChildProgram(
            executable, arguments, environment: variables, folder: folder ?? self.folder(of: module), label: module)
        keep(program)
        try vouch(for: module, pid: program.pid, token: token)
        if waits {
            try wait(for: module, "ready", time, file, line) {
                let end = program.endByNow()
                if end != nil { program.output.readWhatIsThere() }
                return end.map { "\($0)" }
            }
        }
        return program
    }

    /// Tells the bus, as its launcher, that a module is starting.
    /// - Returns: a token for the module's hello.
    func announceStart(of module: String) throws -> String {
        try launcher().asked(
            "bus/moduleState", ["module": .string(module), "state": "starting", "reason": "a test starts it"])
        return makeToken()
    }

    /// Returns the working folder that `start` gives a module by default, and makes it if needed.
    /// It is removed with the bus. A test may put files into it.
    /// - Throws: `TestFailure` beside the app of a manifest, whose rows have folders of their own.
    public func folder(of module: String) throws -> String {
        guard !isBesideApp else {
            throw TestFailure("\(module) runs in the folder of its row: nothing here gives it another one")
        }
        let path = "\(folder)/of \(module)"
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw TestFailure.system("make \(path)", errno) }
        return path
    }

    /// Waits until `bus/modules` would report this state of a module. Uses the bus's own `watch`.
    public func waitUntil(
        _ module: String, is state: String, within time: Duration = TestBus.patience, file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        try wait(for: module, state, time, file, line) { nil }
    }

    /// Waits until a module is in a state.
    /// - Parameter ended: returns how the module has ended, or nil. An end stops the wait.
    func wait(
        for module: String, _ state: String, _ time: Duration, _ file: StaticString, _ line: UInt,
        unless ended: () -> String?
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
        let wanted: JSON = ["module": .string(module), "state": .string(state)]
        _ = try peer.wait("\(module) to be \(state)", time, file, line, looking: .milliseconds(50)) {
            if peer.inbox.contains(where: { $0.id == watch && $0.matches(["kind": "reply"], body: wanted) }) {
                return true
            }
            guard let end = ended() else { return nil }
            // First take in what the bus still has to say about the module.
            try peer.settle(file: file, line: line)
            throw peer.failure("\(module) ended with \(end) and was not \(state); \(peer.whatCame)", file, line)
        }
    }
}
