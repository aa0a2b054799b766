import Foundation
import Glibc
import Synchronization

/// One run of the built `strata`: what it wrote, and how it ended.
struct CommandRun: Sendable {
    var output: String
    var error: String
    var status: Int32
    /// Ended by a signal, whose number is in `status`.
    var isSignalled: Bool

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Where stdout goes.
    enum Output: Sendable {
        case pipe
        /// A terminal of so many columns.
        case terminal(columns: UInt16)
        /// A pipe that nobody reads; writing to it ends the process, unless it
        /// was started with SIGPIPE ignored.
        case closedPipe(ignoringSignal: Bool)
    }

    /// The executable beside the test's own.
    static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("strata")

    /// Runs it and waits for its end. The environment is empty but for what is
    /// given.
    /// - Parameter started: gets the process's id as soon as it runs.
    static func of(
        _ arguments: [String], environment: [String: String] = [:], input: String = "",
        output: Output = .pipe, started: @escaping @Sendable (Int32) -> Void = { _ in }
    ) async throws -> CommandRun {
        try await withCheckedThrowingContinuation { continuation in
            // It blocks on pipes, which a task's thread should not.
            Thread.detachNewThread {
                // A dispatch thread blocks all signals, and what it starts
                // would inherit that.
                var none = sigset_t()
                sigemptyset(&none)
                pthread_sigmask(SIG_SETMASK, &none, nil)
                continuation.resume(
                    with: Result { try run(arguments, environment, input, output, started) })
            }
        }
    }

    private static func run(
        _ arguments: [String], _ environment: [String: String], _ input: String, _ output: Output,
        _ started: (Int32) -> Void
    ) throws -> CommandRun {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        if case .closedPipe(ignoringSignal: true) = output {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "trap '' PIPE; exec \"$0\" \"$@\"", executable.path] + arguments
        }
        process.environment = environment
        let (stdin, stdout, stderr) = (Pipe(), try Outlet(output), Pipe())
        // A pipe that the command doesn't read could end before it is written.
        process.standardInput = input.isEmpty ? FileHandle.nullDevice : stdin
        process.standardOutput = stdout.writing
        process.standardError = stderr
        try process.run()
        started(process.processIdentifier)
        stdout.processStarted()
        if !input.isEmpty { try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        try stdin.fileHandleForWriting.close()
        // What it says to both is far less than a pipe holds.
        let shown = stdout.readToEnd()
        let said = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return CommandRun(
            output: shown, error: String(decoding: said, as: UTF8.self), status: process.terminationStatus,
            isSignalled: process.terminationReason == .uncaughtSignal)
    }
}

/// Both ends of what a command writes to.
private final class Outlet {
    let writing: FileHandle
    private let reading: FileHandle?
    private let terminal: PseudoTerminal?

    init(_ output: CommandRun.Output) throws {
        switch output {
        case .pipe, .closedPipe:
            let pipe = Pipe()
            terminal = nil
            writing = pipe.fileHandleForWriting
            if case .closedPipe = output {
                try pipe.fileHandleForReading.close()
                reading = nil
            } else {
                reading = pipe.fileHandleForReading
            }
        case .terminal(let columns):
            let terminal = try PseudoTerminal(columns: columns)
            let process = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
            guard process >= 0 else { throw POSIXError(.ENXIO) }
            writing = FileHandle(fileDescriptor: process, closeOnDealloc: true)
            reading = nil
            self.terminal = terminal
        }
    }

    /// The child has its own; ours would keep the other end from ending.
    func processStarted() { try? writing.close() }

    func readToEnd() -> String {
        if let terminal { return terminal.readToEnd() }
        return String(decoding: reading?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
    }
}

/// A folder that is gone after the test.
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
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }
}

/// Runs `strata` against a fake bus of its own.
func strata(
    _ arguments: String..., input: String = "", environment: [String: String] = [:],
    output: CommandRun.Output = .pipe, started: @escaping @Sendable (Int32) -> Void = { _ in },
    script: @escaping FakeBus.Script
) async throws -> (run: CommandRun, asked: [FakeBus.Asked]) {
    let folder = try TemporaryFolder()
    let bus = FakeBus(at: "\(folder.path)/bus.sock", script: script)
    defer { bus.close() }
    let variables = environment.merging(["STRATA_SOCKET": bus.path]) { given, _ in given }
    let run = try await CommandRun.of(
        arguments, environment: variables, input: input, output: output, started: started)
    return (run, bus.asked)
}
