import StrataCore
import TestSupport
import Testing

@testable import StrataTesting

/// The bus in a simulation, and the simulation's own judgement.
@Suite(.timeLimit(.hang))
struct SimulationTests {
    private func story(_ seed: Int) -> [String] {
        var lines: [String] = []
        let finding = BusSimulation(seed: seed, steps: BusSimulation.steps(seed: seed, count: 200)) { lines.append($0) }
            .run()
        #expect(finding == nil)
        return lines
    }

    @Test func aSeedGivesTheSameStoryEachTime() {
        let stories = (1...8).map { (story($0), story($0)) }
        for (one, other) in stories { #expect(one == other) }
        #expect(Set(stories.map(\.0)).count == stories.count)
        #expect(stories.allSatisfy { $0.0.contains { $0.contains(#""kind":"reply""#) } })
    }

    /// Swift seeds its hashes differently in each process, so no output may depend on them.
    @Test func aSeedGivesTheSameStoryWhateverTheHashes() throws {
        let program = try BuiltExecutable.path("simulate")
        for seed in ["3", "12"] {
            let arguments = ["--seed", seed, "--steps", "60", "--story"]
            let one = try ChildProgram(program, arguments, environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
            let other = try ChildProgram(program, arguments)
            let ends = [try one.wait(), try other.wait()]
            #expect(ends == [.exit(0), .exit(0)])
            let stories = [one.outputText, other.outputText]
            #expect(stories[0] == stories[1])
            #expect(stories[0].count > 5_000)
        }
    }

    @Test func noRuleIsBroken() {
        for seed in 1...60 {
            let simulation = BusSimulation(seed: seed, steps: BusSimulation.steps(seed: seed, count: 300))
            let finding = simulation.run()
            #expect(finding == nil, "scripts/simulate --seed \(seed) --steps 300")
            #expect(simulation.events > 50)
        }
    }

    @Test func aListIsMadeAsShortAsItFails() {
        var attempts = 0
        let kept = Shrinking.shortest(Array(0..<400)) { part in
            attempts += 1
            return part.contains(17) && part.contains(300)
        }
        #expect(kept == [17, 300])
        #expect(attempts < 120)
        #expect(Shrinking.shortest([1, 2, 3]) { _ in true } == [])
        #expect(Shrinking.shortest([5]) { !$0.isEmpty } == [5])
    }
}
