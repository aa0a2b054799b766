internal import CUV
internal import Glibc
import StrataCore

/// The program that uses the client, as a process.
package final class ProbeProgram {
    package enum End: Equatable, CustomStringConvertible {
        case exit(Int32)
        case signal(Int32)

        package var description: String {
            switch self {
            case .exit(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        }
    }

    /// How the process ended; nil while it runs.
    package private(set) var end: End?
    /// What it wrote to standard output, and to standard error: 64 KiB of each at most.
    package private(set) var output: [UInt8] = []
    package private(set) var errors: [UInt8] = []
    private var outputPipe: Int32 = -1
    private var errorPipe: Int32 = -1
    private var lifeline: Int32 = -1
    private let pid: Int32
    /// The process's descriptor, which is readable when it has ended.
    private let process: Int32
    private static let most = 64 << 10

    /// Starts the program as the launcher would.
    /// - Parameters:
    ///   - words: its path, followed by its arguments.
    ///   - environment: its variables. It also gets the lifeline's, and the kit's own ones that aren't named here and
    ///     don't begin with `STRATA_`.
    ///   - folder: its working folder; nil for the kit's own.
    package init(
        _ words: [String], _ environment: [String: String], in folder: String? = nil
    ) throws(ConformanceError) {
        var pipes: [[Int32]] = []
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            let status = strata_pipe(&ends)
            guard status == 0 else { throw ConformanceError.system("make a pipe", status) }
            pipes.append(ends)
        }
        (outputPipe, errorPipe, lifeline) = (pipes[0][0], pipes[1][0], pipes[2][1])
        for pipe in [outputPipe, errorPipe] { _ = fcntl(pipe, F_SETFL, O_NONBLOCK) }
        defer { for pipe in [pipes[0][1], pipes[1][1], pipes[2][0]] { close(pipe) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[0][1], 1)
        posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 2)
        posix_spawn_file_actions_adddup2(&actions, pipes[2][0], 3)
        if let folder { posix_spawn_file_actions_addchdir_np(&actions, folder) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var variables = environment.map { "\($0.key)=\($0.value)" } + ["STRATA_LIFELINE=3"]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            let name = String(text.prefix { $0 != "=" })
            if !name.hasPrefix("STRATA_"), environment[name] == nil { variables.append(text) }
            next += 1
        }
        let arguments = words.map { strdup($0) } + [nil]
        let entries = variables.map { strdup($0) } + [nil]
        defer {
            for text in arguments + entries { free(text) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, words[0], &actions, &attributes, arguments, entries)
        self.pid = pid
        process = status == 0 ? strata_process_descriptor(pid) : -1
        guard status == 0 else {
            end = .exit(127)
            throw ConformanceError.system("start \(words[0])", status)
        }
    }

    deinit {
        kill()
        for descriptor in [outputPipe, errorPipe, lifeline, process] where descriptor >= 0 { close(descriptor) }
    }

    /// What to wait for: its output, and its end.
    package var descriptors: [Int32] { [outputPipe, errorPipe, end == nil ? process : -1].filter { $0 >= 0 } }

    /// Reads what the program has written, and notes its end.
    package func readOutput() {
        Self.read(&outputPipe, into: &output)
        Self.read(&errorPipe, into: &errors)
        noteEnd()
    }

    private static func read(_ pipe: inout Int32, into text: inout [UInt8]) {
        guard pipe >= 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: most, alignment: 16) { space in
            let count = Glibc.read(pipe, space.baseAddress, space.count)
            if count > 0 {
                text.append(contentsOf: space[..<count].prefix(most - text.count))
            } else if count == 0 {
                close(pipe)
                pipe = -1
            }
        }
    }

    private func noteEnd() {
        var status: Int32 = 0
        if end == nil, waitpid(pid, &status, WNOHANG) == pid { end = Self.end(status) }
    }

    /// Waits until the process has ended and its output is read; returns nil if it goes on.
    package func waitForEnd(in place: KitPlace, until moment: Moment) throws(Finding) -> End? {
        while !descriptors.isEmpty {
            guard try place.wait(self, -1, 0, until: moment) else { break }
        }
        return end
    }

    package func send(signal: Int32) {
        if end == nil { Glibc.kill(pid, signal) }
    }

    /// Ends the lifeline, as the launcher's end does.
    package func endLifeline() {
        if lifeline >= 0 { close(lifeline) }
        lifeline = -1
    }

    package func kill() {
        guard end == nil else { return }
        Glibc.kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        end = Self.end(status)
    }

    private static func end(_ status: Int32) -> End {
        status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
    }
}
