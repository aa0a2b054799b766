import Glibc
import StrataCore
import StrataLoop
public import StrataManifest

/// The work behind `strata up --all-nodes`: each node of an app on this machine, with a launcher of
/// its own, and a NATS server if the manifest names none. It is for development.
public final class AllNodesRun {
    private let loop: Loop
    private let console: Console
    private let manifest: Manifest
    private let needsServer: Bool
    /// The arguments of each node's `strata up` after those of its own.
    private let arguments: [String]
    private let environment: [String: String]
    private var server: LocalServer?
    private var folder: LocalFolder?
    private var nodes: [String: ProgramProcess] = [:]
    private var watchers: [SignalWatcher] = []
    private var isEnding = false
    private var ending = Launcher.Ending(code: 0, message: "")

    /// Runs all nodes of an app until they have ended; takes over the process.
    /// - Parameters:
    ///   - path: The path of the manifest.
    ///   - options: The launch options, each as `KEY=VALUE`.
    ///   - spans: The file that modules write their spans to.
    ///   - environment: This process's environment.
    /// - Returns: How it ended: with the first code of a node that isn't 0.
    public static func run(
        _ path: String, options: [String], spans: String?, environment: [String: String]
    ) throws(LaunchError) -> Launcher.Ending {
        let (manifest, needsServer) = try manifest(path, options: options, environment: environment)
        signal(SIGPIPE, SIG_IGN)
        let sink = DescriptorSink(descriptor: STDOUT_FILENO)
        defer { sink.finish(within: 1_000) }
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let isColoured = isTerminal && environment["NO_COLOR"] ?? "" == "" && environment["TERM"] != "dumb"
        var arguments = [path]
        if let spans { arguments += ["--spans", try SpansOption.prepare(spans)] }
        do {
            let loop = try Loop()
            let run = AllNodesRun(
                loop, Console(sink, isColoured: isColoured), manifest, needsServer: needsServer, arguments: arguments,
                options: options, environment: environment)
            try run.start()
            withExtendedLifetime(run) { loop.run() }
            return run.ending
        } catch let error as LaunchError {
            throw error
        } catch {
            throw LaunchError(1, "\(error)")
        }
    }

    /// Reads the manifest as its first node does, so that its errors are reported once.
    /// - Returns: The manifest, and whether it names no servers.
    public static func manifest(
        _ path: String, options: [String], environment: [String: String]
    ) throws(LaunchError) -> (manifest: Manifest, needsServer: Bool) {
        let any: Manifest
        do throws(ManifestErrors) { any = try Manifest.load(path: path, environment: environment) } catch {
            throw LaunchError(2, error.description)
        }
        guard let first = any.table.nodes.first?.name else {
            throw LaunchError(2, "\(path): the app \(any.table.app) has no nodes: run it with `strata up`")
        }
        let choice = NodeChoice(given: first, over: .init(server: "nats://localhost", key: nil))
        let manifest = try AppRun.manifest(path, node: choice, options: options, environment: environment)
        return (manifest, any.federation?.servers.isEmpty != false)
    }

    private init(
        _ loop: Loop, _ console: Console, _ manifest: Manifest, needsServer: Bool, arguments: [String],
        options: [String], environment: [String: String]
    ) {
        (self.loop, self.console, self.manifest, self.environment) = (loop, console, manifest, environment)
        self.needsServer = needsServer
        self.arguments = arguments + (options.isEmpty ? [] : ["--"] + options)
        console.align(to: names + ["strata"])
    }

    private var names: [String] { manifest.table.nodes.map(\.name) }

    private func start() throws {
        for (signal, name) in [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM")] {
            watchers.append(try SignalWatcher(loop, signal: signal) { [unowned self] in self.ordered(name) })
        }
        console.say("\(manifest.table.app): the nodes \(list(names)), all on this machine; ctrl-C ends them")
        guard needsServer else { return startNodes(server: nil) }
        let folder = try LocalFolder(manifest.table)
        self.folder = folder
        do {
            let server = try LocalServer(loop, folder, path: environment["PATH"])
            self.server = server
            server.say = { [unowned self] in self.console.say($0) }
            server.onFailed = { [unowned self] error in
                self.end(Launcher.Ending(code: error.code, message: error.message))
            }
            server.onReady = { [unowned self] url in
                self.console.say("nats-server is at \(url); the nodes' keys are in \(folder.path)")
                self.startNodes(server: url)
            }
            try server.start(app: manifest.table.app, nodes: names, user: manifest.federation?.user)
        } catch {
            folder.remove()
            throw error
        }
    }

    private func startNodes(server url: String?) {
        guard !isEnding else { return }
        for name in names {
            var words = ["\(Programs.folder)/strata", "up", "--node", name]
            if let url, let server { words += ["--local-server", url, "--local-key", server.key(of: name)] }
            let command = LocalProcess.command(words + arguments, environment: [])
            do throws(SystemError) {
                nodes[name] = try ProgramProcess(
                    loop, command.arguments, environment: environment, lifeline: nil, descriptors: [],
                    folder: command.folder, onLine: { [unowned self] in self.console.line(of: name, $0) },
                    onExit: { [unowned self] in self.ended(name, $0) })
            } catch {
                return end(Launcher.Ending(code: 1, message: "the launcher of \(name) can't be started: \(error)"))
            }
        }
    }

    // MARK: The end

    /// Handles a signal. A second one kills everything at once, as that of a launcher does.
    private func ordered(_ signal: String) {
        let again = isEnding ? " again: everything is killed" : ": all nodes end"
        console.say("\(signal)\(again)")
        if isEnding { for node in nodes.values { node.kill(SIGTERM) } }
        end(Launcher.Ending(code: 0, message: signal))
    }

    private func ended(_ name: String, _ exit: ChildProcess.Exit) {
        nodes[name] = nil
        switch exit {
        case .code(0): console.say("the node \(name) has ended")
        case .code(let code): end(Launcher.Ending(code: code, message: "the node \(name) ended with \(exit)"))
        // As if its machine had failed: the others go on.
        case .signal: console.say("the node \(name) ended with \(exit)")
        }
        if nodes.isEmpty { end(Launcher.Ending(code: 0, message: "all nodes have ended")) }
        finishIfDone()
    }

    /// Ends all nodes, and then the server. Only the first reason counts.
    private func end(_ ending: Launcher.Ending) {
        if !isEnding {
            (isEnding, self.ending) = (true, ending)
            for node in nodes.values { node.kill(SIGTERM) }
        }
        finishIfDone()
    }

    private func finishIfDone() {
        guard isEnding, nodes.isEmpty else { return }
        guard let server else { return finish() }
        self.server = nil
        server.stop { [self] in
            withExtendedLifetime(server) { finish() }
        }
    }

    private func finish() {
        folder?.remove()
        folder = nil
        for watcher in watchers { watcher.close() }
        watchers = []
        loop.stop()
    }
}
