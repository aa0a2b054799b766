import ArgumentParser
import StrataCore

/// `strata stop`: ends one module, and waits until that is done.
struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stops a module.",
        discussion: """
            EXAMPLE
              strata stop Export

            It gets tearDown, then SIGTERM, then SIGKILL; the command waits until it is gone.
            """)

    @Argument(help: "The module's name.", completion: LiveNames.modules)
    var module: String

    @OptionGroup var request: ModuleRequest

    func run() throws { try request.run("stop", module, doing: "stopping", done: "stopped") }
}
