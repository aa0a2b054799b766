import ArgumentParser
import Glibc
import StrataCore
import StrataLauncher

/// The part that `up`, `launch` and `broker` share: errors on stderr, and exit codes.
enum RunningApp {
    static var environment: [String: String] {
        var all: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                all[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        return all
    }

    static func run(
        _ manifest: String, node: NodeChoice, options: [String], socket: String?, keepsBroker: Bool, spans: String?,
        showsPage: Bool = false
    ) throws {
        try run { () throws(LaunchError) in
            try AppRun.run(
                manifest, node: node, options: options, socket: socket, keepsBroker: keepsBroker, spans: spans,
                showsPage: showsPage, environment: environment)
        }
    }

    /// Runs an app, and throws the exit code of its end.
    static func run(_ app: () throws(LaunchError) -> Launcher.Ending) throws {
        try reporting { () throws(LaunchError) in
            let ending = try app()
            if ending.code != 0 { throw LaunchError(ending.code, ending.message) }
        }
    }

    /// Writes an error to stderr, and throws its exit code.
    static func reporting(_ body: () throws(LaunchError) -> Void) throws {
        do throws(LaunchError) { try body() } catch {
            // A module may have chosen the words.
            let text = Array("strata: \(Printable.text(error.message))\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            throw ExitCode(error.code)
        }
    }
}

/// `strata launch`: runs an app's modules on a broker that already runs.
struct Launch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs an app's modules against a running broker.",
        discussion: """
            Like `strata up`, but without the broker, which `strata broker` runs, perhaps as \
            its own service.

            EXAMPLE
              strata broker app.yaml &
              strata launch app.yaml
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String

    @OptionGroup var node: NodeOption

    @Option(help: ArgumentHelp("The broker's socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp("Appends the modules' spans to this file, as lines of OTLP JSON.", valueName: "file"),
        completion: .file())
    var spans: String?

    func run() throws {
        try RunningApp.run(manifest, node: node.choice, options: [], socket: socket, keepsBroker: false, spans: spans)
    }
}
