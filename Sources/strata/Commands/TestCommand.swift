import ArgumentParser
import Glibc
import StrataCore
import StrataLauncher

/// `strata test`: runs an app on a bus of its own, and a command beside it.
struct TestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Runs an app on a bus of its own, and a command that tests it.",
        discussion: """
            The command may be in any language. It starts as soon as the bus takes connections, \
            with STRATA_SOCKET and STRATA_MANIFEST in its environment. When it ends, the app \
            ends, and the exit code is the command's.

            EXAMPLE
              strata test strata.yaml -- python3 -m unittest
              strata test --play Fetcher -- pytest -q      the tests play the module Fetcher
              strata test --quiet --set log.level=debug -- ./smoke.sh

            Each --play names a row that runs no process: the command connects as its module. \
            The app's lines go to standard error. Exit codes of its own: 2 bad usage, 3 the app \
            can't start or ends before the command.
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(help: ArgumentHelp("A row that runs no process, because the command plays it.", valueName: "row"))
    var play: [String] = []

    @Option(help: ArgumentHelp("A setting of the modules, as STRATA_SET_KEY sets it.", valueName: "key=value"))
    var set: [String] = []

    @Flag(help: "Shows the app's lines only if the command fails, and then the last 200.")
    var quiet = false

    @OptionGroup var node: NodeOption

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command, and its arguments.", valueName: "command"))
    var words: [String] = []

    func validate() throws {
        guard !words.isEmpty else { throw ValidationError("Say after -- which command to run, as in -- pytest -q") }
        for word in set where word.first == "=" || !word.contains("=") {
            throw ValidationError("--set takes KEY=VALUE; found \(Printable.line(word))")
        }
    }

    func run() throws {
        var words = words
        words[0] = try ProgramSearch.path(of: words[0])
        var environment = RunningApp.environment
        for word in set {
            let key = word.prefix { $0 != "=" }
            environment["STRATA_SET_\(key.replacing(".", with: "__"))"] = String(word.dropFirst(key.count + 1))
        }
        var code: Int32 = 0
        try RunningApp.reporting { () throws(LaunchError) in
            code = try TestRun.run(
                TestedApp(manifest, node: node.choice, playing: play), words: words, isQuiet: quiet,
                environment: environment)
        }
        // It may be any code.
        Glibc.exit(code)
    }
}

/// What `strata test` starts for the app: its launcher.
struct TestApp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: TestedApp.word, abstract: "Runs the app of strata test.",
        discussion: """
            `strata test` uses it. A byte on descriptor 3 says that the bus takes connections.

            EXAMPLE
              strata test-app strata.yaml /tmp/strata-test-XXXXXX/app.sock 3>&1
            """, shouldDisplay: false)

    @Argument(help: "The app's manifest.")
    var manifest: String

    @Argument(help: "Where to make the bus's socket.")
    var socket: String

    @Option(help: "A row that runs no process.")
    var play: [String] = []

    @OptionGroup var node: NodeOption

    func run() throws {
        try RunningApp.run { () throws(LaunchError) in
            try TestedApp(manifest, node: node.choice, playing: play).run(
                socket: socket, environment: RunningApp.environment)
        }
    }
}

/// What `strata test` starts for the command: it runs the command, and ends with it.
struct TestGuard: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: CommandGuard.word, abstract: "Runs the command of strata test, and cleans up after it.",
        discussion: """
            `strata test` uses it.

            EXAMPLE
              strata test-guard /tmp/strata-test-XXXXXX /bin/true 3</dev/null
            """, shouldDisplay: false)

    @Argument(help: "The folder of the bus's socket.")
    var folder: String

    @Argument(parsing: .captureForPassthrough, help: "The program's path, and its arguments.")
    var words: [String]

    func run() throws {
        var code: Int32 = 0
        try RunningApp.reporting { () throws(LaunchError) in
            code = try CommandGuard.run(words, folder: folder, environment: RunningApp.environment)
        }
        Glibc.exit(code)
    }
}
