import StrataTesting
import Testing
import TestSupport

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct StartBarrierTests {
    /// Rows 0 and 1 are equal, row 2 follows, and row 9 is asynchronous.
    private func order() -> StartBarrier {
        var order = StartBarrier(groups: [[0, 1], [2]])
        order.begin()
        return order
    }

    @Test func groupsAreSetUpInTurnEqualsAtOnce() {
        var order = order()
        #expect(order.turn == .setUp(group: 0))
        #expect([0, 1, 2].map { order.maySetUp($0) } == [true, true, false])
        order.didSetUp(0)
        #expect(!order.maySetUp(2) && !order.mayInitialize(0))
        order.didSetUp(1)
        #expect(order.turn == .setUp(group: 1))
        #expect(order.maySetUp(2) && !order.mayInitialize(0))
        order.didSetUp(2)
        #expect(order.turn == .initialize(group: 0))
        #expect([0, 1, 2].map { order.mayInitialize($0) } == [true, true, false])
    }

    @Test func didStartComesWhenAllAreInitialized() {
        var order = order()
        for member in 0...2 { order.didSetUp(member) }
        for member in 0...2 {
            #expect(!order.mayDidStart(member))
            order.didInitialize(member)
        }
        #expect(order.turn == .over)
        #expect([0, 1, 2].allSatisfy { order.mayDidStart($0) })
    }

    @Test func modulesThatAreNotEagerNeitherWaitNorAreWaitedFor() {
        let order = order()
        #expect(order.maySetUp(9) && order.mayInitialize(9) && order.mayDidStart(9))
    }

    @Test func nothingStartsBeforeTheLauncherConnects() {
        var order = StartBarrier(groups: [[0]])
        #expect(order.turn == .notBegun && !order.maySetUp(0))
        order.begin()
        #expect(order.maySetUp(0))
    }

    @Test func aModuleThatLeavesOrIsLateIsNoLongerWaitedFor() {
        var order = order()
        order.leave(0)
        #expect(order.turn == .setUp(group: 0))
        #expect(order.turnTimedOut() == [1])
        #expect(order.turn == .setUp(group: 1))
        order.didSetUp(2)
        #expect(order.turn == .initialize(group: 1))
        #expect(order.turnTimedOut() == [2])
        #expect(order.turn == .over)
        // All of them may continue when they come.
        #expect([0, 1, 2].allSatisfy { order.maySetUp($0) && order.mayInitialize($0) && order.mayDidStart($0) })
    }

    @Test(.promise("M.97")) func aRequiredRowThatIsLateIsWaitedForOn() {
        var order = order()
        #expect(order.turnTimedOut { $0 == 1 } == [0])
        #expect(order.turn == .setUp(group: 0) && !order.maySetUp(2))
        order.didSetUp(1)
        #expect(order.maySetUp(2))
    }

    @Test func aModuleThatDiesAfterSetUpIsSetUpAgainBeforeTheOthersContinue() {
        var order = order()
        order.didSetUp(0)
        order.didSetUp(1)
        order.begins(again: 0)
        #expect(order.turn == .setUp(group: 0) && order.maySetUp(0))
        #expect(!order.maySetUp(2))
        order.didSetUp(0)
        #expect(order.maySetUp(2))
    }

    @Test func noModuleWaitsForOneThatDiesAfterTheStart() {
        var order = order()
        for member in 0...2 { order.didSetUp(member) }
        for member in 0...2 { order.didInitialize(member) }
        order.begins(again: 1)
        order.leave(1)
        #expect(order.turn == .over)
        #expect(order.maySetUp(1) && order.mayInitialize(1) && order.mayDidStart(1))
    }

    /// In any order of events, no module continues too early, and the start comes to its end.
    @Test(.promise("11.5"), arguments: 0..<50)
    func theRulesHoldInAnyOrderOfEvents(seed: Int) {
        var generator = SeededGenerator(seed)
        let groups = [[0, 1], [2], [3, 4, 5], [6]]
        var order = StartBarrier(groups: groups)
        order.begin()
        var setUp: Set<Int> = []
        var initialized: Set<Int> = []
        var left: Set<Int> = []
        var steps = 0
        while order.turn != .over, steps < 10_000 {
            steps += 1
            let member = Int.random(in: 0...6, using: &generator)
            let earlier = Set(groups.prefix { !$0.contains(member) }.joined())
            if Int.random(in: 0..<40, using: &generator) == 0, !initialized.contains(member) {
                order.leave(member)
                left.insert(member)
            } else if !setUp.contains(member), order.maySetUp(member), !left.contains(member) {
                #expect(earlier.subtracting(left).isSubset(of: setUp))
                setUp.insert(member)
                order.didSetUp(member)
            } else if setUp.contains(member), order.mayInitialize(member), !left.contains(member) {
                #expect(setUp.union(left) == Set(0...6))
                #expect(earlier.subtracting(left).isSubset(of: initialized))
                initialized.insert(member)
                order.didInitialize(member)
            }
            if !initialized.contains(member), !left.contains(member) { #expect(!order.mayDidStart(member)) }
        }
        #expect(initialized.union(left) == Set(0...6))
    }
}
