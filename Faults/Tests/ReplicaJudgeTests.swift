import FaultJudge
import FaultRecord
import Testing

/// The judge's findings about `Pool`, a row with replicas.
@Suite struct ReplicaJudgeTests {
    private static let pool = UInt64(Role.index(of: "Pool") ?? 0)

    // MARK: Keys

    /// `Shop` (process 1) asks `Pool` with one key: the requests are handled by these processes, 2 and 3,
    /// each answered before the next one is sent. The fault comes after the first one.
    private func moved(
        _ handlers: [UInt32], _ faults: Record..., ending: Record? = nil, from callers: [String] = ["Shop"],
        kind: RequestKind = .keyed
    ) -> [Violation.Kind] {
        var run = MadeUpRun()
        let shops = callers.map { run.process($0) }
        let replicas = (1...2).map { run.process("Pool", replica: $0) }
        let driver = run.process("driver")
        for (place, handler) in handlers.enumerated() {
            let (shop, index) = (shops[place % shops.count], UInt64(place + 1))
            run.wrote(shop, .sent(shop, index, kind, to: "Pool", key: 7))
            let replica = replicas[Int(handler) - 1]
            run.wrote(replica, .of(.started, shop, index), .of(.ended, shop, index))
            run.wrote(shop, .answered(shop, index))
            if place == 0 {
                for fault in faults { run.wrote(driver, fault) }
                if let ending { run.wrote(replica, ending) }
            }
        }
        for process in shops + replicas { run.wrote(process, Record(.drained)) }
        return run.found()
    }

    @Test func aKeyStaysWithItsProcess() {
        #expect(moved([1, 1, 1]) == [])
        #expect(moved([1, 2]) == [.wrongReplica])
        #expect(moved([1, 2, 2]) == [.wrongReplica])
        // Whoever sends the requests.
        #expect(moved([1, 1], from: ["Shop", "Bell"]) == [])
        #expect(moved([1, 2], from: ["Shop", "Bell"]) == [.wrongReplica])
        #expect(moved([1, 2], kind: .authorized) == [.wrongReplica])
    }

    @Test func itMovesWithTheEndOfItsSession() {
        let session = Record(.session, number: 2)
        // The second process of the run is the first replica.
        #expect(moved([1, 2], .fault(.cutConnection, pid: 102), ending: session) == [])
        #expect(moved([1, 2], .fault(.killBroker), ending: session) == [])
        #expect(moved([1, 2], .fault(.handOver, detail: 1)) == [.wrongReplica])
        // A fault that ended nothing, and one of another process.
        #expect(moved([1, 2], .fault(.haltModule, pid: 102)) == [.wrongReplica])
        #expect(moved([1, 2], .fault(.cutConnection, pid: 103)) == [.wrongReplica])
        // It doesn't come back.
        #expect(moved([1, 2, 1], .fault(.cutConnection, pid: 102), ending: session) == [.wrongReplica])
    }

    @Test func whatWaitsForTheAuthorizerMayComeLater() {
        // Process 1 sends two requests at once, and the key moves in between.
        func found(_ kind: RequestKind) -> [Violation.Kind] {
            var run = MadeUpRun()
            let (shop, driver) = (run.process("Shop"), run.process("driver"))
            let (one, two) = (run.process("Pool", replica: 1), run.process("Pool", replica: 2))
            run.wrote(shop, .sent(shop, 1, kind, to: "Pool", key: 7), .sent(shop, 2, .keyed, to: "Pool", key: 7))
            run.wrote(one, .of(.started, shop, 2), .of(.ended, shop, 2))
            run.wrote(driver, .fault(.cutConnection, pid: 103))
            run.wrote(one, Record(.session, number: 2))
            run.wrote(two, .of(.started, shop, 1), .of(.ended, shop, 1))
            run.wrote(shop, .answered(shop, 1), .answered(shop, 2))
            for process in [shop, one, two] { run.wrote(process, Record(.drained)) }
            return run.found()
        }
        #expect(found(.authorized) == [])
        #expect(found(.keyed) == [.wrongReplica])
    }

    @Test func itMovesWithAReplacementAndWithFewerReplicas() {
        for kind in [FaultKind.restartModule, .scale] {
            let tearDown = Record(.tearDown)
            #expect(moved([1, 2], .fault(kind, detail: Self.pool), ending: tearDown) == [], "\(kind)")
            #expect(moved([1, 2], .fault(kind, detail: Self.pool)) == [.wrongReplica], "\(kind)")
        }
    }

    @Test func requestsOfOneKeyBeginInOrder() {
        func found(keys: [UInt8]) -> [Violation.Kind] {
            var run = MadeUpRun()
            let (shop, pool) = (run.process("Shop"), run.process("Pool", replica: 1))
            for (index, key) in keys.enumerated() {
                run.wrote(shop, .sent(shop, UInt64(index + 1), .keyed, to: "Pool", key: key))
            }
            for index in keys.indices.reversed().map({ UInt64($0 + 1) }) {
                run.wrote(pool, .of(.started, shop, index), .of(.ended, shop, index))
            }
            for index in keys.indices { run.wrote(shop, .answered(shop, UInt64(index + 1))) }
            for process in [shop, pool] { run.wrote(process, Record(.drained)) }
            return run.found()
        }
        #expect(found(keys: [7, 7]) == [.outOfOrder])
        #expect(found(keys: [7, 8]) == [])
    }

    // MARK: Failures

    @Test func theDeathOfAReplicaEndsItsOwnRequestsAlone() {
        func found(pid: UInt32) -> [Violation.Kind] {
            var run = MadeUpRun()
            let (shop, one) = (run.process("Shop"), run.process("Pool", replica: 1))
            let (two, driver) = (run.process("Pool", replica: 2), run.process("driver"))
            run.wrote(shop, .sent(shop, 1, to: "Pool"))
            run.wrote(one, .of(.started, shop, 1))
            run.wrote(driver, .fault(.killModule, pid: pid, detail: Self.pool + 1))
            run.wrote(shop, .answered(shop, 1, "died", .maybe))
            for process in [shop, one, two] { run.wrote(process, Record(.drained)) }
            return run.found()
        }
        #expect(found(pid: 102) == [])
        #expect(found(pid: 103) == [.unexplainedFailure])
    }

    @Test func fewerReplicasAreNoReasonExceptForTheirInstances() {
        for (code, kinds) in [("died", [Violation.Kind.unexplainedFailure]), ("unknown-instance", [])] {
            var run = MadeUpRun()
            let (shop, driver) = (run.process("Shop"), run.process("driver"))
            run.wrote(driver, .fault(.scale, detail: Self.pool))
            run.wrote(shop, .sent(shop, 1, .instance, to: "Pool"), .answered(shop, 1, code, .maybe), Record(.drained))
            #expect(run.found() == kinds, "\(code)")
        }
    }

    @Test func aReplicaMayEndWhenTheRowIsScaled() {
        for (fault, kinds) in [
            (Record.fault(.scale, detail: Self.pool), []), (.fault(.scale, detail: 0), [Violation.Kind.unexplainedEnd]),
        ] {
            var run = MadeUpRun()
            let (pool, driver) = (run.process("Pool", replica: 2), run.process("driver"))
            run.wrote(pool, Record(.setUp), Record(.ready))
            run.wrote(driver, fault)
            run.wrote(pool, Record(.tearDown), Record(.drained))
            #expect(run.found() == kinds)
        }
    }

    // MARK: Shared observations

    /// `Clock` broadcasts 1 to 5, and two replicas get these notices. `Mill` gets all, so the broker had
    /// them. `lose` has the records of the first replica after its notices, and those of the driver
    /// before.
    private func shared(
        _ one: [UInt64], _ two: [UInt64], _ fault: Record? = nil, lose: [Record] = [],
        traits: NoticeTraits = .shared
    ) -> [Violation.Kind] {
        var run = MadeUpRun()
        let (clock, mill, driver) = (run.process("Clock"), run.process("Mill"), run.process("driver"))
        let (first, second) = (run.process("Pool", replica: 1), run.process("Pool", replica: 2))
        for process in [mill, first, second] { run.wrote(process, Record(.ready)) }
        for number in 1...5 as ClosedRange<UInt64> {
            run.wrote(clock, .published("Clock", number))
            run.wrote(mill, .noticed("Clock", of: clock, number))
        }
        for number in one { run.wrote(first, .noticed("Clock", of: clock, number, .shared)) }
        for number in two { run.wrote(second, .noticed("Clock", of: clock, number, traits)) }
        if let fault { run.wrote(driver, fault) }
        for record in lose { run.wrote(first, record) }
        for process in [clock, mill, first, second] { run.wrote(process, Record(.flushed), Record(.drained)) }
        return run.found()
    }

    @Test func eachSharedNoticeGoesToOneReplica() {
        #expect(shared([1, 3, 5], [2, 4]) == [])
        #expect(shared([1, 3, 5], [2, 3, 4]) == [.doubled])
        #expect(shared([1, 3, 5], [4]) == [.silentGap])
        #expect(shared([], []).count == 5)
        #expect(shared([1, 5, 3], [2, 4]) == [.silentGap])
        #expect(shared([1, 3, 5, 6], [2, 4]) == [.silentGap])
    }

    @Test func whatIsRetainedGoesToEach() {
        #expect(shared([1, 2, 3, 4, 5], [2, 4], traits: [.shared, .retained]) == [])
    }

    @Test func aSharedNoticeIsLostWithTheSessionThatMayHaveHadItAlone() {
        let (cut, session) = (Record.fault(.cutConnection, pid: 104), Record(.session, number: 2))
        #expect(shared([1, 3], [2, 4], cut, lose: [session]) == [])
        // The first replica had a newer one in that session.
        #expect(shared([1, 5], [2, 4], cut, lose: [session]) == [.silentGap])
    }

    @Test func nothingIsOwedWhileNoReplicaIsThere() {
        var run = MadeUpRun()
        let (clock, mill) = (run.process("Clock"), run.process("Mill"))
        run.wrote(mill, Record(.ready))
        run.wrote(clock, .published("Clock", 1))
        run.wrote(mill, .noticed("Clock", of: clock, 1))
        let pool = run.process("Pool", replica: 1)
        run.wrote(pool, Record(.ready))
        for process in [clock, mill, pool] { run.wrote(process, Record(.flushed), Record(.drained)) }
        #expect(run.found() == [])
    }
}
