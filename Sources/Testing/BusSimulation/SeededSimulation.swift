/// A simulation that `SimulationProgram` runs: everything in it follows from a seed, and a list of steps
/// from which some can be left out.
protocol SeededSimulation {
    /// The rules by their index.
    static var rules: [String] { get }

    /// Returns the number of a seed's steps.
    /// - Parameter count: the number of steps that aren't its first ones.
    static func stepCount(seed: Int, count: Int) -> Int

    /// Runs a seed.
    /// - Parameters:
    ///   - kept: the indices of the steps that are taken; nil for all.
    ///   - teller: receives the story, line by line; nil if no story is wanted.
    static func run(seed: Int, count: Int, kept: [Int]?, telling teller: ((String) -> Void)?) -> SeededResult
}

/// How a seed's simulation ended.
struct SeededResult {
    /// The rule that was broken, by its index, and what broke it; nil if there is none.
    let finding: (rule: Int, text: String)?
    /// The number of events that brokers have handled.
    let events: UInt64
}

extension SeededResult {
    init<Rule: CaseIterable & Equatable>(_ finding: (rule: Rule, text: String)?, events: UInt64) {
        self.init(
            finding: finding.map { finding in
                (Array(Rule.allCases).firstIndex(of: finding.rule) ?? 0, finding.text)
            }, events: events)
    }
}

extension BusSimulation: SeededSimulation {
    static var rules: [String] { SimulationRule.allCases.map(\.rawValue) }

    static func stepCount(seed: Int, count: Int) -> Int { steps(seed: seed, count: count).count }

    static func run(seed: Int, count: Int, kept: [Int]?, telling teller: ((String) -> Void)?) -> SeededResult {
        let all = steps(seed: seed, count: count)
        let simulation = BusSimulation(seed: seed, steps: kept.map { $0.map { all[$0] } } ?? all, telling: teller)
        return SeededResult(simulation.run().map { ($0.rule, "\($0)") }, events: simulation.events)
    }
}

extension NodeSimulation: SeededSimulation {
    static var rules: [String] { NodeRule.allCases.map(\.rawValue) }

    static func stepCount(seed: Int, count: Int) -> Int { steps(seed: seed, count: count).count }

    static func run(seed: Int, count: Int, kept: [Int]?, telling teller: ((String) -> Void)?) -> SeededResult {
        let all = steps(seed: seed, count: count)
        let simulation = NodeSimulation(seed: seed, steps: kept.map { $0.map { all[$0] } } ?? all, telling: teller)
        return SeededResult(simulation.run().map { ($0.rule, "\($0)") }, events: simulation.events)
    }
}
