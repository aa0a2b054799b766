import Glibc
import StrataCore
import StrataLoop
public import StrataManifest

/// The work behind `strata up`, `strata launch` and `strata broker`.
public enum AppRun {
    /// Reads the manifest and adds the options of the command line. Refuses what the bus is certain
    /// to refuse. In an app with nodes, `node` says which one this machine is.
    public static func manifest(
        _ path: String, node: NodeChoice = NodeChoice(), options: [String] = [], environment: [String: String]
    ) throws(LaunchError) -> Manifest {
        do {
            var manifest = try Manifest.load(
                path: path, environment: environment, readsSecrets: true, node: node.name(environment))
            _ = try node.node(of: manifest, environment)
            node.addLocal(to: &manifest)
            try NodeChoice.checkServers(of: manifest)
            manifest.table.launchOptions = try LaunchOptions.adding(options, to: manifest.table.launchOptions)
            let errors = ManifestReview(manifest).errors
            guard errors.isEmpty else {
                throw LaunchError(2, errors.map(\.description).joined(separator: "\n"))
            }
            return manifest
        } catch let errors as ManifestErrors {
            throw LaunchError(2, errors.description)
        } catch let error as LaunchError {
            throw error
        } catch {
            preconditionFailure("a manifest fails with its errors, not with \(error)")
        }
    }

    /// Runs an app until it ends; takes over the process.
    /// - Parameters:
    ///   - path: The path of the manifest.
    ///   - node: The node that this machine is, in an app with nodes.
    ///   - options: The launch options, each as `KEY=VALUE`.
    ///   - given: The value of `--socket`; nil if it is missing.
    ///   - keepsBroker: Whether the launcher keeps a broker; false if one is already running.
    ///   - spans: The file that modules write their spans to.
    ///   - showsPage: Whether `strata-web` shows the app in a browser.
    ///   - environment: This process's environment.
    /// - Returns: How the app ended.
    public static func run(
        _ path: String, node: NodeChoice = NodeChoice(), options: [String] = [], socket given: String?,
        keepsBroker: Bool, spans: String? = nil, showsPage: Bool = false, environment: [String: String]
    ) throws(LaunchError) -> Launcher.Ending {
        let manifest = try manifest(path, node: node, options: options, environment: environment)
        let table = manifest.table
        let spans = try spans.map { (path) throws(LaunchError) in try SpansOption.prepare(path) }
        let manager = ServiceManager(environment: environment)
        let socket = try SocketChoice(table, given: given, keepsBroker ? manager : nil)
        if keepsBroker {
            try socket.prepare(table)
        } else if SocketAddress.occupant(socket.path) != .live {
            throw LaunchError(
                3,
                "no broker listens on \(socket.path); start one with `strata broker \(path)`, or everything with `strata up`"
            )
        }
        var settings = Launcher.Settings(
            manifest: manifest, socket: socket.path, broker: keepsBroker ? .program(try Programs.broker()) : .running,
            environment: environment)
        settings.link = Programs.link
        if showsPage { settings.web = WebSettings(program: try Programs.web(), manifest: path) }
        settings.passedSocket = socket.passed
        settings.manager = manager
        settings.spans = spans
        settings.isForPerson = isatty(STDOUT_FILENO) == 1
        settings.hints = Programs.hints(socket, path: environment["PATH"])
        settings.reload = {
            do throws(LaunchError) {
                return .success(try Self.manifest(path, node: node, options: options, environment: environment))
            } catch {
                return .failure(error)
            }
        }
        let journal = JournalSink.connected(STDOUT_FILENO, app: table.app, environment)
        return try run(
            settings, to: journal ?? DescriptorSink(descriptor: STDOUT_FILENO), isTerminal: settings.isForPerson)
    }

    /// Runs an app until it ends.
    /// - Parameters:
    ///   - sink: Gets the app's lines.
    ///   - isTerminal: Whether the lines go to a terminal, which may have colours.
    static func run(
        _ settings: Launcher.Settings, to sink: any LineSink, isTerminal: Bool
    ) throws(LaunchError) -> Launcher.Ending {
        // The reader of the output may end while the app continues.
        signal(SIGPIPE, SIG_IGN)
        let refused = settings.environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        let isColoured = isTerminal && !refused && settings.environment["TERM"] != "dumb"
        let console = Console(sink, isColoured: isColoured)
        var ending = Launcher.Ending(code: 1, message: "the app ended without giving a reason")
        do {
            let loop = try Loop()
            let launcher = try Launcher(loop, settings, console: console)
            launcher.onEnd = { ending = $0 }
            console.say("\(settings.manifest.table.socketName) on \(settings.socket)")
            for doubt in ManifestReview(settings.manifest).unmet { console.say("\(doubt)") }
            try launcher.start()
            // The launcher's callbacks hold it unowned, and nothing below refers to it.
            withExtendedLifetime(launcher) { loop.run() }
            if ending.code == 0 { console.say("the app has ended; nothing of it is left") }
        } catch {
            sink.finish(within: 1_000)
            throw LaunchError(1, "\(error)")
        }
        sink.finish(within: 1_000)
        return ending
    }

    /// Replaces this process with `strata-broker`; throws if that fails.
    public static func becomeBroker(
        _ path: String, node: NodeChoice = NodeChoice(), socket given: String?, environment: [String: String]
    ) throws(LaunchError) -> Never {
        let manifest = try manifest(path, node: node, environment: environment)
        let table = manifest.inForce().table
        let socket = try SocketChoice(table, given: given, ServiceManager(environment: environment))
        let program = try Programs.broker()
        try socket.prepare(table)
        let memory: Int32
        do throws(SystemError) {
            memory = try MemoryFile.make("strata-table", holding: table.json().encoded(), survivesExec: true)
        } catch {
            throw LaunchError(1, "\(error)")
        }
        // The broker is not a module, and none of its ancestors is its launcher.
        for name in environment.keys where name.hasPrefix("STRATA_") { unsetenv(name) }
        for name in manifest.secretVariables { unsetenv(name) }
        var words = [program, "--table", "\(memory)", "--socket", socket.path]
        if let passed = socket.passed {
            do throws(SystemError) { try Descriptors.hand(passed, on: true) } catch { throw LaunchError(1, "\(error)") }
            words += ["--listen", "\(passed)"]
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        execv(program, arguments)
        throw LaunchError(1, "\(program) can't be executed: \(String(cString: strerror(errno)))")
    }
}
