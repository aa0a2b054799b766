import Glibc
import StrataCore
import StrataLoop
public import StrataManifest
import StrataOperator

/// The work behind `strata dev`: an app that follows its files. The app's launcher is a child of this process, which
/// is an operator of its bus.
public final class DevRun {
    /// What to run.
    public struct Settings {
        /// The path of the manifest.
        public var manifest: String
        /// The value of `--socket`; nil if it is missing.
        public var socket: String?
        /// The launch options, each as `KEY=VALUE`.
        public var options: [String] = []
        /// The node that this machine is.
        public var node = NodeChoice()
        /// Further arguments of the app's `strata up`.
        public var arguments: [String] = []
        /// The folder of the manifest's package, and the command that builds it; nil if it has none.
        public var package: (Manifest) -> (folder: String, build: [String])?
        public var environment: [String: String]

        public init(
            manifest: String, environment: [String: String],
            package: @escaping (Manifest) -> (folder: String, build: [String])?
        ) {
            (self.manifest, self.environment, self.package) = (manifest, environment, package)
        }
    }

    /// How long changes are collected before they are looked at, in milliseconds: a program that saves several files
    /// makes one change of them.
    private static let collecting: UInt64 = 100
    /// How long a restart may take, in milliseconds.
    private static let patience: UInt64 = 120_000

    private let loop: Loop
    private let console: Console
    private let settings: Settings
    private var machine = DevMachine()
    private var files = DevFiles(nil)
    private var tree: DevTree
    private var roots: Set<String>
    private var package: (folder: String, build: [String])?
    /// The programs as they were last built.
    private var programs: [String: ProgramFile.Identity] = [:]
    private var watchers: [String: FolderWatcher] = [:]
    /// Why a folder can't be watched, once it was said.
    private var complaint: String?
    private var timer: LoopTimer?
    private var signals: [SignalWatcher] = []
    private var app: ChildProcess?
    private var compiler: ChildProcess?
    private var began: UInt64 = 0
    /// Where the bus of the app that is started next listens.
    private var socket: String?
    /// Nil until the app was started once.
    private var link: BusLink?
    /// What the bus is to be asked once it is there.
    private var waiting: [DevMachine.Order] = []
    private var isEnding = false
    private var code: Int32 = 0

    /// Runs an app, and follows its files, until the app or this process is ended; takes over the process.
    /// - Returns: the exit code of the app's launcher, or 0 if there was none.
    /// - Throws: code 2 if there is no such manifest.
    public static func run(_ settings: Settings) throws(LaunchError) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        guard access(settings.manifest, F_OK) == 0,
            let resolved = realpath(DevFiles.folder(of: settings.manifest), nil)
        else { throw LaunchError(2, "\(settings.manifest): \(String(cString: strerror(errno)))") }
        let folder = String(cString: resolved)
        free(resolved)
        let isTerminal = isatty(STDERR_FILENO) == 1
        let isColoured =
            isTerminal && settings.environment["NO_COLOR"] ?? "" == "" && settings.environment["TERM"] != "dumb"
        let sink = DescriptorSink(descriptor: STDERR_FILENO)
        defer { sink.finish(within: 1_000) }
        do throws(SystemError) {
            let run = DevRun(try Loop(), Console(sink, isColoured: isColoured), settings, root: folder)
            try run.start()
            withExtendedLifetime(run) { run.loop.run() }
            return run.code
        } catch {
            throw LaunchError(1, "\(error)")
        }
    }

    private init(_ loop: Loop, _ console: Console, _ settings: Settings, root: String) {
        (self.loop, self.console, self.settings) = (loop, console, settings)
        roots = [root]
        tree = DevTree(roots: [], files)
        timer = LoopTimer(loop) { [unowned self] in look() }
    }

    private func start() throws(SystemError) {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signals.append(try SignalWatcher(loop, signal: number) { [unowned self] in ordered(number) })
        }
        follow(machine.changed(.init(manifest: true, sources: true)))
    }

    private func say(_ text: String) { console.say(of: "dev", text) }

    private func follow(_ orders: [DevMachine.Order]) {
        for order in orders where !isEnding {
            switch order {
            case .read: read()
            case .build: build()
            case .start: startApp()
            case .reload, .restart:
                waiting.append(order)
                askBus()
            }
        }
    }

    // MARK: What is watched

    /// Looks at all folders anew, and watches them.
    private func watch() {
        tree = DevTree(roots: roots, files)
        for folder in watchers.keys where !tree.folders.contains(folder) {
            watchers.removeValue(forKey: folder)?.close()
        }
        for folder in tree.folders where watchers[folder] == nil {
            do throws(SystemError) {
                watchers[folder] = try FolderWatcher(loop, folder) { [unowned self] in happened($0, in: folder) }
            } catch {
                complain("\(folder) isn't watched: \(error); see fs.inotify.max_user_watches")
            }
        }
        if let beyond = tree.beyond {
            complain("only \(DevTree.mostFolders) folders are watched: \(beyond) and others aren't")
        }
    }

    private func complain(_ text: String) {
        if complaint == nil { say(text) }
        complaint = text
    }

    private func happened(_ name: String, in folder: String) {
        // What has no dot may be a folder.
        let matters = files.kind(of: "\(folder)/\(name)") != nil || (!name.contains(".") && !DevFiles.isIgnored(name))
        if matters, timer?.isActive == false { timer?.start(after: Self.collecting) }
    }

    private func look() {
        let earlier = tree
        watch()
        guard !isEnding else { return }
        var changes = DevMachine.Changes()
        // A build that runs says itself what it has changed, and one that ran has said it.
        if compiler == nil { changes.rows = takePrograms() }
        let rebuilt = Set(changes.rows.compactMap { files.programOfRow[$0] })
        let changed = tree.changes(since: earlier).filter { files.kind(of: $0) != .program || rebuilt.contains($0) }
        for path in changed {
            switch files.kind(of: path) {
            case .manifest: changes.manifest = true
            case .source: changes.sources = package != nil || !machine.isUp
            case .script: changes.rows.formUnion(files.rows(of: path))
            case .program, nil: break
            }
        }
        guard !changes.isEmpty, !changed.isEmpty else { return }
        let others = changed.count == 1 ? "" : " and \(changed.count - 1) more"
        say("\(shown(changed[0]))\(others) changed")
        follow(machine.changed(changes))
    }

    /// A path as it is from the manifest's folder.
    private func shown(_ path: String) -> String {
        for root in roots.sorted(by: { $0.utf8.count > $1.utf8.count }) where path.hasPrefix(root + "/") {
            return String(path.dropFirst(root.utf8.count + 1))
        }
        return path
    }

    // MARK: What is done

    private func read() {
        do throws(LaunchError) {
            let manifest = try AppRun.manifest(
                settings.manifest, node: settings.node, options: settings.options,
                environment: settings.environment)
            package = settings.package(manifest)
            files = DevFiles(manifest)
            console.align(to: manifest.here.map(\.row.name))
            roots = files.scriptFolders.union([manifest.folder])
            if let package { roots.insert(package.folder) }
            socket = try SocketChoice(manifest.table, given: settings.socket).path
            watch()
            follow(machine.read(ok: true, hasPackage: package != nil))
        } catch {
            watch()
            say(error.message)
            say(machine.isUp ? "the app runs as it was" : "the app starts when this is mended")
            follow(machine.read(ok: false, hasPackage: package != nil))
        }
    }

    private func build() {
        guard let package else { return }
        say("building \(package.folder)")
        began = Loop.nanoseconds
        var command = ChildProcess.Command(
            arguments: package.build, environment: settings.environment.map { "\($0.key)=\($0.value)" },
            folder: package.folder)
        // A terminal's ctrl-C ends it, too.
        command.ownSession = false
        command.descriptors = [nil, STDERR_FILENO, STDERR_FILENO]
        do throws(SystemError) {
            compiler = try ChildProcess(loop, command) { [unowned self] in built($0) }
        } catch {
            say("\(package.build[0]) can't be started: \(error)")
            follow(machine.built(ok: false, rows: []))
        }
    }

    private func built(_ exit: ChildProcess.Exit) {
        compiler = nil
        guard !isEnding else { return finishIfDone() }
        let time = seconds((Loop.nanoseconds - began) / 1_000_000)
        if exit == .code(0) {
            let changed = takePrograms()
            say("built in \(time)\(machine.isUp && changed.isEmpty ? "; no program changed" : "")")
            follow(machine.built(ok: true, rows: changed))
        } else {
            let what = machine.isUp ? "the app runs as it was" : "the app starts when this is mended"
            say("the build failed (\(exit)) after \(time); \(what)")
            follow(machine.built(ok: false, rows: []))
        }
    }

    /// Notes the programs as they are now, and returns the rows whose program is another one than before.
    private func takePrograms() -> Set<String> {
        var rows: Set<String> = []
        for (row, program) in files.programOfRow {
            let now = ProgramFile.Identity(program)
            if let former = programs[row], former != now { rows.insert(row) }
            programs[row] = now
        }
        return rows
    }

    private func startApp() {
        _ = takePrograms()
        var words = ["\(Programs.folder)/strata", "up", settings.manifest]
        if let socket = settings.socket { words += ["--socket", socket] }
        words += settings.node.arguments + settings.arguments
        if !settings.options.isEmpty { words += ["--"] + settings.options }
        var command = LocalProcess.command(words, environment: settings.environment.map { "\($0.key)=\($0.value)" })
        command.ownSession = false
        command.descriptors = [0, 1, 2]
        do throws(SystemError) {
            app = try ChildProcess(loop, command) { [unowned self] in appEnded($0) }
            connect()
        } catch {
            say("the app's launcher can't be started: \(error)")
            end(1)
        }
    }

    /// Connects to the bus of the app that was just started, which may have another name than one before.
    private func connect() {
        guard let socket else { return }
        self.link?.close()
        let link = BusLink(BusClient(loop, path: socket))
        link.onUp = { [unowned self] _ in askBus() }
        link.onRefused = { [unowned self] in say("the bus refuses this command: \($0.message)") }
        link.connect()
        self.link = link
    }

    /// Asks the bus what waits, if it is there.
    private func askBus() {
        guard let link, link.isUp, !isEnding else { return }
        let orders = waiting
        waiting = []
        for order in orders {
            switch order {
            case .reload:
                link.client.ask("bus/reload", deadline: Self.patience) { [unowned self] answer in
                    // The launcher says it if it is.
                    if case .failure(let error) = answer { say("the manifest isn't in force: \(error)") }
                }
            case .restart(let rows): restart(rows)
            case .read, .build, .start: break
            }
        }
    }

    /// Restarts those of the rows that run, or would if they could.
    private func restart(_ rows: Set<String>) {
        link?.client.ask("bus/modules") { [unowned self] answer in
            guard case .success(let json) = answer else { return }
            // Replicas are restarted together, one after another.
            var asked: Set<String> = []
            for module in [ModuleRow](json) where module.state != "absent" {
                let row = ReplicaName.row(of: module.name)
                if rows.contains(row), asked.insert(row).inserted { restart(row) }
            }
        }
    }

    private func restart(_ row: String) {
        say("restarting \(row)")
        link?.client.ask("launcher/restart", ["module": .string(row)], deadline: Self.patience) {
            [unowned self] answer in
            if case .failure(let error) = answer, !isEnding { say("\(row) isn't restarted: \(error)") }
        }
    }

    // MARK: The end

    private func appEnded(_ exit: ChildProcess.Exit) {
        app = nil
        switch exit {
        // It has said what is wrong with the manifest.
        case .code(2) where !isEnding:
            machine.appEnded()
            waiting = []
            say("the app starts when this is mended")
        case .code(let code): end(code)
        case .signal(let signal): end(128 + signal)
        }
    }

    private func ordered(_ signal: Int32) {
        // The terminal has sent its ctrl-C to the app and the compiler, too.
        let isTold = signal == SIGINT && !isEnding && ControllingTerminal.isInForeground
        if !isTold {
            app?.kill(signal == SIGINT ? SIGINT : SIGTERM)
            compiler?.kill(SIGTERM)
        }
        end(0)
    }

    /// Ends; the app's code counts, if there is an app.
    private func end(_ code: Int32) {
        if !isEnding || app == nil { self.code = max(self.code, code) }
        isEnding = true
        finishIfDone()
    }

    private func finishIfDone() {
        guard app == nil, compiler == nil else { return }
        for watcher in watchers.values { watcher.close() }
        for signal in signals { signal.close() }
        (watchers, signals) = ([:], [])
        timer?.close()
        link?.close()
        (timer, link) = (nil, nil)
    }
}
