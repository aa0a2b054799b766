import TestSupport
import Testing

@testable import StrataTesting

/// Joined brokers in a simulation.
@Suite(.timeLimit(.hang))
struct NodeSimulationTests {
    private func run(_ seed: Int, telling teller: ((String) -> Void)? = nil) -> NodeSimulation {
        let steps = NodeSimulation.steps(seed: seed, count: 200)
        let simulation = NodeSimulation(seed: seed, steps: steps, telling: teller)
        let finding = simulation.run()
        #expect(finding == nil, "scripts/simulate --nodes --seed \(seed) --steps 200")
        return simulation
    }

    @Test(.promise("N.40", "N.53", "N.54")) func noRuleIsBrokenOnJoinedBrokers() {
        var (crossed, retained, keyed) = (0, 0, 0)
        for seed in 1...150 {
            let referee = run(seed).referee
            retained += referee.retained
            keyed += referee.keyed
            crossed += referee.requests.count { request in
                request.begun.contains { referee.peers[$0].node != referee.peers[request.caller].node }
            }
        }
        // Other requests stay on their node, or are refused.
        #expect(crossed > 400)
        #expect(retained > 100)
        #expect(keyed > 50)
    }

    @Test func aSeedOfJoinedBrokersGivesTheSameStoryEachTime() {
        func story(_ seed: Int) -> [String] {
            var lines: [String] = []
            _ = run(seed) { lines.append($0) }
            return lines
        }
        let stories = (1...6).map { (story($0), story($0)) }
        for (one, other) in stories { #expect(one == other) }
        #expect(Set(stories.map(\.0)).count == stories.count)
    }
}
