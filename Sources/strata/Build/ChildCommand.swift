import Glibc

/// A program that a command needs, and waits for.
enum ChildCommand {
    /// How a program ended, and what it wrote to its standard output if that was asked for.
    struct End {
        /// The status from waitpid(2).
        let status: Int32
        let output: [UInt8]

        var isGood: Bool { status == 0 }
        /// `exit code 1` or `signal 9`.
        var text: String { status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)" }
    }

    /// Runs a program of PATH until it has ended. What it writes goes to stderr.
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - folder: its working folder; nil for this process's.
    ///   - returnsOutput: whether its standard output is returned instead.
    /// - Throws: `usage` if it can't be started.
    static func run(
        _ words: [String], in folder: String? = nil, returnsOutput: Bool = false
    ) throws(Failure) -> End {
        var ends: [Int32] = [-1, -1]
        if returnsOutput, pipe(&ends) != 0 { throw failure(words, errno) }
        defer { for end in ends where end >= 0 { close(end) } }
        for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, returnsOutput ? ends[1] : STDERR_FILENO, STDOUT_FILENO)
        // Swift doesn't see posix_spawn's action for it, which is an extension of glibc.
        let words = folder.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0] + words } ?? words
        let arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, nil, arguments, environ)
        guard code == 0 else { throw failure(words, code) }
        var output: [UInt8] = []
        if returnsOutput {
            close(ends[1])
            ends[1] = -1
            output = Descriptor.content(of: ends[0]) ?? []
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { throw failure(words, errno) }
        }
        return End(status: status, output: output)
    }

    private static func failure(_ words: [String], _ code: Int32) -> Failure {
        Failure(.usage, "\(words[0]) can't be started: \(String(cString: strerror(code)))")
    }
}
