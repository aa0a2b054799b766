internal import Glibc

/// A shell on a terminal of its own. Lines are typed into it as a person types them.
final class Terminal {
    /// `POSIX_SPAWN_SETSID`, which the C library's module hides.
    private static let newSession: Int32 = 0x80
    /// What the shell writes when it waits for a line. No program writes this.
    private static let prompt = "\u{2}ready\u{3}"

    private let console: PseudoTerminal
    private let shell: Int32
    /// The output that has arrived and was not returned yet.
    private var pending: [UInt8] = []
    private var isAtEnd = false
    /// Whether the shell runs a program in the foreground.
    private(set) var isBusy = true

    /// Starts `bash` in a folder, and waits for its prompt.
    init(folder: String, environment: [String: String], columns: UInt16) throws {
        console = try PseudoTerminal(columns: columns)
        // Nothing comes from the person's own shell: no colours, no history.
        let own = [
            "PS1": Self.prompt, "PS2": "", "TERM": "xterm", "NO_COLOR": "1", "HISTFILE": "/dev/null", "HOME": folder,
        ]
        shell = try Self.start(console.path, ChildProgram.environment(own.merging(environment) { $1 }))
        _ = try output(until: Deadline(), to: { _ in false })
        type("stty -echo; cd \(Self.quoted(folder))")
        _ = try output(until: Deadline(), to: { _ in false })
    }

    deinit { close() }

    /// Types a line, and the key that ends it.
    func type(_ line: String) {
        isBusy = true
        for byte in (line + "\n").utf8 { console.type(byte) }
    }

    /// Types ctrl-C.
    func interrupt() { console.type(3) }

    /// Waits for the prompt, or until enough output has arrived.
    /// - Returns: the output since the last call. It is cut to whole lines if the program still
    ///   runs.
    func output(until deadline: Deadline, to isEnough: ([String]) -> Bool) throws -> [String] {
        let end = Array(Self.prompt.utf8)
        while true {
            if let range = pending.firstRange(of: end) {
                let lines = Self.lines(pending[..<range.lowerBound])
                pending.removeSubrange(..<range.upperBound)
                isBusy = false
                return lines
            }
            let whole = (pending.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
            let lines = Self.lines(pending[..<whole])
            if isEnough(lines) {
                pending.removeSubrange(..<whole)
                return lines
            }
            var wanted = pollfd(fd: console.descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wanted, 1, deadline.milliseconds)
            if ready > 0, let bytes = console.read() {
                pending += bytes
            } else if ready > 0 || deadline.hasPassed {
                throw TestFailure(
                    (ready > 0 ? "the shell has ended" : "it did not come in time")
                        + "; the output was:\n\(Self.lines(pending[...]).joined(separator: "\n"))")
            }
        }
    }

    /// Ends the running program, in order if possible, and the shell. Does nothing the second
    /// time.
    func close() {
        guard !isAtEnd else { return }
        isAtEnd = true
        if isBusy {
            interrupt()
            _ = try? output(until: Deadline(), to: { _ in false })
        }
        console.close()
        kill(shell, SIGKILL)
        var status: Int32 = 0
        while waitpid(shell, &status, 0) < 0, errno == EINTR {}
    }

    /// Starts the shell as the leader of a new session. Such a process gets the terminal that it
    /// opens as its controlling terminal.
    private static func start(_ terminal: String, _ environment: [String]) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = SpawnAttributes.make(Self.newSession)
        defer { posix_spawnattr_destroy(&attributes) }
        let words = ChildProgram.strings(["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"])
        let variables = ChildProgram.strings(environment)
        defer { (words + variables).forEach { free($0) } }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, "/bin/bash", &actions, &attributes, words, variables)
        guard status == 0 else { throw TestFailure.system("start /bin/bash", status) }
        return pid
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [String] {
        var lines = PseudoTerminal.text(Array(bytes)).split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines.map(String.init)
    }

    /// Quotes a path as one word of a shell.
    static func quoted(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
