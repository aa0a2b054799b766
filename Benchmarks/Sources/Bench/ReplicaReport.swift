/// Measures what replicas bring: eight callers, each with one call open, of a row whose handler computes for a
/// millisecond, with one, two and four replicas.
struct ReplicaReport {
    private static let counts = [1, 2, 4]
    private static let callers = 8

    private let places: Places
    private let rounds: Int
    private let times: [String]

    init(isQuick: Bool, _ places: Places) {
        self.places = places
        rounds = isQuick ? 3 : 9
        times = isQuick ? ["--warm-up", "0.1", "--seconds", "0.5"] : ["--warm-up", "0.3", "--seconds", "1"]
    }

    func run() throws {
        var samples: [Int: [Double]] = [:]
        for round in 0..<rounds {
            Console.complain("round \(round + 1) of \(rounds)")
            for count in round % 2 == 0 ? Self.counts : Self.counts.reversed() {
                samples[count, default: []].append(try measure(count))
            }
        }
        let title = "\(Self.callers) callers, 1 ms of CPU a call"
        Console.say("\(title.padded(34)) calls/s   spread   × one replica")
        for count in Self.counts {
            let figure = Figure(samples[count] ?? [], floor: samples[1], nats: nil, .rate)
            Console.say(
                "  \((count == 1 ? "1 replica" : "\(count) replicas").padded(32)) \("\(Int(figure.median))".padded(9)) "
                    + "\("\(Int((figure.spread * 100).rounded())) %".padded(8)) "
                    + "\((figure.toFloor ?? .nan).rounded(toPlaces: 2))")
        }
    }

    /// Returns the calls a second of all callers together.
    private func measure(_ count: Int) throws -> Double {
        let socket = places.scratch("replicas.sock")
        let manifest = places.scratch("replicas.yaml")
        let callers = (0..<Self.callers).map { "\n  Caller\($0): {level: topout, start: manual}" }.joined()
        try Files.write(
            """
            app: bench
            modules:
              Test: {level: basic, run: [\(places.program("bench-module")), worker], provides: [Test], replicas: \(count)}\(callers)
            """, to: manifest)
        let app = try Child([places.launcher, "up", manifest, "--socket", socket])
        defer { app.end() }
        // With one module the launcher says only that this one is.
        while try !app.line().contains(count == 1 ? " ready after " : " modules are ready") {}
        let clients = try (0..<Self.callers).map { index in
            try Child([places.program("bench-client"), "strata", "caller", socket, "--index", "\(index)"] + times)
        }
        return try clients.map { try $0.line() }.reduce(0) { $0 + (try Measurement.rate($1)) }
    }
}
