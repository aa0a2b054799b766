/// A simulation that `SimulationProgram` runs: everything in it follows from a seed, and a list of steps
/// from which some can be left out.
protocol SeededSimulation {
    associatedtype Step
    associatedtype Rule: RawRepresentable<String>, CaseIterable, Equatable, Sendable

    /// The number of events that brokers have handled.
    var events: UInt64 { get }

    /// Returns the steps of a seed.
    /// - Parameter count: the number of steps that aren't its first ones.
    static func steps(seed: Int, count: Int) -> [Step]

    /// - Parameter teller: receives the story, line by line; nil if no story is wanted.
    init(seed: Int, steps: [Step], telling teller: ((String) -> Void)?)

    /// Takes all steps.
    /// - Returns: the first rule that was broken; nil if there is none.
    func run() -> BrokenRule<Rule>?
}

/// A rule that was broken.
package struct BrokenRule<Rule: RawRepresentable<String> & Equatable & Sendable>: Error, Equatable,
    CustomStringConvertible
{
    package let rule: Rule
    /// What was seen, and what should have been.
    package let message: String

    package var description: String { "\(rule.rawValue)\n  \(message)" }
}

/// How a seed's simulation ended.
struct SeededResult {
    /// The rule that was broken, by its index, and what broke it; nil if there is none.
    let finding: (rule: Int, text: String)?
    /// The number of events that brokers have handled.
    let events: UInt64
}

extension SeededSimulation {
    /// The rules by their index.
    static var rules: [String] { Rule.allCases.map(\.rawValue) }

    /// Returns the number of a seed's steps.
    static func stepCount(seed: Int, count: Int) -> Int { steps(seed: seed, count: count).count }

    /// Runs a seed.
    /// - Parameter kept: the indices of the steps that are taken; nil for all.
    static func run(seed: Int, count: Int, kept: [Int]?, telling teller: ((String) -> Void)?) -> SeededResult {
        let all = steps(seed: seed, count: count)
        let simulation = Self(seed: seed, steps: kept.map { $0.map { all[$0] } } ?? all, telling: teller)
        let broken = simulation.run()
        return SeededResult(
            finding: broken.map { (Array(Rule.allCases).firstIndex(of: $0.rule) ?? 0, "\($0)") },
            events: simulation.events)
    }
}

extension BusSimulation: SeededSimulation {}

extension NodeSimulation: SeededSimulation {}
