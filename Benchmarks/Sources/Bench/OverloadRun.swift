internal import Foundation
internal import Glibc

/// A bystander's calls while others abuse the bus, or another one, or while nobody
/// does: 2,000 a second, one open, to a callee that answers at once.
///
/// The broker and both bystanders have CPU 0, those who abuse have CPU 1. Bystanders
/// have real-time priority where they may: who waits for a CPU that the broker uses
/// waits for the kernel's scheduler, which is not what is measured.
struct OverloadRun {
    enum Company: String, CaseIterable {
        case nobody
        /// The abusers have a broker of their own, beside them on CPU 1: they cost the
        /// machine as much, and the bystander's bus nothing.
        case elsewhere
        /// They are on the bystander's bus.
        case here
    }

    /// What a run brought. Times in microseconds, memory in KiB.
    struct Outcome: Codable {
        let calls: Int
        let p50: Double
        let p99: Double
        let p999: Double
        let most: Double
        let before: Int
        let peak: Int
        var after: Int
        let abuse: AbuseTally?
        /// What the broker counted.
        let counters: [String: Int]
    }

    private static let gap = 500
    private static let realtime = ["--realtime", "1"]
    /// How long the broker has to give memory back, in tries of 50 ms.
    private static let tries = 80
    /// It has come back where it is this near to what it was, in KiB.
    static let near = 8 << 10

    let places: Places
    let seconds: Double

    func run(_ abuse: Abuse, _ company: Company) throws -> Outcome {
        let address = Address.path(places.scratch("overload.sock"))
        let broker = try startBroker(address, cpu: 0)
        defer { broker.end() }
        let other = Address.path(places.scratch("other.sock"))
        let control = company == .elsewhere ? try startBroker(other, cpu: 1) : nil
        defer { control?.end() }
        let callee = try client("callee", address, Self.realtime, cpu: 0)
        defer { callee.kill() }
        guard try callee.line() == "ready" else { throw Failure("the bystanders' callee isn't ready") }
        // What a first call and a first question need is there before anything is measured.
        _ = try paced(address, seconds: 0.1)
        _ = try counters(address)
        let before = try memory(broker, "VmRSS")
        // The last connections but those that are kept are taken where there are 4,096.
        let caller = try client(
            "paced", address, Self.realtime + ["--warm-up", "0.3", "--seconds", "\(seconds)", "--gap", "\(Self.gap)"],
            cpu: 0)
        defer { caller.kill() }
        guard try caller.line() == "ready" else { throw Failure("the bystander isn't ready") }
        let abuser =
            company == .nobody
            ? nil : try client("abuse", company == .here ? address : other, ["--word", abuse.name], cpu: 1)
        defer { abuser?.kill() }
        if let abuser, try abuser.line() != "ready" { throw Failure("the abusers of \(abuse.name) aren't ready") }
        caller.release()
        let figures = try Self.figures(try caller.line())
        let peak = try memory(broker, "VmHWM")
        let counters = try counters(address)
        abuser?.release()
        let tally = try abuser.map { try AbuseTally(from: $0) }
        var after = try memory(broker, "VmRSS")
        for _ in 0..<Self.tries where after > before + Self.near {
            usleep(50_000)  // because the kernel doesn't say when a process's memory shrinks
            after = try memory(broker, "VmRSS")
        }
        return Outcome(
            calls: Int(figures[0]), p50: figures[1], p99: figures[2], p999: figures[3], most: figures[4],
            before: before, peak: peak, after: after, abuse: tally, counters: counters)
    }

    private func startBroker(_ address: Address, cpu: Int) throws -> Child {
        Files.remove(address.text)
        let table = BrokerTable.json(guests: 5_000, assembly: 500)
        let broker = try Child(
            [places.broker, "--table", "3", "--socket", address.text], cpu: cpu,
            descriptor: try BrokerTable.descriptor(of: table))
        try broker.listens(at: address)
        return broker
    }

    private func client(_ scenario: String, _ address: Address, _ options: [String], cpu: Int) throws -> Child {
        try Child([places.program("bench-client"), "strata", scenario, address.text] + options, cpu: cpu)
    }

    private func paced(_ address: Address, seconds: Double) throws -> [Double] {
        let caller = try client("paced", address, ["--warm-up", "0", "--seconds", "\(seconds)"], cpu: 0)
        defer { caller.kill() }
        guard try caller.line() == "ready" else { throw Failure("the bystander isn't ready") }
        caller.release()
        return try Self.figures(try caller.line())
    }

    private static func figures(_ line: String) throws -> [Double] {
        let words = line.split(separator: " ")
        let figures = words.dropFirst().compactMap { Double($0) }
        guard words.first == "done", figures.count == 5 else { throw Failure("the bystander said: \(line)") }
        return figures
    }

    private func counters(_ address: Address) throws -> [String: Int] {
        struct Stats: Decodable { let counters: [String: Int] }
        let operatorTool = try client("ask", address, ["--word", "bus/stats"], cpu: 0)
        defer { operatorTool.kill() }
        return try JSONDecoder().decode(Stats.self, from: Data(try operatorTool.line().utf8)).counters
    }

    /// A line of a process's status, in KiB.
    private func memory(_ process: Child, _ name: String) throws -> Int {
        let text = try Files.text("/proc/\(process.id)/status")
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        guard
            let value = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
        else { throw Failure("the kernel doesn't say \(name) of \(process.id)") }
        return value
    }
}
