/// Counts what the broker does for messages of several kinds, and holds it to
/// what is committed.
struct InstructionReport {
    enum Use { case print, check, accept }

    static let runs = [
        InstructionRun(name: "call+reply, 64 B, 64 open", traffic: .calls),
        InstructionRun(name: "broadcast 1 → 16, 64 B", traffic: .broadcasts),
        InstructionRun(name: "call+reply, 10 other names", traffic: .calls, crowd: 10),
        InstructionRun(name: "call+reply, 10,000 other names", traffic: .calls, crowd: 10_000),
        InstructionRun(name: "broadcast, 10 other names", traffic: .broadcasts, crowd: 10),
        InstructionRun(name: "broadcast, 10,000 other names", traffic: .broadcasts, crowd: 10_000),
    ]

    /// What a message may cost more than what is committed.
    private static let margin = 0.02

    private let thresholds: String
    private let places: Places

    init(_ folder: String, _ places: Places) {
        thresholds = folder + "/thresholds.json"
        self.places = places
    }

    /// What is committed, and what is written.
    struct Counted: Codable {
        /// Of the broker, for each message that it writes.
        var instructions: Double
        var allocations: Double
    }

    func run(_ use: Use, json: String?) throws {
        let committed = use == .check ? try Files.read([String: Counted].self, from: thresholds) : [:]
        var counted: [String: Counted] = [:]
        var complaints: [String] = []
        Console.say("instructions and allocations of the broker, for each message that it writes")
        for run in Self.runs {
            let result = try run.run(in: places)
            let count = Counted(
                instructions: result.instructions.rounded(toPlaces: 1),
                allocations: result.allocations.rounded(toPlaces: 4))
            counted[run.name] = count
            Console.say("\(run.name.padded(34)) \("\(count.instructions)".padded(10)) \(count.allocations)")
            if use == .check { complaints += Self.complaints(run.name, count, committed[run.name]) }
        }
        if let json { try Files.write(counted, to: json) }
        if use == .accept { try Files.write(counted, to: thresholds) }
        guard complaints.isEmpty else { throw Failure(complaints.joined(separator: "\n")) }
    }

    /// One line where the broker does more than is committed, and one where it does
    /// so much less that the committed figure no longer holds anything.
    private static func complaints(_ name: String, _ count: Counted, _ most: Counted?) -> [String] {
        let advice = "what is meant goes into Benchmarks/thresholds.json by scripts/bench --instructions --accept"
        guard let most else { return ["\(name): there is no threshold; \(advice)"] }
        var complaints: [String] = []
        if count.instructions > most.instructions * (1 + margin) {
            complaints.append(
                "\(name): \(count.instructions) instructions a message, at most \(most.instructions) + 2 % are allowed; \(advice)"
            )
        }
        // A little is left for what comes with time, not with messages.
        if count.allocations > most.allocations + 0.01 {
            complaints.append(
                "\(name): \(count.allocations) allocations a message, at most \(most.allocations) are allowed; \(advice)"
            )
        }
        return complaints
    }

    /// Prints which functions of the broker the instructions go to.
    func profile(_ name: String) throws {
        guard let run = Self.runs.first(where: { $0.name == name }) else {
            throw Failure("there is no run \(name): \(Self.runs.map(\.name).joined(separator: "; "))")
        }
        let result = try run.run(in: places)
        Console.say("\(run.name): \(result.instructions.rounded(toPlaces: 1)) instructions a message")
        for (function, instructions) in result.profile.dearest.prefix(50) {
            let each = Double(instructions) / Double(result.messages)
            Console.say("\("\(each.rounded(toPlaces: 1))".padded(8)) \(function)")
        }
    }
}
