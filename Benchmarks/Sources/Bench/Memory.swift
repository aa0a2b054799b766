/// What a bus holds: by itself, and for each peer that is connected and idle.
struct Memory: Codable {
    /// Resident, in KiB.
    let base: Double
    /// Resident beyond the base, in bytes for each peer.
    let perPeer: Double
    /// Its proportional share of what processes have in common, in KiB, at the base.
    let share: Double

    private static let peers = 1_000

    init(of contender: Contender, in places: Places) throws {
        let bus = try Bus(contender, cpu: nil, in: places)
        defer { bus.end() }
        let process = bus.mover
        // The first peers are no measure: tables and buffers grow for them.
        let few = try Self.idle(16, contender, bus, places)
        let before = try Self.read(process)
        few.kill()
        let many = try Self.idle(16 + Self.peers, contender, bus, places)
        let after = try Self.read(process)
        many.kill()
        base = before.resident
        share = before.share
        perPeer = (after.resident - before.resident) * 1024 / Double(Self.peers)
    }

    private static func idle(_ count: Int, _ contender: Contender, _ bus: Bus, _ places: Places) throws -> Child {
        let client = try Child([
            places.program("bench-client"), contender.clientName, "idle", bus.address.text, "--peers", "\(count)",
        ])
        guard try client.line() == "ready" else { throw Failure("idle peers aren't connected") }
        return client
    }

    /// Of a process, in KiB: what is resident, its share of it, and what it has alone.
    static func read(_ process: Int32) throws -> (resident: Double, share: Double, own: Double) {
        let text = try Files.text("/proc/\(process)/smaps_rollup")
        func field(_ name: String) -> Double {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
        }
        return (field("Rss"), field("Pss"), field("Private_Clean") + field("Private_Dirty"))
    }
}
