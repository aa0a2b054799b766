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
              strata dev --node berlin         runs one node of an app with several

            All folders of the manifest and of the package are watched, but hidden ones, \
            __pycache__ and node_modules. Exit codes are those of strata up.
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @OptionGroup var app: AppOptions
    @OptionGroup var node: NodeOption

    func run() throws {
        let configuration = app.configuration
        var settings = DevRun.Settings(manifest: manifest, environment: RunningApp.environment) { manifest in
            guard let build = PackageBuild(of: manifest, configuration) else { return nil }
            let compiler = (try? ProgramSearch.path(of: build.words[0])) ?? build.words[0]
            return (build.folder, [compiler] + build.words.dropFirst())
        }
        settings.socket = app.socket
        settings.options = app.options
        settings.node = node.choice
        if let spans = app.spans { settings.arguments += ["--spans", spans] }
        if app.web { settings.arguments.append("--web") }
        var code: Int32 = 0
        try RunningApp.reporting { () throws(LaunchError) in code = try DevRun.run(settings) }
        Glibc.exit(code)
    }
}
