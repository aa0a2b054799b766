/// Counts what the broker does for messages of several kinds, and what the Swift
/// runtime does for a typed call, and holds them to what is committed.
struct InstructionReport {
    enum Use { case print, check, accept }

    /// What is committed, and what is written.
    struct Counted: Codable {
        /// Of the broker, for each message that it writes; of a module, for each call.
        var instructions: Double
        var allocations: Double

        init(_ profile: CallgrindProfile, of messages: Int) {
            instructions = (Double(profile.total) / Double(messages)).rounded(toPlaces: 1)
            // What memory comes once in a while isn't a message's.
            allocations = abs((Double(profile.allocations) / Double(messages)).rounded(toPlaces: 2))
        }
    }

    private struct Run {
        let name: String
        let traffic: CountedBroker.Traffic
        let crowd: Int
        /// Whether the crowd observes as many patterns, too.
        var observesPatterns = false
        /// The figure is the same in each run, and held to what is committed. A monitor's
        /// depends on how fast the machine is: some frames are told, the others missed.
        var isHeld = true
    }

    private static let runs = [
        Run(name: "calls", traffic: .calls, crowd: 10),
        Run(name: "broadcasts", traffic: .broadcasts, crowd: 10),
        Run(name: "calls, monitored", traffic: .monitoredCalls, crowd: 10, isHeld: false),
        Run(name: "calls, a monitor without credit", traffic: .missedCalls, crowd: 10),
        Run(name: "calls, a monitor of one frame a second", traffic: .leftOutCalls, crowd: 10),
        Run(name: "calls, counted for bus/traffic", traffic: .countedCalls, crowd: 10),
        Run(name: "broadcasts, counted for bus/traffic", traffic: .countedBroadcasts, crowd: 10),
        Run(name: "calls, 10,000 other names", traffic: .calls, crowd: 10_000),
        Run(name: "broadcasts, 10,000 other names", traffic: .broadcasts, crowd: 10_000),
        Run(name: "broadcasts, 10,000 patterns", traffic: .broadcasts, crowd: 10_000, observesPatterns: true),
    ]

    /// What a message may cost more than what is committed. Counts repeat within
    /// 0.1 % on one machine; the C library copies with other instructions on
    /// other processors.
    private static let margin = 0.05
    /// What it may cost more beside 10,000 other names and patterns than beside 10 names.
    private static let growth = 0.05

    /// The ends of a typed call, with the Swift runtime.
    private static let ends = (caller: "a typed call, its caller", callee: "a typed call, its callee")

    private let thresholds: String
    private let places: Places

    init(_ folder: String, _ places: Places) {
        thresholds = folder + "/thresholds.json"
        self.places = places
    }

    func run(_ use: Use, json: String?) throws {
        let committed = use == .check ? try Files.read([String: Counted].self, from: thresholds) : [:]
        var counted: [String: Counted] = [:]
        Console.say("\("the broker, for a message that it writes".padded(42)) instructions allocations")
        for (crowd, observesPatterns) in [(10, false), (10_000, false), (10_000, true)] {
            let broker = try CountedBroker(crowd: crowd, observesPatterns: observesPatterns, in: places)
            defer { broker.end() }
            for run in Self.runs where run.crowd == crowd && run.observesPatterns == observesPatterns {
                var count = try Self.count(run, broker)
                // A broker that gets the CPU less often writes fewer messages at a time, and each costs more; what it
                // does by time, it does for fewer messages. Load only adds: the least of up to three is the code's.
                for _ in 0..<2 {
                    guard run.isHeld, let most = committed[run.name], Self.isOver(count, most) else { break }
                    let again = try Self.count(run, broker)
                    count.instructions = min(count.instructions, again.instructions)
                    count.allocations = min(count.allocations, again.allocations)
                }
                counted[run.name] = count
                Console.say("\(run.name.padded(42)) \("\(count.instructions)".padded(12)) \(count.allocations)")
            }
        }
        Console.say("\("a module, for a call".padded(42)) instructions allocations")
        for (name, count) in try Self.typedCalls(places) {
            counted[name] = count
            Console.say("\(name.padded(42)) \("\(count.instructions)".padded(12)) \(count.allocations)")
        }
        if let json { try Files.write(counted, to: json) }
        if use == .accept {
            let held = Set(Self.runs.filter(\.isHeld).map(\.name) + [Self.ends.caller, Self.ends.callee])
            try Files.write(counted.filter { held.contains($0.key) }, to: thresholds)
        }
        let complaints = use == .check ? Self.complaints(counted, committed) : []
        guard complaints.isEmpty else { throw Failure(complaints.joined(separator: "\n")) }
    }

    private static func count(_ run: Run, _ broker: CountedBroker) throws -> Counted {
        let result = try broker.count(run.traffic)
        return Counted(result.profile, of: result.messages)
    }

    private static func isOver(_ count: Counted, _ most: Counted) -> Bool {
        hasTooManyInstructions(count, most) || count.allocations > most.allocations
    }

    private static func hasTooManyInstructions(_ count: Counted, _ most: Counted) -> Bool {
        count.instructions > most.instructions * (1 + margin)
    }

    private static func typedCalls(_ places: Places) throws -> [(String, Counted)] {
        let modules = try CountedModules(in: places)
        defer { modules.end() }
        let result = try modules.count()
        let calls = CountedModules.calls.long - CountedModules.calls.short
        return [
            (ends.caller, Counted(result.caller, of: calls)), (ends.callee, Counted(result.callee, of: calls)),
        ]
    }

    /// One sentence for each figure that is over what is committed.
    private static func complaints(_ counted: [String: Counted], _ committed: [String: Counted]) -> [String] {
        let advice =
            "find what it is with scripts/bench --profile, or accept it with scripts/bench --instructions --accept"
        var complaints: [String] = []
        for name in runs.filter(\.isHeld).map(\.name) + [ends.caller, ends.callee] {
            guard let count = counted[name], let most = committed[name] else {
                complaints.append("\(name): Benchmarks/thresholds.json has no such threshold; \(advice)")
                continue
            }
            if hasTooManyInstructions(count, most) {
                complaints.append(
                    "\(name): \(count.instructions) instructions, and at most \(most.instructions) + "
                        + "\(Int(margin * 100)) % are allowed; \(advice)")
            }
            if count.allocations > most.allocations {
                complaints.append(
                    "\(name): \(count.allocations) allocations, and at most \(most.allocations) are allowed; "
                        + advice)
            }
        }
        for run in runs where run.isHeld {
            guard let count = counted[run.name] else { continue }
            let few = runs.first { $0.traffic == run.traffic }.flatMap { counted[$0.name] }
            if let few, count.instructions > few.instructions * (1 + growth) {
                complaints.append(
                    "\(run.name): \(count.instructions) instructions, and \(few.instructions) beside 10 names: "
                        + "the cost grows with the number of names")
            }
        }
        return complaints
    }

    /// Prints which functions of the broker the instructions go to.
    func profile(_ name: String?) throws {
        guard let run = Self.runs.first(where: { $0.name == name ?? $0.name }) else {
            throw Failure("there is no \(name ?? ""): \(Self.runs.map(\.name).joined(separator: "; "))")
        }
        let broker = try CountedBroker(crowd: run.crowd, observesPatterns: run.observesPatterns, in: places)
        defer { broker.end() }
        let result = try broker.count(run.traffic)
        Console.say("\(run.name): instructions for a message, by function\n")
        Console.say("\("\(result.each(result.profile.total).rounded(toPlaces: 1))".padded(10)) all")
        for (function, instructions) in result.profile.dearest.prefix(50) {
            Console.say("\("\(result.each(instructions).rounded(toPlaces: 1))".padded(10)) \(function)")
        }
    }
}
