import ArgumentParser
import StrataCore
import StrataLauncher
import StrataManifest

/// `strata check`: finds what can be known about an app before anything runs.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a manifest and the executables that it names.",
        discussion: """
            EXAMPLE
              strata check
              strata check app/strata.yaml --static
              strata check --node berlin       starts only the programs of this node
              strata check --fix               adds to the rows what their programs say
              strata check --json | jq -r 'select(.class == "error") | .message'

            Shows every finding with its file, line and key: errors in the manifest, unmet \
            requirements, calls and reports to a later level, notifications and events without \
            a sender or an observer, missing actions, settings that no module declares or that have \
            another type, and executables that can't be run. It \
            starts each executable with --describe, for at most 5 s, and compares what it \
            describes with its row.

            An error is something that the bus would refuse, or that can never work; the exit \
            code is then 2. Advice doesn't change the exit code, and neither do notes, which list what \
            leaves its node in an app with nodes. `strata why` explains one message.

            --fix adds to the rows what `check` reports that their programs say and the rows \
            don't: interfaces, URLs, and under calls: declared requirements, broadcasts and \
            reports. It removes nothing, keeps comments and layout, shows the difference, and \
            asks first. Without a terminal it writes only with --yes.
            """)

    @Argument(help: "The manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Flag(help: "Reads the manifest alone, and starts no executable.")
    var `static` = false

    @Flag(help: "Adds to the rows what their programs say; shows the difference and asks first.")
    var fix = false

    @Flag(help: "With --fix: writes without asking.")
    var yes = false

    @OptionGroup var node: NodeOption
    @OptionGroup var output: OutputOption

    func validate() throws {
        if yes && !fix { throw ValidationError("--yes agrees to what --fix writes: add --fix") }
        if fix && `static` { throw ValidationError("--fix asks the programs: leave --static out") }
        if fix && output.json { throw ValidationError("--fix shows a difference, which isn't JSON: leave --json out") }
    }

    func run() throws {
        let answer = Answer(output)
        var app: DescribedApp
        do throws(ManifestErrors) { app = try DescribedApp(manifest) } catch {
            let list = FindingList(findings: error.errors.map { Finding(.error, $0) }, manifest: manifest)
            try list.show(answer)
            if !answer.isForPrograms {
                StandardOutput.write(line: "\(Printable.line(manifest)): \(list.summary(answer.painter))")
            }
            exitNow(.usage)
        }
        if !`static` { try app.describe(try programs(of: app.manifest)) }
        if fix { return try CheckFix(app: app, isAgreed: yes).run() }
        let review = AppReview(app.manifest, app.descriptions)
        // Whoever runs the app may be able to read what this command can't.
        let unreadable = app.manifest.secrets.compactMap { $0.problem(RunningApp.environment) }.map {
            Finding(.advice, $0)
        }
        let list = FindingList(findings: (app.failures + review.findings + unreadable).inOrder, manifest: manifest)
        try list.show(answer)
        try summarize(app, list, answer)
        if list.errors > 0 { exitNow(.usage) }
    }

    /// Returns the rows whose programs are on this machine; nil for all, as without a node.
    private func programs(of manifest: Manifest) throws(Failure) -> Set<String>? {
        guard node.node != nil || Environment["STRATA_NODE"] != nil else { return nil }
        do throws(LaunchError) {
            let node = try node.choice.node(of: manifest, RunningApp.environment)
            return Set(manifest.table.modules.filter { !$0.isAway(from: node) }.map(\.name))
        } catch {
            throw Failure(.usage, error.message)
        }
    }

    private func summarize(_ app: DescribedApp, _ list: FindingList, _ answer: Answer) throws(Failure) {
        let table = app.manifest.table
        if answer.isForPrograms {
            var members: [JSON.Member] = [
                .init("file", .string(manifest)), .init("app", .string(table.app)),
                .init("modules", .integer(Int64(table.modules.count))), .init("errors", .integer(Int64(list.errors))),
                .init("advice", .integer(Int64(list.advice))),
            ]
            if !table.nodes.isEmpty { members.append(.init("notes", .integer(Int64(list.notes)))) }
            if !app.undescribed.isEmpty {
                members.append(.init("undescribed", .array(app.undescribed.map { .string($0) })))
            }
            return try answer.show(.object(members))
        }
        let modules = table.modules.count == 1 ? "1 module" : "\(table.modules.count) modules"
        StandardOutput.write(
            line: "\(Printable.line(manifest)): \(answer.painter.paint(table.app, .bold)), \(modules): "
                + list.summary(answer.painter))
    }
}
