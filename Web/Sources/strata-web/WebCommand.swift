public import ArgumentParser
import Foundation
public import StrataWeb

/// `strata-web`: the live view of an app in a browser. `strata web` finds the bus, and runs it.
@main
struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata-web", abstract: "Shows a running app in a browser.",
        subcommands: [PageCommand.self, MetricsCommand.self], defaultSubcommand: PageCommand.self)

    /// Runs the command, and ends with the exit codes of `strata`: 2 for bad usage.
    static func main() async {
        do {
            var command = try parseAsRoot()
            guard var served = command as? any AsyncParsableCommand else { return try command.run() }
            try await served.run()
        } catch {
            let code = exitCode(for: error)
            if code == .success { exit(withError: error) }
            let text = fullMessage(for: error)
            FileHandle.standardError.write(
                Data((code == .validationFailure ? text : "strata-web: \(error)").utf8 + [0x0A]))
            Foundation.exit(2)
        }
    }
}

/// Serves the page.
struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Serves the live view of an app, and prints its address.",
        discussion: """
            The address has a token that only you see: whoever has it sees what an operator sees. The server \
            listens on this machine alone, at a port that the kernel chooses.

            EXAMPLE
              strata web                                   for the only app that runs here
              strata web --app catalog --control           may also call, start, stop and restart
              strata web --listen /run/user/1000/web.sock  for ssh -L 8080:/run/user/1000/web.sock
              strata web --spans spans.jsonl --otlp http://127.0.0.1:4318/v1/traces
            """)

    @Option(help: ArgumentHelp("The bus's socket.", valueName: "path"))
    var socket: String

    @Option(help: ArgumentHelp("The app's manifest, for the picture and for \"why not?\".", valueName: "file"))
    var manifest: String?

    @Option(
        help: ArgumentHelp(
            "Where to listen: a port, an address and a port, or a socket's path with a slash.",
            valueName: "[host:]port|path"))
    var listen = ListenAddress.anyPort

    @Flag(help: "Allows an address that other machines can reach. Put TLS in front of it.")
    var listenAnywhere = false

    @Option(help: ArgumentHelp("A further name that browsers may ask for, as behind a proxy.", valueName: "name"))
    var host: [String] = []

    @Flag(help: "Lets the page call actions, and start, stop and restart modules.")
    var control = false

    @Flag(help: "Shows the bodies of messages.")
    var bodies = false

    @Option(help: ArgumentHelp("The file of spans that strata up --spans names.", valueName: "file"))
    var spans: String?

    @Option(help: ArgumentHelp("Pushes the spans to this OpenTelemetry collector.", valueName: "URL"))
    var otlp: String?

    /// The collector's address; nil if there is none, or if it isn't one.
    private var collector: URL? {
        guard let url = otlp.flatMap({ URL(string: $0) }), ["http", "https"].contains(url.scheme), url.host != nil
        else { return nil }
        return url
    }

    func validate() throws {
        guard listen.isOfThisMachine || listenAnywhere else {
            throw ValidationError(
                "--listen names an address that other machines can reach: use 127.0.0.1 and ssh -L, or add "
                    + "--listen-anywhere and put TLS in front")
        }
        guard (spans == nil) == (otlp == nil) else { throw ValidationError("--otlp and --spans go together.") }
        if otlp != nil, collector == nil {
            throw ValidationError("--otlp takes a URL such as http://127.0.0.1:4318/v1/traces.")
        }
    }

    func run() async throws {
        Lifeline.watch()
        var settings = PageServer.Settings(socket: socket)
        (settings.address, settings.hosts, settings.manifest) = (listen, host, manifest)
        (settings.control, settings.bodies) = (control, bodies)
        let pusher = collector.flatMap { url in spans.map { SpanPusher(url: url, file: $0) } }
        try await PageServer(settings).run(pushing: pusher, onStart: say)
    }
}

/// Serves metrics alone.
struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Serves /metrics and /healthz of a bus.")

    @Option(help: ArgumentHelp("The bus's socket.", valueName: "path"))
    var socket: String

    @Option(help: ArgumentHelp("The node that is asked.", valueName: "name"))
    var node: String?

    @Option(help: ArgumentHelp("Where to listen.", valueName: "[host:]port|path"))
    var listen: ListenAddress

    func run() async throws {
        try await MetricsServer(socket: socket, node: node, address: listen).run(onStart: say)
    }
}

extension ListenAddress: ExpressibleByArgument {}

/// Prints a line at once, also into a pipe.
@Sendable private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// The pipe whose end says that the launcher has ended, whatever ended it.
private enum Lifeline {
    static func watch() {
        guard let word = ProcessInfo.processInfo.environment["STRATA_LIFELINE"], let descriptor = Int32(word) else {
            return
        }
        let thread = Thread {
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) > 0 || errno == EINTR {}
            exit(0)
        }
        thread.start()
    }
}
