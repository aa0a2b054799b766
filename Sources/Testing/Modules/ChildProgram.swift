internal import CUV
internal import Glibc

/// A process that a test started, ended by its number and reaped.
public final class ChildProgram {
    /// How it ended.
    public enum End: Sendable, Equatable, CustomStringConvertible {
        /// By itself, with this code.
        case exit(Int32)
        /// By this signal.
        case signal(Int32)

        public var description: String {
            switch self {
            case .exit(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        }
    }

    /// Its number, also when it has ended.
    public let pid: Int32
    /// Once it has ended and was waited for.
    public private(set) var end: End?
    let output: ChildOutput

    /// What it wrote to its standard output and error, as far as it was read.
    public var outputText: String { output.text }

    /// Starts a program. Its output is read by the harness, its input is empty.
    /// - Parameters:
    ///   - executable: its path.
    ///   - arguments: its arguments.
    ///   - environment: beside this process's own, without its `STRATA_…`.
    ///   - folder: where it works; nil is this process's own folder.
    ///   - third: a descriptor that becomes its descriptor 3.
    ///   - label: what failures call it.
    public init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        folder: String? = nil, third: Int32? = nil, label: String? = nil
    ) throws {
        let ends = try SocketPair.make()
        output = ChildOutput(ends.reading, label: label ?? executable)
        defer { close(ends.writing) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends.writing, 1)
        posix_spawn_file_actions_adddup2(&actions, ends.writing, 2)
        if let third { posix_spawn_file_actions_adddup2(&actions, third, 3) }
        if let folder { posix_spawn_file_actions_addchdir_np(&actions, folder) }
        let words = Self.strings([executable] + arguments)
        let variables = Self.strings(Self.environment(environment))
        defer { (words + variables).forEach { free($0) } }
        var pid: pid_t = 0
        // A test's thread may block signals, which a child would inherit: then
        // SIGTERM would never reach it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // It enters its folder first, and would look for a relative path from there.
        let path = realpath(executable, nil)
        defer { free(path) }
        let status = posix_spawn(
            &pid, path.map { String(cString: $0) } ?? executable, &actions, &attributes, words, variables)
        guard status == 0 else { throw TestFailure.system("start \(executable)", status) }
        self.pid = pid
    }

    deinit { kill() }

    /// Waits for the first line that it writes, and answers it without its end.
    /// What came of it where the program ended before, or wrote none in time.
    public func firstLine(within time: Duration = TestBus.patience) -> String { output.waitForLine(Deadline(time)) }

    /// Sends a signal.
    public func send(signal: Int32) {
        if end == nil { Glibc.kill(pid, signal) }
    }

    /// Halts it, and returns when it stands still; `SIGCONT` lets it go on.
    func halt() {
        guard end == nil else { return }
        Glibc.kill(pid, SIGSTOP)
        var status: Int32 = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
        // Where it has ended meanwhile, that is what was waited for.
        if status & 0xFF != 0x7F { end = Self.end(status) }
    }

    /// Kills it, and reaps it. Twice is once.
    public func kill() {
        guard end == nil else { return }
        Glibc.kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        end = Self.end(status)
    }

    /// Waits until it has ended by itself.
    @discardableResult
    public func wait(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> End {
        if let end { return end }
        let deadline = Deadline(time)
        // Its output's end comes with its own, but where it handed that on.
        _ = output.waitForEnd(deadline)
        while true {
            if let end = endByNow() { return end }
            guard !deadline.hasPassed else {
                throw TestFailure(
                    "\(output.label) (process \(pid)) did not end within \(time)\n\(outputText)", file: file, line: line
                )
            }
            poll(nil, 0, 1)
        }
    }

    /// How it has ended; nil while it runs.
    func endByNow() -> End? {
        var status: Int32 = 0
        if end == nil, waitpid(pid, &status, WNOHANG) == pid { end = Self.end(status) }
        return end
    }

    private static func end(_ status: Int32) -> End {
        status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
    }

    static func environment(_ added: [String: String]) -> [String] {
        var own: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            let name = text.prefix { $0 != "=" }
            if !name.hasPrefix("STRATA_"), added[String(name)] == nil { own.append(text) }
            next += 1
        }
        return own + added.map { "\($0.key)=\($0.value)" }
    }

    static func strings(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
        strings.map { strdup($0) } + [nil]
    }
}
