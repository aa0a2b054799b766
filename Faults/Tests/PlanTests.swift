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

    @Test func faultsBetweenNodesRestInBetweenAndAreClearlyShorterOrLongerThanLost() {
        let silent: Set<FaultKind> = [.haltLink, .killServer, .haltServer, .cutCable]
        for seed in 1...20 as ClosedRange<UInt64> {
            let plan = Plan(seed: seed, seconds: 120, nodes: 3, hasCables: true).faults
            #expect(plan.allSatisfy { $0.node < 3 })
            let faults = plan.filter { silent.union([.killLink, .killNode, .changeRow]).contains($0.kind) }
            #expect(faults.count > 5)
            for (one, next) in zip(faults, faults.dropFirst()) {
                #expect(next.at - one.at - one.milliseconds >= 3_000)
            }
            for fault in faults where silent.contains(fault.kind) {
                #expect(fault.milliseconds <= 3_000 || fault.milliseconds > Int(RolePlacement.lost))
            }
            let without = Plan(seed: seed, seconds: 120, nodes: 3).faults
            #expect(!without.contains { $0.kind == .cutCable })
        }
    }

    @Test func anAppOfOneMachineHasNoFaultsBetweenNodes() {
        let kinds = Set(Plan(seed: 7, seconds: 120).faults.map(\.kind))
        #expect(
            kinds.isDisjoint(with: [.killLink, .haltLink, .killServer, .haltServer, .cutCable, .killNode, .changeRow]))
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
