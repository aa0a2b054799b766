import Glibc
import StrataContracts
public import StrataCore
public import StrataLoop
public import StrataManifest

/// Asks modules' programs to describe themselves. It starts each one without a bus and as its row's
/// user, as `PROGRAM --describe` or `python3 PROGRAM --describe` and the like. Then it reads the
/// hello that the program prints.
///
/// Blocks until all have answered. Eight are asked at a time; one that doesn't answer takes 5 s.
public struct ModuleDescriber {
    /// The reason why there is no description.
    public struct Failure: Error, Equatable {
        /// True if the row can't be started at all, or the program crashed. Otherwise the program
        /// doesn't know `--describe`, which is optional.
        public var isError: Bool
        /// What was tried, and what happened.
        public var message: String
    }

    /// How many programs run at once. A program that starts mostly waits for its libraries to be read.
    static let width = 8

    private let manifest: Manifest
    private let inherited: [String: String]
    private let ownsProcess: Bool

    /// Creates a describer.
    /// - Parameters:
    ///   - manifest: The app's manifest.
    ///   - environment: This process's environment.
    ///   - ownsProcess: Whether this process belongs to the command alone. If so, everything that a
    ///     program leaves behind is killed when it has ended, and when a signal ends the process.
    public init(_ manifest: Manifest, environment: [String: String], ownsProcess: Bool = false) {
        self.manifest = manifest
        self.ownsProcess = ownsProcess
        inherited = ProcessEnvironment.inherited(environment, by: manifest)
    }

    /// Describes modules side by side, some at a time. Rows without a program are left out.
    /// - Parameters:
    ///   - names: The rows to ask; nil for all of them.
    ///   - asking: Called with the loop and the names of the rows that are being asked, each time
    ///     that they change; at the end with none.
    /// - Returns: The results, in the order of the rows.
    public func describe(
        _ names: Set<String>? = nil, asking: (Loop, [String]) -> Void = { _, _ in }
    ) throws(SystemError) -> [(name: String, result: Result<ModuleDescription, Failure>)] {
        let loop = try Loop()
        let leftovers = ownsProcess ? try Leftovers(loop) : nil
        defer { leftovers?.end() }
        var waiting = zip(manifest.table.modules, manifest.processes).compactMap { row, process in
            process.executable.flatMap { names?.contains(row.name) ?? true ? (row, process, $0) : nil }
        }[...]
        let order = waiting.map(\.0.name)
        var running: [DescribeQuestion] = []
        var results: [String: Result<ModuleDescription, Failure>] = [:]
        while !waiting.isEmpty || !running.isEmpty {
            while running.count < Self.width, let (row, process, executable) = waiting.popFirst() {
                do throws(Failure) {
                    running.append(try ask(row, process, executable, loop))
                } catch {
                    results[row.name] = .failure(error)
                }
            }
            asking(loop, running.map(\.module))
            while !running.isEmpty, !running.contains(where: \.isOver) { loop.runOnce(waiting: true) }
            let over = running.filter(\.isOver)
            running.removeAll(where: \.isOver)
            for question in over {
                let end = question.finish(loop)
                results[question.module] = Result { () throws(Failure) in try description(end) }
            }
            leftovers?.kill(except: Set(running.map(\.pid)))
        }
        asking(loop, [])
        return order.compactMap { name in results[name].map { (name, $0) } }
    }

    /// Reads what a program that has ended wrote.
    private func description(_ end: DescribeQuestion.End) throws(Failure) -> ModuleDescription {
        guard let exit = end.exit else {
            throw silent(
                "it printed no description within \(seconds(DescribeQuestion.patience))", end)
        }
        guard exit == .code(0) else {
            guard end.isCrash else { throw silent("it ended with \(exit)", end) }
            throw Failure(
                isError: true,
                message: "it crashed when it was asked to describe itself (--describe): \(exit)\(end.words)")
        }
        guard let json = try? JSON(parsing: end.output, maximumDepth: ContractLimits.depth) else {
            throw silent("what it printed is not JSON", end)
        }
        do throws(ModuleDescription.Malformed) { return try ModuleDescription(json) } catch {
            throw Failure(isError: true, message: "its description can't be understood: \(error.message)")
        }
    }

    private func silent(_ message: String, _ end: DescribeQuestion.End) -> Failure {
        Failure(isError: false, message: "it did not describe itself (--describe): \(message)\(end.words)")
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

    /// Starts a row's program, which then describes itself.
    private func ask(_ row: AppTable.Row, _ process: ModuleProcess, _ executable: String, _ loop: Loop)
        throws(Failure) -> DescribeQuestion
    {
        if let problem = Executable.problem(executable, of: process) {
            throw Failure(isError: true, message: problem)
        }
        var command = ChildProcess.Command(
            arguments: [executable] + Self.script(process.run) + ["--describe"],
            environment: ProcessEnvironment.module(
                process, inherited: inherited, user: row.user,
                bus: ["STRATA_MODULE": row.name, "STRATA_ENV": manifest.table.env]),
            folder: process.folder)
        if let user = row.user, user != geteuid() {
            command.user = (user, ProcessEnvironment.group(of: user, appGroup: manifest.table.group))
        }
        do throws(SystemError) { return try DescribeQuestion(row.name, command, loop) } catch {
            throw Failure(isError: true, message: Executable.explain(error, executable))
        }
    }
}
