import ArgumentParser
import StrataCore
import StrataLauncher
import StrataManifest
import StrataReplay

/// `strata replay`: runs a module alone on what a recording says that it got.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Runs a module alone on a recording, and compares what it answers.",
        discussion: """
            It starts the module's program, plays the broker for it, and sends it what `strata \
            record` saw go to it: calls, notices, and the answers to its own requests. It shows \
            what the module answers or sends otherwise than then, and how its process ends.

            EXAMPLE
              strata replay crash.pcapng Notes
              strata replay crash.pcapng Notes --ignore at --verbose
              strata replay crash.pcapng Notes -- gdb -batch -ex run -ex bt --args {}
              strata replay crash.pcapng Notes -- .build/debug/Notes

            Without a program the row's `run` is run; with one, {} stands for it. It runs in the \
            row's folder, with the row's env. docs/recordings.md says what a recording can't \
            tell. Exit codes: 0 no difference, 1 differences, 2 bad usage, 3 the module can't be \
            played.
            """)

    @Argument(help: "The file from strata record; - is standard input.", completion: .file())
    var file: String

    @Argument(help: "The module's name.", completion: LiveNames.modules)
    var module: String

    @Option(
        help: ArgumentHelp("The app's manifest.", valueName: "path"), completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(
        help: ArgumentHelp(
            "Members of this name are not compared, as times; again for more.", valueName: "member"))
    var ignore: [String] = []

    @Flag(help: "Waits as long between frames as then. Otherwise each is sent when its turn has come.")
    var keepTimes = false

    @Option(
        help: ArgumentHelp(
            "How long the module has for each step: an integer with ms, s, m or h. To connect it has at least 30s.",
            valueName: "time"))
    var patience = Milliseconds(argument: "5s")!  // because 5s is a valid time

    @Flag(name: .shortAndLong, help: "Shows the frames: > to the module, < from it.")
    var verbose = false

    @OptionGroup var output: OutputOption

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The program to run, and its arguments; {} is the row's `run`.", valueName: "program"))
    var words: [String] = []

    func validate() throws {
        guard (1...3_600_000).contains(patience.value) else { throw ValidationError("--patience takes 1ms to 1h.") }
    }

    func run() throws {
        let recording = try RecordingInput.read(file, of: module)
        if let obstacle = recording.obstacle { throw Failure(.usage, "\(file): \(obstacle)") }
        if recording.missed > 0 {
            StandardError.write(
                "\(file): \(recording.missed) frames are missing: the module may differ because of that")
        }
        let plan = try plan(recording)
        let view = ReplayView(module, Answer(output), isVerbose: verbose)
        let count: ReplayCount
        do throws(Replay.Failure) { count = try Replay(recording, plan, view.story).run() } catch {
            throw Failure(.noBus, error.description)
        }
        view.show(count)
        if count.differences > 0 { throw ExitCode(Failure.Status.answer.rawValue) }
    }

    private func plan(_ recording: ModuleRecording) throws(Failure) -> ReplayPlan {
        let app = try load()
        if let recorded = recording.app, recorded != app.table.app {
            StandardError.write(
                "\(file) is of the app \(Printable.line(recorded)), and \(manifest) of \(app.table.app)")
        }
        guard let place = app.table.modules.firstIndex(where: { $0.name == module }) else {
            let names = nearestNames(to: module, in: app.table.modules.map(\.name))
            throw Failure(
                .usage, "\(manifest) has no row \(Printable.line(module)).\(InterfaceActions.hint(names))")
        }
        let (row, process) = (app.table.modules[place], app.processes[place])
        var plan = ReplayPlan(module: module, words: try program(process), welcome: welcome(app.table, row))
        plan.folder = process.folder
        plan.environment = process.env
        (plan.env, plan.launchOptions) = (app.table.env, app.table.launchOptions)
        plan.settings = app.table.undeclaredSettings(of: row).object ?? []
        plan.secrets = Dictionary(row.secrets.map { ($0.key, $0.value) }) { first, _ in first }
        plan.observes = row.observes.map { observed in
            .object(
                [.init(observed.isPattern ? "pattern" : "name", .string(observed.name))]
                    + (observed.object.map { [.init("object", .string($0))] } ?? [])
            )
        }
        plan.levels = Dictionary(app.table.modules.map { ($0.name, app.table.levels[$0.rank]) }) { first, _ in first }
        plan.patience = .milliseconds(patience.value)
        (plan.keepsTimes, plan.ignored) = (keepTimes, Set(ignore))
        return plan
    }

    /// Reads the manifest, with its secrets if this user can read them.
    private func load() throws(Failure) -> Manifest {
        let environment = RunningApp.environment
        if let app = try? Manifest.load(path: manifest, environment: environment, readsSecrets: true) { return app }
        let app: Manifest
        do throws(ManifestErrors) { app = try Manifest.load(path: manifest, environment: environment) } catch {
            throw Failure(.usage, error.description, isPlain: true)
        }
        StandardError.write("\(manifest): its secrets can't be read here: modules get \(AppTable.Secret.hidden)")
        return app
    }

    private func program(_ process: ModuleProcess) throws(Failure) -> [String] {
        let own = process.executable.map { [$0] + process.run.dropFirst() } ?? []
        var all = try Place.words(words, run: own, of: module)
        all[0] = try ProgramSearch.path(of: all[0])
        return all
    }

    private func welcome(_ table: AppTable, _ row: AppTable.Row) -> [JSON.Member] {
        [
            .init("app", .string(table.app)), .init("env", .string(table.env)), .init("module", .string(module)),
            .init("level", .string(table.levels[row.rank])), .init("rank", .integer(Int64(row.rank))),
            .init("levels", .strings(table.levels)), .init("schemes", .strings(table.schemes)),
            .init("launchOptions", table.launchOptions), .init("limits", table.limits.json()),
            .init("features", .strings(BrokerFeature.all)),
        ]
    }
}
