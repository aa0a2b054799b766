import ArgumentParser

/// `strata contracts`: contracts as files, for version control and other languages.
struct Contracts: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Exports contracts as files, and compares them.",
        subcommands: [ExportContracts.self, CompareContracts.self])
}
