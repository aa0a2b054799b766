internal import CUV
internal import Glibc

/// A process that a test started. It is killed by its process id, and reaped.
public final class ChildProgram {
    /// How the process ended.
    public enum End: Sendable, Equatable, CustomStringConvertible {
        /// It ended by itself, with this code.
        case exit(Int32)
        /// This signal ended it.
        case signal(Int32)

        public var description: String {
            switch self {
            case .exit(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        }
    }

    /// The process id, which stays the same after the end.
    public let pid: Int32
    /// How it ended; nil until it has ended and was waited for.
    public private(set) var end: End?
    let output: ChildOutput

    /// What it wrote to standard output and standard error, as far as it was read.
    public var outputText: String { output.text }

    /// Starts a program. The harness reads its output; its input is empty.
    /// - Parameters:
    ///   - executable: the path of the executable.
    ///   - arguments: the program's arguments.
    ///   - environment: variables beside this process's own. Its own `STRATA_…` variables are
    ///     left out.
    ///   - folder: the working folder; nil for this process's own.
    ///   - third: a descriptor that becomes the program's descriptor 3.
    ///   - label: the name that failures use.
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
        var attributes = SpawnAttributes.make()
        defer { posix_spawnattr_destroy(&attributes) }
        // The child enters its folder first, and would look for a relative path from there.
        let path = realpath(executable, nil)
        defer { free(path) }
        let status = posix_spawn(
            &pid, path.map { String(cString: $0) } ?? executable, &actions, &attributes, words, variables)
        guard status == 0 else { throw TestFailure.system("start \(executable)", status) }
        self.pid = pid
    }

    deinit { kill() }

    /// Waits for the first line that the program writes, and returns it without its newline.
    /// Returns the part that arrived if the program ends first, or no line comes in time.
    public func firstLine(within time: Duration = TestBus.patience) -> String { output.waitForLine(Deadline(time)) }

    /// Sends a signal, unless it has ended.
    public func send(signal: Int32) {
        if end == nil { Glibc.kill(pid, signal) }
    }

    /// Stops the process, and returns when it has stopped. `SIGCONT` continues it.
    func halt() {
        guard end == nil else { return }
        Glibc.kill(pid, SIGSTOP)
        var status: Int32 = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
        // If the process has ended meanwhile, `waitpid` has reaped it.
        if status & 0xFF != 0x7F { end = Self.end(status) }
    }

    /// Kills the process and reaps it. Does nothing the second time.
    public func kill() {
        guard end == nil else { return }
        Glibc.kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        end = Self.end(status)
    }

    /// Waits until the process has ended by itself.
    @discardableResult
    public func wait(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> End {
        if let end { return end }
        let deadline = Deadline(time)
        // The output ends with the process, unless the process passed it on to another one.
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

    /// Returns how the process has ended; nil while it runs.
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
