import ArgumentParser
import Glibc
import StrataLauncher

/// `strata up`: the whole app, in the foreground.
struct Up: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs an app: the broker, then each module by level and priority.",
        discussion: """
            Shows each module as it gets ready, and what the modules write, each line with \
            its module's name. Ctrl-C ends everything in reverse order, in under 10 s; \
            pressed twice, at once.

            EXAMPLE
              strata up                          runs ./strata.yaml
              strata up app.yaml -- debug=true   adds to the app's launchOptions
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(help: ArgumentHelp("Where the bus's socket is made.", valueName: "path"))
    var socket: String?

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("Launch options, each as key=value.", valueName: "key=value"))
    var options: [String] = []

    func run() throws {
        try RunningApp.run(manifest, options: options, socket: socket, keepsBroker: true)
    }
}
