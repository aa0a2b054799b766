import FaultPlan
import FaultRecord
import Testing

/// Which faults are planned, and when.
@Suite struct PlanTests {
    @Test func theSameSeedGivesTheSamePlanAndTheNextOneAnother() {
        #expect(Plan(seed: 7, seconds: 30) == Plan(seed: 7, seconds: 30))
        let (one, next) = (Plan(seed: 7, seconds: 30).faults, Plan(seed: 8, seconds: 30).faults)
        // Nor are the numbers the same one step later.
        #expect(Set(one.map(\.text)).intersection(next.map(\.text)).count < one.count / 4)
    }

    @Test func aRunOf30SecondsHasAllKindsInOrderOfTime() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let faults = Plan(seed: seed, seconds: 30).faults
            #expect(faults.map(\.at) == faults.map(\.at).sorted())
            #expect(faults.allSatisfy { $0.at < 28_500 })
            let kinds = Set(faults.map(\.kind))
            #expect(kinds.isSuperset(of: [.killModule, .killBroker, .haltModule, .cutConnection, .restartModule]))
        }
    }

    @Test func theBrokerIsNotKilledTenTimesWithoutLivingFor10SecondsBetween() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let kills = Plan(seed: seed, seconds: 120).faults.filter { $0.kind == .killBroker }.map(\.at)
            for index in kills.indices.dropLast(4) { #expect(kills[index + 4] - kills[index] > 10_000) }
            let gaps = zip(kills, kills.dropFirst()).map { $1 - $0 }
            let longest = gaps.split { $0 > 10_000 }.map(\.count).max() ?? 0
            #expect(longest < 9)
        }
    }
}
