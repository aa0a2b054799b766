import ArgumentParser

/// `strata contracts`: contracts as files, for version control and other languages.
struct Contracts: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Exports contracts as files, and compares them.",
        discussion: """
            EXAMPLE
              strata contracts export contracts
              strata contracts compare <(git show HEAD:contracts/Catalog.json) contracts/Catalog.json
            """,
        subcommands: [ExportContracts.self, CompareContracts.self])
}
