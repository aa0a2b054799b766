import ArgumentParser
import StrataCore
import StrataLoop
import StrataOperator

/// `strata down`: ends the app, and waits until its socket is gone.
struct Down: ParsableCommand {
    private static let patience: UInt64 = 60_000

    static let configuration = CommandConfiguration(
        abstract: "Ends the app, its modules in reverse order.",
        discussion: """
            EXAMPLE
              strata down

            It waits until the bus is gone.
            """)

    @Option(
        help: ArgumentHelp(
            "How long that may take: an integer with ms, s, m or h. Default: 1m.", valueName: "time"))
    var timeout: Milliseconds?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let patience = timeout?.value ?? Self.patience
        let connection = try bus.connect()
        let deadline = Loop.nanoseconds + patience * 1_000_000
        let app = connection.welcome.app
        let body = try connection.send(Request(to: "launcher/down", deadline: max(1, patience)), "ending \(app)")
        try connection.waitUntilGone(by: deadline)
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.show(body) }
        StandardOutput.write(line: "\(answer.painter.paint(Printable.line(app), .bold)) ended")
    }
}

extension CommandClient {
    /// Waits until nobody listens on the socket any more.
    /// - Parameter deadline: on the clock of `Loop.nanoseconds`.
    /// - Throws: `answer` where the bus is still there at the deadline.
    fileprivate func waitUntilGone(by deadline: UInt64) throws(Failure) {
        let app = welcome.app
        let progress = showProgress("waiting for \(app) to end")
        defer { progress.end() }
        func left() -> UInt64 {
            // The clock goes on between two looks at it.
            let now = Loop.nanoseconds
            return now < deadline ? (deadline - now) / 1_000_000 : 0
        }
        // The connection's end comes first, and tells at once; the socket's may
        // take a moment more.
        if client.run(left(), until: { client.ending != nil }) {
            while SocketAddress.occupant(path) == .live, left() > 0 { client.run(20) { false } }
            if SocketAddress.occupant(path) != .live { return }
        }
        throw Failure(.answer, "deadline-exceeded: \(app) was told to end, and its bus at \(path) is still there")
    }
}
