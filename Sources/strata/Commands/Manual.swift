import ArgumentParser
import StrataCore

/// `strata manual`: the manual page, made of what `--help` says.
struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the manual page, for man.",
        discussion: """
            EXAMPLE
              strata manual | man -l -
              strata manual > ~/.local/share/man/man1/strata.1

            It is docs/man/strata.1 of the project.
            """)

    func run() throws {
        guard let help = try? JSON(parsing: RootCommand._dumpHelp()), let command = help["command"] else {
            throw Failure(.answer, "the argument parser's description of the commands can't be read")
        }
        StandardOutput.write(line: ManualPage(command).text)
    }
}
