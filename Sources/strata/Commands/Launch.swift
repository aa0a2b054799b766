import ArgumentParser
import StrataLauncher

/// `strata launch`: an app's modules, on a broker that runs already.
struct Launch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs an app's modules against a running broker.",
        discussion: """
            As `strata up`, without the broker: that is `strata broker`, perhaps as a \
            service of its own.

            EXAMPLE
              strata broker app.yaml &
              strata launch app.yaml
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String

    @Option(help: ArgumentHelp("The broker's socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp("Appends the modules' spans to this file, as lines of OTLP's JSON.", valueName: "file"),
        completion: .file())
    var spans: String?

    func run() throws {
        try RunningApp.run(manifest, options: [], socket: socket, keepsBroker: false, spans: spans)
    }
}
