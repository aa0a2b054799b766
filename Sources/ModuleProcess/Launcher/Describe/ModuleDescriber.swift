import Glibc
public import StrataCore
public import StrataLoop
public import StrataManifest

/// Asks modules' programs to describe themselves. It starts each one without a bus and as its row's
/// user, as `PROGRAM --describe` or `python3 PROGRAM --describe` and the like. Then it reads the
/// hello that the program prints.
///
/// Blocks until all have answered; one that doesn't answer takes 5 s.
public struct ModuleDescriber {
    /// The reason why there is no description.
    public struct Failure: Error, Equatable {
        /// True if the row can't be started at all, or the program crashed. Otherwise the program
        /// doesn't know `--describe`, which is optional.
        public var isError: Bool
        /// What was tried, and what happened.
        public var message: String
    }

    /// The time for one program, in milliseconds.
    private static let patience: UInt64 = 5_000
    /// The most bytes of a program's output that are read.
    private static let most = 1 << 20

    private let manifest: Manifest
    private let inherited: [String: String]
    private let ownsProcess: Bool

    /// Creates a describer.
    /// - Parameters:
    ///   - manifest: The app's manifest.
    ///   - environment: This process's environment.
    ///   - ownsProcess: Whether this process belongs to the command alone. If so, everything that a
    ///     program leaves behind is killed before the next one starts, and when a signal ends the
    ///     process.
    public init(_ manifest: Manifest, environment: [String: String], ownsProcess: Bool = false) {
        self.manifest = manifest
        self.ownsProcess = ownsProcess
        inherited = ProcessEnvironment.inherited(environment)
    }

    /// Describes modules one after another, in the order of their rows. Rows without a program are
    /// left out.
    /// - Parameters:
    ///   - names: The rows to ask; nil for all of them.
    ///   - asking: Called with the loop and each row's name before that row is asked, and with nil
    ///     at the end.
    public func describe(
        _ names: Set<String>? = nil, asking: (Loop, String?) -> Void = { _, _ in }
    ) throws(SystemError) -> [(name: String, result: Result<ModuleDescription, Failure>)] {
        let loop = try Loop()
        let leftovers = ownsProcess ? try Leftovers(loop) : nil
        defer { leftovers?.end() }
        var results: [(name: String, result: Result<ModuleDescription, Failure>)] = []
        for (row, process) in zip(manifest.table.modules, manifest.processes) {
            guard let executable = process.executable, names?.contains(row.name) ?? true else { continue }
            asking(loop, row.name)
            results.append((row.name, Result { () throws(Failure) in try describe(row, process, executable, loop) }))
            leftovers?.kill()
        }
        asking(loop, nil)
        return results
    }

    private func describe(_ row: AppTable.Row, _ process: ModuleProcess, _ executable: String, _ loop: Loop)
        throws(Failure) -> ModuleDescription
    {
        if let problem = Executable.problem(executable, of: process) {
            throw Failure(isError: true, message: problem)
        }
        let end = try run(row, process, executable, loop)
        guard let exit = end.exit else {
            throw silent(
                "it printed no description within \(seconds(Self.patience))", end)
        }
        guard exit == .code(0) else {
            guard end.isCrash else { throw silent("it ended with \(exit)", end) }
            throw Failure(
                isError: true,
                message: "it crashed when it was asked to describe itself (--describe): \(exit)\(end.words)")
        }
        guard let json = try? JSON(parsing: end.output) else { throw silent("what it printed is not JSON", end) }
        do throws(ModuleDescription.Malformed) { return try ModuleDescription(json) } catch {
            throw Failure(isError: true, message: "its description can't be understood: \(error.message)")
        }
    }

    private func silent(_ message: String, _ end: End) -> Failure {
        Failure(isError: false, message: "it did not describe itself (--describe): \(message)\(end.words)")
    }

    /// The outcome of a program that was asked.
    private struct End {
        var output: [UInt8] = []
        /// The last lines that it wrote to standard error.
        var errors = LastLines()
        /// Nil if it was killed.
        var exit: ChildProcess.Exit?

        var isCrash: Bool {
            if case .signal = exit { return true }
            return errors.saysCause
        }

        /// Its last words, to be appended to a sentence.
        var words: String { errors.brief.isEmpty ? "" : "; it wrote: \(errors.brief.joined(separator: " | "))" }
    }

    /// Returns the arguments that tell an interpreter which program to run: those up to the first
    /// one that is a file's name. It looks through `env`. Other programs get no arguments, because
    /// their meaning is unknown.
    static func script(_ run: [String]) -> [String] {
        let program = run.first?.split(separator: "/").last ?? ""
        if program == "env" {
            let words = run.dropFirst().prefix { $0.hasPrefix("-") || $0.contains("=") }
            let command = Array(run.dropFirst(1 + words.count))
            return command.isEmpty ? [] : words + [command[0]] + script(command)
        }
        let name = program.prefix { $0.isLetter }
        guard interpreters.contains(String(name)),
            program.dropFirst(name.count).allSatisfy({ $0.isNumber || $0 == "." }),
            let script = run.dropFirst().firstIndex(where: { !$0.hasPrefix("-") && $0.contains { "./".contains($0) } })
        else { return [] }
        return Array(run[1...script])
    }

    private static let interpreters: Set = ["python", "node", "ruby", "perl", "php", "lua", "bash", "sh"]

    /// Starts a program. A newly built program may still be open for writing, so a failed start is
    /// retried for half a second.
    private func spawn(
        _ loop: Loop, _ command: ChildProcess.Command, onExit: @escaping (ChildProcess.Exit) -> Void
    ) throws(SystemError) -> ChildProcess {
        for _ in 0..<50 {
            do throws(SystemError) {
                return try ChildProcess(loop, command, onExit: onExit)
            } catch {
                guard Executable.isTemporary(error) else { throw error }
                usleep(10_000)
            }
        }
        return try ChildProcess(loop, command, onExit: onExit)
    }

    private func run(_ row: AppTable.Row, _ process: ModuleProcess, _ executable: String, _ loop: Loop)
        throws(Failure) -> End
    {
        var command = ChildProcess.Command(
            arguments: [executable] + Self.script(process.run) + ["--describe"],
            environment: ProcessEnvironment.module(
                process, inherited: inherited, user: row.user,
                bus: ["STRATA_MODULE": row.name, "STRATA_ENV": manifest.table.env]),
            folder: process.folder)
        if let user = row.user, user != geteuid() {
            command.user = (user, ProcessEnvironment.group(of: user, appGroup: manifest.table.group))
        }
        var end = End()
        var isOver = false
        do throws(SystemError) {
            let (pipe, errorPipe) = (try Pipe(), try Pipe())
            let reader = try OutputReader(
                loop, descriptor: pipe.reading,
                onBytes: { bytes in if end.output.count < Self.most { end.output += bytes } }, onEnd: {})
            let errors = try ProcessOutput(loop, descriptor: errorPipe.reading) { end.errors.add($0) }
            defer {
                reader.close()
                errors.close()
            }
            for one in [pipe, errorPipe] {
                if let user = command.user { one.give(to: user.uid) }
            }
            command.descriptors = [nil, pipe.writing, errorPipe.writing]
            defer {
                pipe.closeWriting()
                errorPipe.closeWriting()
            }
            let child = try spawn(loop, command) {
                end.exit = $0
                isOver = true
            }
            // Killing the previous program's leftovers took time that doesn't count against this
            // program.
            loop.updateTime()
            let timer = LoopTimer(loop) { isOver = true }
            timer.start(after: Self.patience)
            while !isOver { loop.runOnce(waiting: true) }
            timer.close()
            reader.drain()
            errors.processEnded()
            // Kills also what the program has started in the first group of its session.
            Glibc.kill(-child.pid, SIGKILL)
            let result = end
            while end.exit == nil { loop.runOnce(waiting: true) }
            return result
        } catch {
            throw Failure(isError: true, message: Executable.explain(error, executable))
        }
    }
}
