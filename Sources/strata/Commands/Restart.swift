import ArgumentParser
import StrataCore

/// `strata restart`: ends one module and starts it anew.
struct Restart: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restarts a module.",
        discussion: """
            EXAMPLE
              strata restart Catalog

            Requests to it wait meanwhile; the command waits until it is ready again.
            """)

    @OptionGroup var request: ModuleRequest

    func run() throws { try request.run("restart", doing: "restarting", done: "restarted") }
}
