import Foundation
import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport

/// One run of the built `strata`: its output, and how it ended.
struct CommandRun: Sendable {
    var output: String
    var error: String
    var status: Int32
    /// Whether it was ended by a signal, whose number is in `status`.
    var isSignalled: Bool

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// The destination of stdout.
    enum Output: Sendable {
        case pipe
        /// A terminal with this many columns.
        case terminal(columns: UInt16)
        /// A pipe without a reader. Writing to it ends the process, unless it was started with
        /// SIGPIPE ignored.
        case closedPipe(ignoringSignal: Bool)
    }

    /// The executable beside the test program.
    static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("strata")

    /// Runs it and waits for its end. The environment has only what is given.
    /// - Parameter started: gets the process id as soon as it runs.
    static func of(
        _ arguments: [String], environment: [String: String] = [:], input: String = "",
        output: Output = .pipe, started: @escaping @Sendable (Int32) -> Void = { _ in }
    ) async throws -> CommandRun {
        try await withCheckedThrowingContinuation { continuation in
            // It blocks on pipes, which a task's thread should not.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try run(arguments, environment, input, output, started) })
            }
        }
    }

    private static func run(
        _ arguments: [String], _ environment: [String: String], _ input: String, _ output: Output,
        _ started: (Int32) -> Void
    ) throws -> CommandRun {
        var words = [executable.path] + arguments
        if case .closedPipe(ignoringSignal: true) = output {
            words = ["/bin/sh", "-c", "trap '' PIPE; exec \"$0\" \"$@\""] + words
        }
        // Other tests' children would inherit Foundation's pipes and those of `Process`, and keep
        // them open as long as they run.
        let (stdin, stdout, stderr) = (try End.pipe(), try Outlet(output), try End.pipe())
        // A pipe that the command doesn't read could close before it is written.
        let pid = try spawn(
            words, environment,
            [input.isEmpty ? nil : stdin.reading.descriptor, stdout.writing.descriptor, stderr.writing.descriptor])
        started(pid)
        // The child has its own copies. Ours would keep the other end from ending.
        for end in [stdin.reading, stdout.writing, stderr.writing] { end.close() }
        stdin.writing.write(input)
        stdin.writing.close()
        // Both outputs are far smaller than what a pipe holds.
        let shown = stdout.readToEnd()
        let said = stderr.reading.readToEnd()
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return CommandRun(
            output: shown, error: said, status: signal == 0 ? (status >> 8) & 0xFF : signal, isSignalled: signal != 0)
    }

    /// - Parameter descriptors: the descriptors that become its 0, 1 and 2; nil for /dev/null.
    private static func spawn(
        _ words: [String], _ environment: [String: String], _ descriptors: [Int32?]
    ) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        let strings = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (strings + variables).forEach { free($0) } }
        var attributes = SpawnAttributes.make()
        defer { posix_spawnattr_destroy(&attributes) }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, words[0], &actions, &attributes, strings, variables)
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EIO) }
        return pid
    }
}

/// A descriptor that no child inherits by accident, closed with its last reference.
private final class End {
    private(set) var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    static func pipe() throws -> (reading: End, writing: End) {
        let pipe = try StrataLoop.Pipe(readingBlocks: true)
        return (End(pipe.reading), End(pipe.writing))
    }

    /// Closes the descriptor. Does nothing the second time.
    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    func readToEnd() -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: piece[..<count])
        }
    }
}

/// Both ends of a command's output.
private final class Outlet {
    let writing: End
    private let reading: End?
    private let terminal: PseudoTerminal?

    init(_ output: CommandRun.Output) throws {
        switch output {
        case .pipe:
            terminal = nil
            (reading, writing) = try End.pipe()
        case .closedPipe:
            terminal = nil
            reading = nil
            writing = try End.pipe().writing
        case .terminal(let columns):
            let terminal = try PseudoTerminal(columns: columns)
            let process = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
            guard process >= 0 else { throw POSIXError(.ENXIO) }
            writing = End(process)
            reading = nil
            self.terminal = terminal
        }
    }

    func readToEnd() -> String { terminal?.readToEnd() ?? reading?.readToEnd() ?? "" }
}

/// A folder that is removed after the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/strata-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw POSIXError(.EIO) }
        path = String(cString: made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ text: String = "") throws -> String {
        let file = "\(path)/\(name)"
        try WrittenProgram.write(text, to: file, mode: 0o644)
        return file
    }
}

/// Runs `strata` against a fake bus of its own.
func strata(
    _ arguments: String..., input: String = "", environment: [String: String] = [:],
    output: CommandRun.Output = .pipe, started: @escaping @Sendable (Int32) -> Void = { _ in },
    features: [String] = [], script: @escaping FakeBus.Script
) async throws -> (run: CommandRun, asked: [FakeBus.Asked]) {
    try await strata(
        arguments, input: input, environment: environment, output: output, started: started, features: features,
        script: script)
}

/// Does the same with a list of arguments.
func strata(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    output: CommandRun.Output = .pipe, started: @escaping @Sendable (Int32) -> Void = { _ in },
    features: [String] = [], script: @escaping FakeBus.Script
) async throws -> (run: CommandRun, asked: [FakeBus.Asked]) {
    let folder = try TemporaryFolder()
    let bus = FakeBus(at: "\(folder.path)/bus.sock", features: features, script: script)
    defer { bus.close() }
    let variables = environment.merging(["STRATA_SOCKET": bus.path]) { given, _ in given }
    let run = try await CommandRun.of(
        arguments, environment: variables, input: input, output: output, started: started)
    return (run, bus.asked)
}
