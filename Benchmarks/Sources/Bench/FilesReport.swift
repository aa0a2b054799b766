/// What a call costs whose body and reply are in memory files, beside one of 64 bytes: the bus's part, without
/// writing and reading the memory.
struct FilesReport {
    /// How often 100 calls of each kind are measured, the first time to warm up.
    private static let rounds = 101
    private static let body = 16 << 20
    private static let goal = 2.0

    private let places: Places

    init(_ places: Places) { self.places = places }

    /// - Throws: also if the goal is missed.
    func run() throws {
        let bus = try Bus(.strata, cpu: 0, in: places)
        defer { bus.end() }
        let client = try Child(
            [
                places.program("bench-client"), "strata", "files", bus.address.text, "--body", "\(Self.body)",
                "--rounds",
                "\(Self.rounds)",
            ], cpu: 0)
        defer { client.kill() }
        let line = try client.line()
        let times = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        guard times.count == 2 else { throw Failure("the client said: \(line)") }
        let ratio = (times[1] / times[0]).rounded(toPlaces: 2)
        Console.say("a call of 64 B: \(times[0]) µs; of 16 MiB in memory files: \(times[1]) µs; ratio \(ratio)")
        guard ratio <= Self.goal else { throw Failure("the ratio is \(ratio), and the goal is \(Self.goal)") }
    }
}
