public import ArgumentParser
import StrataCore
import StrataLoop
public import StrataOperator

/// `strata logs`: shows what modules wrote.
struct Logs: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what modules wrote to standard output and standard error.",
        discussion: """
            EXAMPLE
              strata logs
              strata logs Notes --lines 20
              strata logs -f Catalog Storage
              strata logs --since 10m --level warning
              strata logs --json | jq -r 'select(.stream == "err") | .line'

            The launcher keeps the last 1,000 lines of each module, at most 256 KiB, across all \
            of its processes. A ! stands before what was written to standard error, a | before \
            the rest. Times are UTC. A line has a severity if its program says one, as the log \
            handlers of the clients do; the others count as info. -f ends with ctrl-C or when the app ends. If the broker dies, \
            -f waits for the next one, and continues where it was.
            """)

    @Argument(help: "Only these modules.", completion: LiveNames.modules)
    var modules: [String] = []

    @Flag(name: [.customShort("f"), .long], help: "Continues with new lines as they come.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "How many of each module's earlier lines to read. Default: 100; all with --since or --level.",
            valueName: "n"))
    var lines: Int?

    @Option(help: ArgumentHelp("Only lines of this time: an integer with ms, s, m or h.", valueName: "time"))
    var since: Milliseconds?

    @Option(
        help: ArgumentHelp(
            "Only lines of this severity, and more serious ones: debug, info, notice, warning, error, critical, alert "
                + "or emergency.", valueName: "severity"),
        completion: .list(Severity.allCases.map(\.name)))
    var level: Severity?

    @OptionGroup var loss: WaitOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func validate() throws {
        guard lines ?? 0 >= 0 else { throw ValidationError("--lines is 0 or more.") }
    }

    func run() throws {
        let answer = Answer(output)
        let connection = try bus.connect()
        let begin = since.map { Loop.wallMicroseconds - min(Loop.wallMicroseconds, $0.value * 1_000) }
        let shown = LogOutput(
            answer.isForPrograms ? [] : try names(connection), answer, since: Int64(clamping: begin ?? 0),
            level: level ?? .debug)
        guard follow else { return try read(connection, isAgain: false, shown) }
        try BusReturn.follow(connection, patience: loss.wait.value) { isAgain throws(Failure) in
            if isAgain { shown.resume() }
            try read(connection, isAgain: isAgain, shown)
        }
    }

    /// The names of the modules whose lines are shown.
    private func names(_ connection: CommandClient) throws(Failure) -> [String] {
        modules.isEmpty ? try connection.modules().map(\.name) : modules
    }

    // MARK: Reading

    /// Shows lines until there are no more.
    /// - Parameter isAgain: whether to ask for all kept lines, and show only the new ones.
    private func read(_ connection: CommandClient, isAgain: Bool, _ shown: LogOutput) throws(Failure) {
        var params: [JSON.Member] = [.init("follow", .bool(follow))]
        let lines = lines ?? (since == nil && level == nil ? 100 : Int.max)
        if !isAgain { params.insert(.init("lines", .integer(Int64(lines))), at: 0) }
        if !modules.isEmpty { params.insert(.init("modules", .array(modules.map { .string($0) })), at: 0) }
        var request = Request(to: "launcher/logs", .object(params), deadline: follow ? 0 : nil)
        request.credit = 256
        request.isEndless = follow
        request.onPartial = shown.show
        try sayEnd(Result { () throws(Failure) in try connection.send(request) })
        if let failure = shown.failure { throw failure }
    }

    /// Reports how the stream ended, unless it just ended.
    private func sayEnd(_ end: Result<[UInt8], Failure>) throws(Failure) {
        switch end {
        case .success(let body):
            let end = try? JSON(parsing: body)
            if let missed = end?["missed"]?.integer, missed > 0 {
                StandardError.write("strata: \(LineView.missed(missed))")
            }
            if let reason = end?["ended"]?.string { StandardError.write("strata: \(Printable.line(reason))") }
        case .failure(let error):
            // Ctrl-C is the usual end of -f. An app that ends may also say so itself.
            if follow, error.code == .cancelled { return }
            guard follow, error.code == .shuttingDown else { throw error }
            StandardError.write("strata: \(MonitorCommand.appEnds)")
        }
    }
}

extension Severity: ExpressibleByArgument {
    public init?(argument: String) { self.init(name: argument) }
}
