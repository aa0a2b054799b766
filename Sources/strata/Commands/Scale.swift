import ArgumentParser
import StrataCore
import StrataOperator

/// `strata scale`: gives a row another number of replicas.
struct Scale: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs more or fewer replicas of a module.",
        discussion: """
            EXAMPLE
              strata scale Thumbnails=6

            The module's row says how many there may be: replicas: {least: 1, most: 8}. The command \
            waits until the new replicas are ready, or until those that go have ended. They finish \
            their requests first, for half of the row's stop. The number holds until the app ends.
            """)

    @Argument(
        help: ArgumentHelp("The module, and the number of its replicas.", valueName: "module=number"),
        completion: LiveNames.modules)
    var wanted: Wanted

    @OptionGroup var request: ModuleRequest

    /// `MODULE=NUMBER`.
    struct Wanted: ExpressibleByArgument {
        var module: String
        var count: Int

        init?(argument: String) {
            let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, let count = Int(parts[1]) else { return nil }
            (module, self.count) = (String(parts[0]), count)
        }

        static var defaultValueDescription: String { "MODULE=NUMBER" }
    }

    func run() throws {
        try request.run(
            "scale", wanted.module, [.init("replicas", .integer(Int64(wanted.count)))], doing: "scaling",
            done: "has \(wanted.count) \(wanted.count == 1 ? "replica" : "replicas")")
    }
}
