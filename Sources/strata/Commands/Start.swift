import ArgumentParser
import StrataCore

/// `strata start`: starts one module, and waits until that is done.
struct Start: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Starts a module.",
        discussion: """
            EXAMPLE
              strata start Export

            It waits until the module is ready.
            """)

    @Argument(help: "The module's name.", completion: LiveNames.modules)
    var module: String

    @OptionGroup var request: ModuleRequest

    func run() throws { try request.run("start", module, doing: "starting", done: "started") }
}
