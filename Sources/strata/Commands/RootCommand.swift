import ArgumentParser
import StrataCore

/// `strata` itself, with the list of its commands.
struct RootCommand: ParsableCommand {
    static let version = StrataVersion.text
    static let _errorPrefix = "strata: "

    static let configuration = CommandConfiguration(
        commandName: "strata",
        abstract: "Runs an app of several module processes on one bus, and controls it.",
        discussion: """
            EXAMPLE
              strata new greetings                      makes a package to start from
              strata up                                 runs ./strata.yaml's app
              strata ps                                 its modules
              strata call Catalog/list '{"limit": 3}'   calls an action

            The bus is the one that --socket, --app or STRATA_SOCKET names, else the only one \
            in the default folders, of several the one of ./strata.yaml's app.

            Exit codes: 0 done; 1 the answer was an error; 2 bad usage, a bad manifest or an \
            unusable path; 3 no bus, or one that runs already.
            """,
        version: "strata \(version)",
        subcommands: [LocalProcessCommand.self, TestApp.self, TestGuard.self],
        groupedSubcommands: [
            CommandGroup(
                name: "App",
                subcommands: [
                    New.self, Up.self, DevCommand.self, TestCommand.self, PackageCommand.self, BrokerCommand.self,
                    Launch.self,
                    CheckCommand.self, SchemaCommand.self,
                    SettingsCommand.self,
                    Why.self,
                    Graph.self, Reload.self, Down.self,
                ]),
            CommandGroup(
                name: "Module", subcommands: [Start.self, Stop.self, Restart.self, Scale.self, RunModule.self]),
            CommandGroup(
                name: "Status",
                subcommands: [
                    ProcessStatus.self, Top.self, Nodes.self, NodeCommand.self, Levels.self, Routes.self,
                    RetainedCommand.self, Logs.self,
                    MonitorCommand.self,
                    RecordCommand.self, ReplayCommand.self,
                    Timeline.self, TraceCommand.self,
                    Metrics.self, Web.self,
                ]),
            CommandGroup(
                name: "Message",
                subcommands: [
                    CallCommand.self, Open.self, CanOpen.self, GetProperty.self, SetProperty.self, Emit.self,
                    Notify.self, ReportCommand.self, Observe.self, Wait.self,
                ]),
            CommandGroup(
                name: "Contract", subcommands: [Introspect.self, Contracts.self, ConformanceCommand.self]),
            CommandGroup(name: "Shell", subcommands: [Completions.self, Manual.self]),
        ])

    /// Runs the command that the arguments name, and ends the process with an exit code of
    /// `Failure.Status`.
    static func runAndExit() -> Never {
        var command: any ParsableCommand
        do {
            command = try parseAsRoot()
        } catch {
            let message = fullMessage(for: error)
            // `--help` and `--version` are thrown, too.
            guard exitCode(for: error) == .success else {
                StandardError.write(unknownCommand(CommandLine.arguments.dropFirst().first) ?? message)
                exitNow(.usage)
            }
            StandardOutput.write(line: message)
            exitNow(.done)
        }
        do {
            try command.run()
            exitNow(.done)
        } catch let failure as Failure {
            failure.report()
            exitNow(failure.status)
        } catch {
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            if code == .success {
                StandardOutput.write(line: message)
                exitNow(.done)
            }
            // A command that throws only an exit code has no message.
            if !message.isEmpty { StandardError.write(message) }
            exitNow(code == .validationFailure ? .usage : Failure.Status(rawValue: code.rawValue) ?? .answer)
        }
    }

    /// Returns the message for an unknown command; nil for a known one or an option.
    private static func unknownCommand(_ name: String?) -> String? {
        let known = configuration.subcommands.map { $0._commandName } + ["help"]
        guard let name, !name.hasPrefix("-"), !known.contains(name) else { return nil }
        let near = InterfaceActions.hint(nearestNames(to: name, in: known))
        return "strata: there is no command \(name)\(near)\n`strata --help` lists the commands."
    }
}
