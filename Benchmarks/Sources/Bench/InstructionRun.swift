/// What the broker does for a message, counted under callgrind: two runs that
/// differ in their length only, one taken from the other.
struct InstructionRun {
    enum Traffic: String {
        /// 64 open calls to one callee; a call is two frames, it and its reply.
        case calls
        /// 64 broadcasts at once to 16 observers; counted by the notices.
        case broadcasts
    }

    let name: String
    let traffic: Traffic
    var body = 64
    /// How many other names there are: rows, interfaces, URLs, observations.
    var crowd = 0
    var rounds = (short: 20, long: 220)

    private static let open = 64
    private static let observers = 16

    /// Messages that each of the rounds brings the broker to write.
    private var messagesPerRound: Int {
        switch traffic {
        case .calls: 2 * Self.open
        case .broadcasts: Self.open * Self.observers
        }
    }

    struct Result {
        let profile: CallgrindProfile
        let messages: Int
        /// Instructions of the broker for each message that it writes.
        var instructions: Double { Double(profile.total) / Double(messages) }
        var allocations: Double { Double(profile.allocations) / Double(messages) }
    }

    func run(in places: Places) throws -> Result {
        let short = try profile(rounds: rounds.short, in: places)
        let long = try profile(rounds: rounds.long, in: places)
        return Result(
            profile: long.minus(short), messages: (rounds.long - rounds.short) * messagesPerRound)
    }

    private func profile(rounds: Int, in places: Places) throws -> CallgrindProfile {
        let socket = places.scratch("counted.sock")
        let file = places.scratch("callgrind.out")
        Files.remove(socket)
        Files.remove(file)
        let broker = try Child(
            [
                "valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=" + file, places.broker,
                "--table", "3", "--socket", socket,
            ], descriptor: try BrokerTable.descriptor(crowd: crowd))
        try broker.listens(at: .path(socket))
        let client = try Child([
            places.program("bench-client"), "strata", "lockstep-" + traffic.rawValue, socket,
            "--body", "\(body)", "--open", "\(Self.open)", "--peers", "\(Self.observers)",
            "--rounds", "\(rounds)", "--crowd", "\(crowd)",
        ])
        _ = try client.line(within: 300)
        client.end()
        broker.end(within: 120_000)
        return try CallgrindProfile(parsing: try Files.text(file))
    }
}
