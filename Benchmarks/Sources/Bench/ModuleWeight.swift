internal import Glibc

/// What a module's process costs that does nothing: bench-module's `minimal`, and bench-c's `idle`.
struct ModuleWeight: Codable {
    /// The only module of its bus.
    struct Alone: Codable {
        /// Milliseconds from before its process is made until it says that it is ready.
        let start: Figure
        /// In KiB: resident, its proportional share, and what it has alone.
        let resident, share, own: Double
    }

    let swift: Alone
    let c: Alone
    /// As many at once as `crowd`: milliseconds from the launcher's start until it
    /// says that all are ready.
    let crowdStart: Figure
    /// The proportional share of one of them, in KiB.
    let crowdShare: Double

    static let crowd = 20

    /// Nil where there is no launcher.
    init?(rounds: Int, in places: Places) throws {
        guard access(places.launcher, X_OK) == 0 else { return nil }
        var crowdStarts: [Double] = []
        var crowdShare = 0.0
        swift = try Self.alone([places.program("bench-module"), "minimal"], rounds, places)
        c = try Self.alone([places.program("bench-c"), "idle"], rounds, places)
        for _ in 0..<rounds {
            let crowd = try Self.crowd(places)
            crowdStarts.append(crowd.start)
            crowdShare = crowd.share
        }
        crowdStart = Figure(crowdStarts, floor: nil, nats: nil, .roundTrip)
        self.crowdShare = crowdShare
    }

    private static func alone(_ words: [String], _ rounds: Int, _ places: Places) throws -> Alone {
        let ones = try (0..<rounds).map { _ in try one(words, places) }
        return Alone(
            start: Figure(ones.map(\.start), floor: nil, nats: nil, .roundTrip),
            resident: ones.map(\.memory.resident).median, share: ones.map(\.memory.share).median,
            own: ones.map(\.memory.own).median)
    }

    private static func one(_ words: [String], _ places: Places) throws
        -> (start: Double, memory: (resident: Double, share: Double, own: Double))
    {
        let bus = try Bus(.strata, cpu: nil, in: places)
        defer { bus.end() }
        setenv("STRATA_SOCKET", bus.address.text, 1)
        defer { unsetenv("STRATA_SOCKET") }
        let began = ContinuousClock.now
        let module = try Child(words)
        defer { module.kill() }
        guard try module.line() == "ready" else { throw Failure("the module isn't ready") }
        return (began.duration(to: .now) / .milliseconds(1), try Memory.read(module.id))
    }

    private static func crowd(_ places: Places) throws -> (start: Double, share: Double) {
        let manifest = places.scratch("crowd.yaml")
        try Files.write("app: crowd\nmodules:\n" + (0..<crowd).map { row($0, places) }.joined(), to: manifest)
        let began = ContinuousClock.now
        let launcher = try Child([places.launcher, "up", manifest, "--socket", places.scratch("crowd.sock")])
        defer { launcher.end() }
        var processes: [Int32] = []
        while true {
            let line = try launcher.line()
            if line.contains("all \(crowd) modules are ready") { break }
            if line.contains("ready after"), let process = line.split(separator: " ").last.flatMap({ Int32($0) }) {
                processes.append(process)
            }
        }
        let start = began.duration(to: .now) / .milliseconds(1)
        guard processes.count == crowd else {
            throw Failure("\(processes.count) of \(crowd) modules said who they are")
        }
        return (start, try processes.map { try Memory.read($0).share }.reduce(0, +) / Double(crowd))
    }

    private static func row(_ number: Int, _ places: Places) -> String {
        "  Module\(number):\n    level: basic\n    run: [\(places.program("bench-module")), minimal]\n"
    }
}
