import ArgumentParser
import StrataOperator

/// `strata top`: shows the state of the bus and its modules, again and again.
struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows modules, calls per second, queues, memory and restarts, live.",
        discussion: """
            EXAMPLE
              strata top
              strata top --interval 5s
              strata top --count 1 --json | jq .calls

            Figures per second are of the last interval; p50, p99 and max are of all calls since \
            the broker's start. MEMORY is a module's own resident memory, anonymous and shared, \
            if its process is on this machine. Ctrl-C ends it.
            """)

    @Option(help: ArgumentHelp("The time between two readings: 100ms to 1h.", valueName: "time"))
    var interval = Milliseconds(argument: "1s")!  // because 1s is a valid time

    @Option(help: "Ends after this many readings.")
    var count: Int?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func validate() throws {
        guard (100...3_600_000).contains(interval.value) else {
            throw ValidationError("--interval is from 100ms to 1h.")
        }
        if let count, count < 1 { throw ValidationError("--count is 1 or more.") }
    }

    func run() throws {
        let connection = try bus.connect()
        let answer = Answer(output)
        var before: BusSnapshot?
        var looks = 0
        while true {
            let now = try connection.look()
            if answer.isForPrograms {
                try answer.show(now.load(since: before))
            } else {
                Self.draw(LoadView.lines(now, since: before, answer.painter), isFirst: before == nil)
            }
            before = now
            looks += 1
            if let count, looks >= count { return }
            connection.client.run(interval.value) { false }
        }
    }

    /// Draws the lines over those of the last look.
    private static func draw(_ lines: [String], isFirst: Bool) {
        // Moves to the top, erases the rest of each line, then erases everything below.
        let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
        StandardOutput.raw(Array(((isFirst ? "\u{1B}[2J" : "") + "\u{1B}[H" + text + "\u{1B}[J").utf8))
    }
}
