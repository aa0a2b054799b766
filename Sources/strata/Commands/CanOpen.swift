import ArgumentParser
import StrataCore

/// `strata can-open`: whether a URL leads to a module that is there or can be
/// started.
struct CanOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says whether a URL can be opened, and where it leads.",
        discussion: """
            EXAMPLE
              strata can-open 'catalog://item/bash'
              strata can-open 'catalog://item/bash' | jq -e .open

            It exits with 0 for no as for yes: either is the answer that was asked for.
            """)

    @Argument(
        help: "The URL; in quotes, where the shell would read something into it.", completion: LiveNames.urls)
    var url: String

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let connection = try BusChoice.connect(bus.socket, opening: url)
        let found = try connection.ask("canOpen", ["url": .string(url)])
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.show(found) }
        if found["open"]?.bool == true {
            let to = found["to"]?.string ?? "?"
            let module = found["module"]?.string ?? "?"
            StandardOutput.write(
                line: "\(answer.painter.paint("yes", .green)): \(Printable.line(to)), of \(Printable.line(module))")
        } else {
            let reason = found["reason"]?.string ?? "no reason was given"
            StandardOutput.write(line: "\(answer.painter.paint("no", .red)): \(Printable.line(reason))")
        }
    }
}
