/// A broker under callgrind, beside a crowd of names that nobody asks for. What it
/// does for a message is the difference of two runs that differ in their length.
final class CountedBroker {
    enum Traffic: String {
        /// 64 open calls to one callee; a call is two messages, it and its reply.
        case calls
        /// 64 broadcasts at once to 16 observers; counted by the notices.
        case broadcasts
        /// The same calls, and a monitor that gives credit as fast as it can.
        case monitoredCalls
        /// The same calls, and a monitor without credit.
        case missedCalls
        /// The same calls, and a monitor that is shown one frame a second.
        case leftOutCalls
        /// The same calls, and a stream of `bus/traffic`.
        case countedCalls
        /// The same broadcasts, and a stream of `bus/traffic`.
        case countedBroadcasts

        var isBroadcasts: Bool { self == .broadcasts || self == .countedBroadcasts }
        var scenario: String { isBroadcasts ? "lockstep-broadcasts" : "lockstep-calls" }

        /// How the one that watches is told apart; nil where nobody watches.
        var watching: String? {
            switch self {
            case .calls, .broadcasts: nil
            case .monitoredCalls: ""
            case .missedCalls: "silent"
            case .leftOutCalls: "most"
            case .countedCalls, .countedBroadcasts: "traffic"
            }
        }
    }

    struct Result {
        fileprivate(set) var profile: CallgrindProfile
        /// How many the broker wrote.
        let messages: Int

        func each(_ count: Int) -> Double { Double(count) / Double(messages) }
    }

    private static let open = 64
    private static let observers = 16
    private static let rounds = (short: 20, long: 220)

    private let places: Places
    private let broker: Child
    private let crowd: Child
    private let address: Address
    private let file: String
    private var dumps = 0

    /// - Parameters:
    ///   - crowd: so many rows, interfaces, URLs, observations and retained broadcasts.
    ///   - observesPatterns: whether the crowd has as many observations of patterns.
    init(crowd count: Int, observesPatterns: Bool, in places: Places) throws {
        self.places = places
        address = .path(places.scratch("counted-\(count).sock"))
        file = places.scratch("callgrind-\(count).out")
        broker = try Child(
            [
                "valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=" + file, places.broker,
                "--table", "3", "--socket", address.text,
            ], descriptor: try BrokerTable.descriptor(crowd: count))
        try broker.listens(at: address)
        crowd = try Child([
            places.program("bench-client"), "strata", "crowd", address.text, "--peers", "\(count)",
            "--word", observesPatterns ? "patterns" : "names",
        ])
        guard try crowd.line(within: 300) == "ready" else { throw Failure("the crowd isn't connected") }
    }

    func end() {
        crowd.kill()
        broker.end(within: 120_000)
    }

    func count(_ traffic: Traffic) throws -> Result {
        let monitor = try traffic.watching.map { word in
            try Child([places.program("bench-client"), "strata", "monitor", address.text, "--word", word])
        }
        defer { monitor?.kill() }
        if let monitor, try monitor.line(within: 300) != "ready" { throw Failure("the monitor isn't ready") }
        // Tables and buffers have their size after this.
        _ = try profile(traffic, rounds: Self.rounds.short)
        let short = try profile(traffic, rounds: Self.rounds.short)
        let long = try profile(traffic, rounds: Self.rounds.long)
        let perRound = traffic.isBroadcasts ? Self.open * Self.observers : 2 * Self.open
        return Result(profile: long.minus(short), messages: (Self.rounds.long - Self.rounds.short) * perRound)
    }

    /// What the broker did since the last time.
    private func profile(_ traffic: Traffic, rounds: Int) throws -> CallgrindProfile {
        let client = try Child([
            places.program("bench-client"), "strata", traffic.scenario, address.text,
            "--open", "\(Self.open)", "--peers", "\(Self.observers)", "--rounds", "\(rounds)",
        ])
        // It stays connected until the broker has written: so the end of its connections
        // is always a part of what comes next.
        defer { client.kill() }
        guard try client.line(within: 300) == "ready" else { throw Failure("a client isn't done") }
        let control = try Child(["callgrind_control", "--dump", "\(broker.id)"], silent: true)
        // What it says last comes when the broker has written.
        while try control.line(within: 120).contains("OK") == false { continue }
        control.end()
        dumps += 1
        let text = try Files.text("\(file).\(dumps)")
        Files.remove("\(file).\(dumps)")
        return try CallgrindProfile(parsing: text)
    }
}
