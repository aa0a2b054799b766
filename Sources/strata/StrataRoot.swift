import ArgumentParser

@main
struct StrataRoot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata", abstract: "Runs an app of several module processes on one bus.",
        subcommands: [Up.self, Launch.self, BrokerCommand.self])
}
