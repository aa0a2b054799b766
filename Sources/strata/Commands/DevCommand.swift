import ArgumentParser
import Glibc
import StrataLauncher

/// `strata dev`: runs an app, and follows its files.
struct DevCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Runs an app, and restarts what changes.",
        discussion: """
            It builds the manifest's package and runs the app as strata up does. When a source \
            file changes it builds again, and restarts the modules whose program is another \
            one then. A changed .py file restarts the modules that run it; one that no row \
            runs restarts those whose program is in its folder or above. A changed manifest \
            is read again.

            An error of the compiler or in the manifest is shown and changes nothing. Such \
            restarts don't count as crashes, and the requests to the module wait.

            EXAMPLE
              strata dev                       runs ./strata.yaml
              strata dev app.yaml --web        shows it in a browser, too

            All folders of the manifest and of the package are watched, but hidden ones, \
            __pycache__ and node_modules. Exit codes are those of strata up.
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(help: ArgumentHelp("Where to make the bus's socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "The configuration to build. Default: release if a row's run is in .build/release, else debug.",
            valueName: "configuration"))
    var configuration: PackageBuild.Configuration?

    @Option(
        help: ArgumentHelp("Appends the modules' spans to this file, as lines of OTLP JSON.", valueName: "file"),
        completion: .file())
    var spans: String?

    @Flag(help: "Also shows the app in a browser, as strata web does; prints the page's address.")
    var web = false

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("Launch options, each as key=value.", valueName: "key=value"))
    var options: [String] = []

    func run() throws {
        let configuration = configuration
        var settings = DevRun.Settings(manifest: manifest, environment: RunningApp.environment) { manifest in
            guard let build = PackageBuild(of: manifest, configuration) else { return nil }
            let compiler = (try? ProgramSearch.path(of: build.words[0])) ?? build.words[0]
            return (build.folder, [compiler] + build.words.dropFirst())
        }
        settings.socket = socket
        settings.options = options
        if let spans { settings.arguments += ["--spans", spans] }
        if web { settings.arguments.append("--web") }
        var code: Int32 = 0
        try RunningApp.reporting { () throws(LaunchError) in code = try DevRun.run(settings) }
        Glibc.exit(code)
    }
}
