import ArgumentParser
import StrataLauncher

/// `strata broker`: reads the manifest, then becomes `strata-broker`.
struct BrokerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker",
        abstract: "Runs an app's broker alone.",
        discussion: """
            Reads the manifest, then executes strata-broker, a small program that gets the \
            table. Modules are started by hand, or by `strata launch`.

            EXAMPLE
              strata broker app.yaml --socket /tmp/app.sock
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String

    @OptionGroup var node: NodeOption

    @Option(help: ArgumentHelp("Where to make the bus's socket.", valueName: "path"), completion: .file())
    var socket: String?

    func run() throws {
        try RunningApp.reporting { () throws(LaunchError) in
            try AppRun.becomeBroker(manifest, node: node.choice, socket: socket, environment: RunningApp.environment)
        }
    }
}
