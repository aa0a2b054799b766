import ArgumentParser
import StrataOperator

/// `strata reload`: lets the launcher read the manifest again.
struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads the manifest again.",
        discussion: """
            EXAMPLE
              strata check && strata reload

            A manifest with errors changes nothing. What takes effect at a module's next start \
            shows as pending in `strata ps`.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let body = try bus.connect().send(Request(to: "bus/reload", deadline: 60_000), "reloading")
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.show(body) }
        StandardOutput.write(line: "the manifest was read again")
    }
}
