import ArgumentParser
import StrataLauncher
import StrataManifest

/// `strata up`: the whole app, in the foreground.
struct Up: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs an app: the broker, then each module by level and priority.",
        discussion: """
            Shows each module as it gets ready, and what the modules write, each line with \
            its module's name. Ctrl-C ends everything in reverse order, in under 10 s; \
            pressed twice, at once.

            With --build the manifest's package is built first, the nearest one in its folder \
            or around it; where that fails, nothing is started.

            EXAMPLE
              strata up                          runs ./strata.yaml
              strata up --build                  builds it before
              strata up app.yaml -- debug=true   adds to the app's launchOptions
              strata up --spans spans.jsonl      what modules do, for a collector of OpenTelemetry's
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(help: ArgumentHelp("Where the bus's socket is made.", valueName: "path"), completion: .file())
    var socket: String?

    @Flag(help: "Builds the manifest's package first, by swift build.")
    var build = false

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "What --build builds. Default: release where a row's run is in .build/release, else debug.",
            valueName: "configuration"))
    var configuration: PackageBuild.Configuration?

    @Option(
        help: ArgumentHelp("Appends the modules' spans to this file, as lines of OTLP's JSON.", valueName: "file"),
        completion: .file())
    var spans: String?

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("Launch options, each as key=value.", valueName: "key=value"))
    var options: [String] = []

    func validate() throws {
        guard build || configuration == nil else { throw ValidationError("-c says what --build builds: add --build") }
    }

    func run() throws {
        if build { try buildPackage() }
        try RunningApp.run(manifest, options: options, socket: socket, keepsBroker: true, spans: spans)
    }

    private func buildPackage() throws(Failure) {
        let app: Manifest
        do throws(LaunchError) {
            app = try AppRun.manifest(manifest, options: options, environment: RunningApp.environment)
        } catch {
            throw Failure(Failure.Status(rawValue: error.code) ?? .answer, error.message)
        }
        try PackageBuild(of: app, at: manifest, configuration).run()
    }
}

extension PackageBuild.Configuration: ExpressibleByArgument {}
