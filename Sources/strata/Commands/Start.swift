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

    @OptionGroup var request: ModuleRequest

    func run() throws { try request.run("start", doing: "starting", done: "started") }
}
