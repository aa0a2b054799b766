import Glibc
public import StrataCore
public import StrataLoop
public import StrataManifest

/// Asks modules' programs what they are: starts each as `PROGRAM --describe`, or
/// `python3 PROGRAM --describe` and its like, without a bus, as its row's user, and reads the hello that it prints.
///
/// Blocks until all have answered; takes 5 s for one that doesn't.
public struct ModuleDescriber {
    /// Why there is no description.
    public struct Failure: Error, Equatable {
        /// Its row can't be started at all, or the program crashed; otherwise it doesn't
        /// know `--describe`, which none has to.
        public var isError: Bool
        /// What was tried, and what came.
        public var message: String
    }

    /// In milliseconds, for one program.
    private static let patience: UInt64 = 5_000
    /// Of what it prints, in bytes.
    private static let most = 1 << 20

    private let manifest: Manifest
    private let inherited: [String: String]
    private let ownsProcess: Bool

    /// - Parameters:
    ///   - manifest: the app's.
    ///   - environment: this process's.
    ///   - ownsProcess: this process is the command's alone: all that programs leave
    ///     behind is killed before the next one starts, and where a signal ends it.
    public init(_ manifest: Manifest, environment: [String: String], ownsProcess: Bool = false) {
        self.manifest = manifest
        self.ownsProcess = ownsProcess
        inherited = ProcessEnvironment.inherited(environment)
    }

    /// One after another, in the order of the rows; rows without a program are
    /// left out.
    /// - Parameters:
    ///   - names: the rows that are asked; all where there are none.
    ///   - asking: gets each row's name before it is asked, and nil at the end, with
    ///     the loop that runs meanwhile.
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
        guard let exit = end.exit else { throw silent("it printed no hello within \(seconds(Self.patience))", end) }
        guard exit == .code(0) else {
            guard end.isCrash else { throw silent("it ended with \(exit)", end) }
            throw Failure(
                isError: true,
                message: "it crashed when it was asked to describe itself (--describe): \(exit)\(end.words)")
        }
        guard let json = try? JSON(parsing: end.output) else { throw silent("what it printed is no JSON", end) }
        do throws(ModuleDescription.Malformed) { return try ModuleDescription(json) } catch {
            throw Failure(isError: true, message: "its description can't be understood: \(error.message)")
        }
    }

    private func silent(_ message: String, _ end: End) -> Failure {
        Failure(isError: false, message: "it did not describe itself (--describe): \(message)\(end.words)")
    }

    /// What became of a program that was asked.
    private struct End {
        var output: [UInt8] = []
        /// What it wrote to standard error last.
        var errors = LastLines()
        /// Nil where it was killed.
        var exit: ChildProcess.Exit?

        var isCrash: Bool {
            if case .signal = exit { return true }
            return errors.saysCause
        }

        /// What it said, behind a sentence.
        var words: String { errors.brief.isEmpty ? "" : "; it wrote: \(errors.brief.joined(separator: " | "))" }
    }

    /// What an interpreter needs to know which program it is: its arguments up to the
    /// first one that is a file's name. What `env` runs is seen through. Of other programs
    /// arguments are their own affair.
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

    /// A program that was just built may still be open for writing somewhere: one
    /// that can't be started now is tried again for half a second.
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
            // What the last program left took a while to be killed, which is none of this one's time.
            loop.updateTime()
            let timer = LoopTimer(loop) { isOver = true }
            timer.start(after: Self.patience)
            while !isOver { loop.runOnce(waiting: true) }
            timer.close()
            reader.drain()
            errors.processEnded()
            // And what it has started in its session's first group.
            Glibc.kill(-child.pid, SIGKILL)
            let result = end
            while end.exit == nil { loop.runOnce(waiting: true) }
            return result
        } catch {
            throw Failure(isError: true, message: Executable.explain(error, executable))
        }
    }
}
