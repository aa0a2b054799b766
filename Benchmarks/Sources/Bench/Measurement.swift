/// One figure: a contender in a scenario, with a bus started for it.
struct Measurement {
    let scenario: Scenario
    let contender: Contender
    let warmUp: Double
    let seconds: Double
    let places: Places

    private var cpu: Int? { scenario.isPinned ? 0 : nil }
    private var times: [String] { ["--warm-up", "\(warmUp)", "--seconds", "\(seconds)"] }

    func run() throws -> Double {
        let bus = try Bus(contender, cpu: cpu, in: places)
        defer { bus.end() }
        switch scenario.traffic {
        case .calls(let callers, let open):
            let callee = try client("callee", bus)
            defer { callee.kill() }
            guard try callee.line() == "ready" else { throw Failure("a callee isn't ready") }
            let clients = try (0..<callers).map { index in try client("caller", bus, index: index, open: open) }
            return try figure(try clients.map { try $0.line() })
        case .broadcasts(let observers, let open):
            let client = try client("broadcasts", bus, open: open, peers: observers)
            return try figure([try client.line()])
        }
    }

    private func client(_ role: String, _ bus: Bus, index: Int = 0, open: Int = 1, peers: Int = 1) throws -> Child {
        guard contender.hasRawClients else {
            var words = ["env", "STRATA_SOCKET=" + bus.address.text]
            switch contender {
            case .c: words += [places.program("bench-c"), role]
            case .typed: words += [places.program("bench-module"), role, "typed"]
            case .async: words += [places.program("bench-module"), role, "async"]
            default: words += [places.program("bench-module"), role, "bytes"]
            }
            if role == "caller" { words += ["\(open)", "\(warmUp)", "\(seconds)"] }
            return try Child(words, cpu: cpu)
        }
        return try Child(
            [
                places.program("bench-client"), contender.clientName, role, bus.address.text,
                "--body", "\(scenario.body)", "--index", "\(index)", "--open", "\(open)", "--peers", "\(peers)",
            ] + times, cpu: cpu)
    }

    /// From lines such as `done 12345 1.003`: how many, and in how many seconds.
    private func figure(_ lines: [String]) throws -> Double {
        let rate = try lines.map(Self.rate).reduce(0, +)
        return scenario.measure == .roundTrip ? 1_000_000 / rate : rate
    }

    /// Returns how many calls a second a client's line such as `done 12345 1.003` says.
    static func rate(_ line: String) throws -> Double {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "done", let count = Double(words[1]), let taken = Double(words[2]),
            count > 0, taken > 0
        else { throw Failure("a client said: \(line)") }
        return count / taken
    }
}
