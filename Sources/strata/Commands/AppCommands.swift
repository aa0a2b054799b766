import ArgumentParser
import StrataCore
import StrataLauncher
import StrataLoop
import StrataManifest
import StrataOperator

/// `strata up`: runs the whole app in the foreground.
struct Up: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs an app: the broker, then each module by level and priority.",
        discussion: """
            Prints a line when a module is ready, and each line that a module writes, with the \
            module's name. Ctrl-C ends everything in reverse order, in under 10 s; a second \
            ctrl-C ends it at once.

            --build first builds the manifest's package, the nearest one in its folder or a \
            folder above it. If that fails, nothing is started.

            --all-nodes is for development. Each node gets a launcher of its own, and each line \
            begins with the node's name. If the manifest's federation names no servers, a \
            nats-server of this machine is started with a key for each node.

            EXAMPLE
              strata up                          runs ./strata.yaml
              strata up --build                  builds it first
              strata up --node berlin            runs one node of an app with several
              strata up --all-nodes              runs all of them on this machine
              strata up app.yaml -- debug=true   adds to the app's launchOptions
              strata up --spans spans.jsonl      writes spans for OpenTelemetry
              strata up --web                    shows the app in a browser, too
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @OptionGroup var node: NodeOption

    @Flag(help: "Runs all nodes of the app on this machine.")
    var allNodes = false

    @Option(help: ArgumentHelp("The NATS server that --all-nodes has started.", visibility: .hidden))
    var localServer: String?

    @Option(help: ArgumentHelp("The key that --all-nodes has made for this node.", visibility: .hidden))
    var localKey: String?

    @Flag(help: "Builds the manifest's package first, by swift build.")
    var build = false

    @OptionGroup var app: AppOptions

    func validate() throws {
        guard build || app.configuration == nil else {
            throw ValidationError("-c sets what --build builds: add --build")
        }
        guard allNodes else { return }
        if app.web {
            throw ValidationError("--all-nodes has a bus for each node: use strata web --app APP@NODE beside it")
        }
        if let name = node.node { throw ValidationError("--all-nodes runs all nodes: leave --node \(name) out") }
        if app.socket != nil { throw ValidationError("--all-nodes makes a socket for each node: leave --socket out") }
    }

    private var choice: NodeChoice {
        NodeChoice(given: node.node, over: localServer.map { .init(server: $0, key: localKey) })
    }

    func run() throws {
        if build { try buildPackage() }
        if allNodes {
            try RunningApp.run { () throws(LaunchError) in
                try AllNodesRun.run(
                    manifest, options: app.options, spans: app.spans, environment: RunningApp.environment)
            }
        } else {
            try RunningApp.run(
                manifest, node: choice, options: app.options, socket: app.socket, keepsBroker: true, spans: app.spans,
                showsPage: app.web)
        }
    }

    private func buildPackage() throws(Failure) {
        let read: Manifest
        let environment = RunningApp.environment
        do throws(LaunchError) {
            read =
                allNodes
                ? try AllNodesRun.manifest(manifest, options: app.options, environment: environment).manifest
                : try AppRun.manifest(manifest, node: choice, options: app.options, environment: environment)
        } catch {
            throw Failure(Failure.Status(rawValue: error.code) ?? .answer, error.message)
        }
        guard let package = PackageBuild(of: read, app.configuration) else {
            throw Failure(.usage, "--build: no Package.swift is in \(read.folder) or in a folder above it")
        }
        try package.run()
    }
}

extension PackageBuild.Configuration: ExpressibleByArgument {}

/// `strata down`: ends the app, and waits until its socket is gone.
struct Down: ParsableCommand {
    private static let patience: UInt64 = 60_000

    static let configuration = CommandConfiguration(
        abstract: "Ends the app; its modules end in reverse order.",
        discussion: """
            EXAMPLE
              strata down
              strata down --node tokyo         ends one node of an app with several

            It waits until the bus has ended, or the node isn't connected any more.
            """)

    @Option(
        help: ArgumentHelp(
            "How long to wait: an integer with ms, s, m or h. Default: 1m.", valueName: "time"))
    var timeout: Milliseconds?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let patience = timeout?.value ?? Self.patience
        let connection = try bus.connect()
        let deadline = Loop.nanoseconds + patience * 1_000_000
        let app = connection.welcome.app
        let what = bus.node.map { "\(app)@\($0)" } ?? app
        let body = try connection.send(Request(to: "launcher/down", deadline: max(1, patience)), "ending \(what)")
        if let node = bus.node {
            try connection.waitUntilLost(node, what, by: deadline)
        } else {
            try connection.waitUntilGone(by: deadline)
        }
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.show(body) }
        StandardOutput.write(line: "\(answer.painter.paint(Printable.line(what), .bold)) ended")
    }
}

extension CommandClient {
    /// Waits until a node isn't connected any more. If it is the bus's own, it waits for the bus's end.
    /// - Parameter deadline: a time by the clock of `Loop.nanoseconds`.
    fileprivate func waitUntilLost(_ node: String, _ what: String, by deadline: UInt64) throws(Failure) {
        let isOwn = try nodes().contains { $0.name == node && $0.isOwn }
        if isOwn { return try waitUntilGone(by: deadline) }
        while try nodes().contains(where: { $0.name == node && ($0.isUp || $0.state == "stalled") }) {
            guard Loop.nanoseconds < deadline else {
                throw Failure(.answer, "deadline-exceeded: \(what) was asked to end, but is still connected")
            }
            client.run(50) { false }
        }
    }

    /// Waits until nothing listens on the socket any more.
    /// - Parameter deadline: a time by the clock of `Loop.nanoseconds`.
    /// - Throws: `answer` if the bus is still there at the deadline.
    fileprivate func waitUntilGone(by deadline: UInt64) throws(Failure) {
        let app = welcome.app
        let progress = showProgress("waiting for \(app) to end")
        defer { progress.end() }
        func left() -> UInt64 {
            // Read the clock once, because it may pass the deadline between two readings.
            let now = Loop.nanoseconds
            return now < deadline ? (deadline - now) / 1_000_000 : 0
        }
        // The connection ends first, and that is noticed at once. The socket may last a moment
        // longer.
        if client.run(left(), until: { client.ending != nil }) {
            while SocketAddress.occupant(path) == .live, left() > 0 { client.run(20) { false } }
            if SocketAddress.occupant(path) != .live { return }
        }
        throw Failure(.answer, "deadline-exceeded: \(app) was asked to end, but its bus at \(path) is still running")
    }
}

/// `strata reload`: makes the launcher read the manifest again.
struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads the manifest again.",
        discussion: """
            EXAMPLE
              strata check && strata reload

            A manifest with errors changes nothing. `strata ps` shows a module as pending if \
            a change takes effect at its next start.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let body = try bus.connect().send(Request(to: "bus/reload", deadline: 60_000), "reloading")
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.show(body) }
        StandardOutput.write(line: "the manifest was read again")
    }
}
