import ArgumentParser
import Glibc
import StrataOperator

/// `strata run`: becomes a module's process, in place of the launched one.
struct RunModule: ParsableCommand {
    /// Long enough for a stop with all its signals.
    private static let patience: UInt64 = 120_000

    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a module by hand, for instance in a debugger.",
        discussion: """
            The launched process ends in order, and the program takes its place; requests wait \
            meanwhile. The program runs in this terminal. When it has ended, the launcher starts \
            the module again if it ran before.

            Without a program the row's `run` is run; with one, {} stands for the row's `run`. It \
            runs in the row's folder, with the row's env.

            EXAMPLE
              strata run Notes
              strata run Notes -- gdb --args {}
              strata run Notes -- lldb -- {}
              strata run Notes -- .build/release/Notes
            """)

    @Argument(help: "The module's name.", completion: LiveNames.modules)
    var module: String

    @Option(
        help: ArgumentHelp(
            "How long the launched process may take to end: an integer with ms, s, m or h. Default: 2m.",
            valueName: "time"))
    var timeout: Milliseconds?

    @OptionGroup var bus: SocketOption

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The program to run, and its arguments; {} is the row's `run`.", valueName: "program"))
    var words: [String] = []

    func run() throws {
        var given = words
        // Reports a program that can't be run before anything is stopped.
        if let first = given.first, first != Place.mark { given[0] = try ProgramSearch.path(of: first) }
        let place = try lend(needsProgram: given.isEmpty || given.contains(Place.mark))
        if place.isAnothersUser {
            StandardError.write("The row of \(module) names its own user; here the module runs as you.")
        }
        try place.become(given, as: module)
    }

    /// Asks the launcher to stop the module's own process. The connection ends here, because the
    /// module makes its own.
    private func lend(needsProgram: Bool) throws(Failure) -> Place {
        let request = Request(
            to: "launcher/lend",
            ["module": .string(module), "pid": .integer(Int64(getpid())), "needsProgram": .bool(needsProgram)],
            deadline: timeout?.value ?? Self.patience)
        let body = try bus.connect().send(request, "waiting for \(module) to end")
        guard let place = (try? JSON(parsing: body)).flatMap(Place.init) else {
            throw Failure(.answer, "the launcher's answer to launcher/lend doesn't describe a module's place")
        }
        return place
    }
}
