import ArgumentParser
import StrataOperator

/// `strata open`: opens a URL on the bus that has its scheme.
struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Opens a URL, and prints the action's answer.",
        discussion: """
            EXAMPLE
              strata open 'catalog://item/bash'

            Where several buses run, it is the one whose schemes have the URL's.
            """)

    @Argument(
        help: "The URL; in quotes, where the shell would read something into it.", completion: LiveNames.urls)
    var url: String

    @OptionGroup var timeout: TimeoutOption
    @OptionGroup var trace: TraceOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        var request = Request(.open, to: url)
        request.limit(timeout)
        trace.begin(&request)
        try Answer(output).showReplies(to: request, BusChoice.connect(bus.socket, opening: url))
    }
}
