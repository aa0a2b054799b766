internal import Glibc
internal import Launch

/// Measures calls and broadcasts from one node to another, beside those over NATS, and on one machine. All of it is on this machine, so the network costs nothing.
struct NodesReport {
    private let places: Places
    private let rounds: Int
    private let times: [String]

    init(isQuick: Bool, _ places: Places) {
        self.places = places
        rounds = isQuick ? 3 : 9
        times = isQuick ? ["--warm-up", "0.1", "--seconds", "0.25"] : ["--warm-up", "0.3", "--seconds", "1"]
    }

    private enum Way: String, CaseIterable {
        case libnats = "NATS"
        case one = "strata, one node"
        case two = "strata, two nodes"
    }

    /// A pattern of calls, and what is wanted of two nodes as a ratio to libnats.
    private struct Pattern {
        var name: String
        var body: Int
        var open: Int
        var measure: Scenario.Measure
        var goal: Double
        /// How many observe broadcasts; 0 for calls.
        var observers = 0

        func isMet(_ ratio: Double) -> Bool { measure == .roundTrip ? ratio <= goal : ratio >= goal }
    }

    /// Broadcasts to this many observers of the other node; NATS's are its minimal client's.
    static let observers = 16

    private static let patterns = [
        Pattern(name: "round trip, 64 B", body: 64, open: 1, measure: .roundTrip, goal: 2.5),
        Pattern(name: "64 open, 64 B", body: 64, open: 64, measure: .rate, goal: 2.5),
        Pattern(name: "4 open, 64 KiB", body: 64 << 10, open: 4, measure: .rate, goal: 0.6),
        Pattern(
            name: "broadcasts 1 → 16, 64 B", body: 64, open: 512, measure: .rate, goal: 2, observers: observers),
    ]

    func run() throws {
        var samples: [String: [Way: [Double]]] = [:]
        let nodes = try TwoNodes(in: places)
        defer { nodes.end() }
        let one = try Bus(.strata, cpu: nil, in: places)
        defer { one.end() }
        let server = try Bus(.nats, cpu: nil, in: places)
        defer { server.end() }
        let addresses: [Way: (caller: Address, callee: Address)] = [
            .libnats: (server.address, server.address), .one: (one.address, one.address),
            .two: (nodes.address("berlin"), nodes.address("tokyo")),
        ]
        let callees = try Way.allCases.map { way in try client(way, "callee", addresses[way]!.callee, []) }
        defer { for callee in callees { callee.kill() } }
        for callee in callees {
            guard try callee.line() == "ready" else { throw Failure("a callee isn't ready") }
        }
        try nodes.waitUntilCallsCross()
        for round in 0..<rounds {
            Console.complain("round \(round + 1) of \(rounds)")
            for pattern in Self.patterns {
                for way in round % 2 == 0 ? Way.allCases : Way.allCases.reversed() {
                    let ends = addresses[way]!
                    var words = ["--body", "\(pattern.body)", "--open", "\(pattern.open)"] + times
                    if pattern.observers > 0 {
                        words += ["--peers", "\(pattern.observers)", "--observers", ends.callee.text]
                    }
                    let caller = try client(way, pattern.observers > 0 ? "broadcasts" : "caller", ends.caller, words)
                    defer { caller.kill() }
                    samples[pattern.name, default: [:]][way, default: []].append(
                        try Self.figure(try caller.line(), pattern.measure))
                }
            }
        }
        print(samples)
    }

    private func client(_ way: Way, _ role: String, _ address: Address, _ words: [String]) throws -> Child {
        // libnats has no scenario of broadcasts.
        let program =
            way != .libnats
            ? [places.program("bench-client"), "strata", role]
            : role == "broadcasts"
                ? [places.program("bench-client"), "nats", role] : [places.program("bench-libnats"), role]
        return try Child(program + [address.text] + words)
    }

    private static func figure(_ line: String, _ measure: Scenario.Measure) throws -> Double {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "done", let count = Double(words[1]), let taken = Double(words[2]),
            count > 0
        else { throw Failure("a client said: \(line)") }
        return measure == .roundTrip ? 1_000_000 * taken / count : count / taken
    }

    private func print(_ samples: [String: [Way: [Double]]]) {
        for pattern in Self.patterns {
            let unit = pattern.measure == .roundTrip ? "µs" : "a second"
            Console.say("\n\("\(pattern.name) (\(unit))".padded(44)) median      × NATS")
            let base = samples[pattern.name]?[.libnats] ?? []
            for way in Way.allCases {
                guard let rounds = samples[pattern.name]?[way] else { continue }
                let ratio = zip(rounds, base).map { $0 / $1 }.median
                var line = "  \(way.rawValue.padded(42)) \("\(rounds.median.rounded(toPlaces: 1))".padded(11)) "
                line += "\(ratio.rounded(toPlaces: 2))".padded(8)
                if way == .two {
                    line += " wanted \(pattern.measure == .roundTrip ? "≤" : "≥") \(pattern.goal): "
                    line += pattern.isMet(ratio) ? "met" : "NOT MET"
                }
                Console.say(line)
            }
        }
    }
}

/// Two nodes of an app with a nats-server, as `strata up --all-nodes` runs them. Their modules are
/// started by hand.
final class TwoNodes {
    private let app: Child
    private let places: Places
    private let folder: String

    init(in places: Places) throws {
        self.places = places
        folder = places.scratch("run")
        mkdir(folder, 0o700)
        let manifest = places.scratch("nodes.yaml")
        // Guests' observations stay on their node, so the observers are rows.
        let observers = (0..<NodesReport.observers).map {
            "\n  Observer\($0): {node: tokyo, level: topout, start: manual, observes: [item.changed]}"
        }.joined()
        try Files.write(
            """
            app: bench
            nodes: {berlin: {operates: true}, tokyo: }
            modules:
              Test: {node: tokyo, level: basic, provides: [Test], start: manual}
              Caller0: {node: berlin, level: topout, start: manual}
              Sender: {node: berlin, level: basic, start: manual}\(observers)
            """, to: manifest)
        app = try Child(
            ["env", "XDG_RUNTIME_DIR=\(folder)", places.launcher, "up", "--all-nodes", manifest], silent: true)
        for node in ["berlin", "tokyo"] { try app.listens(at: address(node)) }
    }

    func address(_ node: String) -> Address { .path("\(folder)/strata/bench@\(node).sock") }

    /// Waits until tokyo's callee answers berlin.
    func waitUntilCallsCross() throws {
        for _ in 0..<600 {
            let call = try Child(
                [
                    "sh", "-c", "\"$0\" call --socket \"$1\" Test/action1 1 >/dev/null 2>&1; echo $?", places.launcher,
                    address("berlin").text,
                ])
            if try call.line() == "0" { return }
            usleep(50_000)  // because the nodes don't say when they are connected
        }
        throw Failure("no call crosses to tokyo after 30 s")
    }

    func end() { app.end() }
}
