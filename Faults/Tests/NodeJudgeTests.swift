import FaultJudge
import FaultRecord
import Testing

/// The judge's findings about what crosses between nodes: `Clock` is on node 1, `Mill` on node 0, and
/// `Shop` on node 2.
@Suite struct NodeJudgeTests {
    private static let three = RolePlacement(nodes: 3)

    // MARK: Requests

    /// `Shop` asks a role, and gets this answer some time after a fault.
    private func found(
        _ fault: Record?, _ code: String = "died", of callee: String = "Mill", after: UInt64 = 10,
        _ more: [Record] = []
    ) -> [Violation.Kind] {
        var run = MadeUpRun(placement: Self.three)
        let (shop, driver) = (run.process("Shop"), run.process("driver"))
        if let fault { run.wrote(driver, fault) }
        for record in more { run.wrote(driver, record) }
        run.pass(milliseconds: after)
        var sent = Record.sent(shop, 1)
        sent.extra = UInt32(Role.index(of: callee) ?? 0) + 1
        run.wrote(shop, sent, .answered(shop, 1, code, .maybe), Record(.drained))
        return run.found()
    }

    @Test func aFaultExplainsFailuresBetweenTheNodesThatItPartsAlone() {
        let kinds: [FaultKind] = [.killBroker, .killLink, .killNode]
        for kind in kinds {
            #expect(found(.fault(kind, on: 0)) == [], "\(kind)")
            #expect(found(.fault(kind, on: 2)) == [], "\(kind)")
            #expect(found(.fault(kind, on: 1)) == [.unexplainedFailure], "\(kind)")
        }
        #expect(found(.fault(.handOver, on: 0, detail: 1)) == [])
        #expect(found(.fault(.handOver, on: 0, detail: 0)) == [.unexplainedFailure])
        #expect(found(.fault(.handOver, on: 1, detail: 1)) == [.unexplainedFailure])
        // Guard is on each node, so a request for it stays on its own.
        #expect(found(.fault(.killLink, on: 2), of: "Guard") == [.unexplainedFailure])
        #expect(found(.fault(.killBroker, on: 2), of: "Guard") == [])
        #expect(found(.fault(.killBroker, on: 0), of: "Guard") == [.unexplainedFailure])
    }

    @Test func itExplainsThemForItsTimeAndLost() {
        #expect(found(.fault(.killLink, on: 0), after: 4_900) == [])
        #expect(found(.fault(.killLink, on: 0), after: 5_100) == [.unexplainedFailure])
        let long = Record.fault(.cutCable, on: 0, milliseconds: 7_000)
        #expect(found(long, after: 11_900) == [])
        #expect(found(long, after: 12_100) == [.unexplainedFailure])
    }

    @Test func whatTheNodesOutliveExplainsNothing() {
        for kind in [FaultKind.haltLink, .killServer, .haltServer, .cutCable] {
            for code in ["died", "unavailable", "deadline-exceeded"] {
                let short = Record.fault(kind, on: 0, milliseconds: 4_900)
                #expect(found(short, code) == [.unexplainedFailure], "\(kind)")
                #expect(found(.fault(kind, on: 0, milliseconds: 5_100), code) == [], "\(kind)")
            }
        }
        // NATS connects all nodes.
        #expect(found(.fault(.killServer, on: 1, milliseconds: 6_000)) == [])
        #expect(found(.fault(.cutCable, on: 1, milliseconds: 6_000)) == [.unexplainedFailure])
    }

    @Test func itLengthensWhatAnotherFaultExplains() {
        let (kill, away) = (Record.fault(.killLink, on: 0), Record.fault(.killServer, milliseconds: 3_000))
        #expect(found(kill, after: 7_000, [away]) == [])
        #expect(found(kill, after: 9_000, [away]) == [.unexplainedFailure])
        let elsewhere = Record.fault(.cutCable, on: 1, milliseconds: 3_000)
        #expect(found(kill, after: 7_000, [elsewhere]) == [.unexplainedFailure])
    }

    @Test func aRowThatDiffersExplainsFailuresOfItsOwnRequestsAlone() {
        let mill = UInt64(Role.index(of: "Mill") ?? 0)
        #expect(found(.fault(.changeRow, on: 2, milliseconds: 1_000, detail: mill), "unavailable") == [])
        #expect(
            found(.fault(.changeRow, on: 2, milliseconds: 1_000, detail: mill), of: "Clock") == [.unexplainedFailure])
        #expect(found(.fault(.changeRow, on: 1, milliseconds: 1_000, detail: mill)) == [.unexplainedFailure])
    }

    @Test func aHandlerThatBeganMakesNoWrongWhateverParted() {
        var run = MadeUpRun(placement: Self.three)
        let (shop, mill, driver) = (run.process("Shop"), run.process("Mill"), run.process("driver"))
        run.wrote(driver, .fault(.killLink, on: 0))
        var sent = Record.sent(shop, 1)
        sent.extra = UInt32(Role.index(of: "Mill") ?? 0) + 1
        run.wrote(shop, sent)
        run.wrote(mill, .of(.started, shop, 1), .of(.ended, shop, 1), Record(.drained))
        run.wrote(shop, .answered(shop, 1, "died", .no), Record(.drained))
        #expect(run.found() == [.wrongVerdict])
    }

    @Test func aProcessThatEndsWaitsForARequestAsLongAsItCan() {
        func found(after milliseconds: UInt64) -> [Violation.Kind] {
            var run = MadeUpRun(placement: Self.three)
            let shop = run.process("Shop")
            run.wrote(shop, .sent(shop, 1))
            run.pass(milliseconds: milliseconds)
            run.wrote(shop, Record(.drained))
            return run.found()
        }
        #expect(found(after: 5_000) == [])
        #expect(found(after: 12_000) == [.lost])
    }

    @Test func handlersBeginInTheOrderOfTheRequests() {
        func found(_ order: [UInt64]) -> [Violation.Kind] {
            var run = MadeUpRun(placement: Self.three)
            let (shop, mill) = (run.process("Shop"), run.process("Mill"))
            for index in 1...3 as ClosedRange<UInt64> { run.wrote(shop, .sent(shop, index)) }
            for index in order { run.wrote(mill, .of(.started, shop, index), .of(.ended, shop, index)) }
            for index in 1...3 as ClosedRange<UInt64> { run.wrote(shop, .answered(shop, index)) }
            run.wrote(shop, Record(.drained))
            run.wrote(mill, Record(.drained))
            return run.found()
        }
        #expect(found([1, 2, 3]) == [])
        #expect(found([1, 3, 2]) == [.outOfOrder])
    }

    // MARK: Ends

    @Test func aKilledNodeExplainsTheEndsOfItsOwnProcessesAlone() {
        func found(_ role: String) -> [Violation.Kind] {
            var run = MadeUpRun(placement: Self.three)
            let (module, driver) = (run.process(role), run.process("driver"))
            run.wrote(module, Record(.setUp), Record(.ready))
            run.wrote(driver, .fault(.killNode, on: 0))
            return run.found()
        }
        #expect(found("Mill") == [])
        #expect(found("Shop") == [.unexplainedEnd])
    }

    @Test func anotherNodesBrokerExplainsNoEndOfASession() {
        func found(_ node: UInt8) -> [Violation.Kind] {
            var run = MadeUpRun(placement: Self.three)
            let (mill, driver) = (run.process("Mill"), run.process("driver"))
            run.wrote(mill, Record(.setUp), Record(.ready))
            run.wrote(driver, .fault(.killBroker, on: node))
            run.wrote(mill, Record(.session, number: 2), Record(.drained))
            return run.found()
        }
        #expect(found(0) == [])
        #expect(found(1) == [.unexplainedEnd])
    }

    // MARK: Notices

    /// `Clock` broadcasts 1 to 5, which `Mill` on another node is owed. It gets these, each with
    /// `missed`, and perhaps the nodes were parted after the second.
    private func found(_ notices: [(UInt64, UInt32)], isParted: Bool = false) -> [Violation.Kind] {
        var run = MadeUpRun(placement: Self.three)
        let (clock, mill) = (run.process("Clock"), run.process("Mill"))
        run.wrote(mill, Record(.ready))
        run.wrote(clock, Record(.ready))
        run.pass(milliseconds: 9_000)
        for number in 1...5 as ClosedRange<UInt64> {
            run.wrote(clock, .published("Clock", number))
            for (came, missed) in notices where came == number {
                run.wrote(mill, .noticed("Clock", of: clock, number, missed: missed))
            }
            if isParted, number == 2 {
                run.wrote(mill, Record(.nodeLost, kind: 1))
                run.wrote(mill, Record(.nodeBack, kind: 1))
            }
        }
        run.wrote(clock, Record(.flushed), Record(.drained))
        run.wrote(mill, Record(.drained))
        return run.found()
    }

    @Test func aNoticeOfAnotherNodeMayBeMissingIfALaterOneSaysSo() {
        #expect(found([(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]) == [])
        #expect(found([(1, 0), (4, 2), (5, 0)]) == [])
        #expect(found([(1, 0), (4, 1), (5, 0)]) == [.silentGap])
        #expect(found([(1, 0), (4, 0), (5, 0)]) == [.silentGap])
        #expect(found([(2, 0), (3, 0), (4, 0), (5, 0)]) == [.silentGap])
        #expect(found([(1, 0), (2, 0), (3, 0)]) == [.silentGap])
        #expect(found([]) == [.silentGap])
    }

    /// `Wheel` observes all by a pattern: `Clock` on its own node, and `Store` on another one.
    @Test func aPatternsNoticeOfOneNameMayTellOfWhatIsMissingOfAnother() {
        func found(_ missed: UInt32, nodes: Int = 3) -> [Violation.Kind] {
            var run = MadeUpRun(placement: RolePlacement(nodes: nodes))
            let (store, clock, wheel) = (run.process("Store"), run.process("Clock"), run.process("Wheel"))
            run.wrote(wheel, Record(.ready))
            run.pass(milliseconds: 9_000)
            for number in 1...3 as ClosedRange<UInt64> { run.wrote(store, .published("Store", number)) }
            for number in 1...2 as ClosedRange<UInt64> { run.wrote(clock, .published("Clock", number)) }
            run.wrote(
                wheel, .noticed("Store", of: store, 1, [.pattern, .retained]),
                .noticed("Clock", of: clock, 1, .pattern),
                .noticed("Clock", of: clock, 2, .pattern, missed: missed), .noticed("Store", of: store, 3, .pattern))
            for process in [store, clock] { run.wrote(process, Record(.flushed), Record(.drained)) }
            run.wrote(wheel, Record(.drained))
            return run.found()
        }
        #expect(found(1) == [])
        #expect(found(0) == [.silentGap])
        // On one node nothing is missing.
        #expect(found(1, nodes: 1).contains(.silentGap))
    }

    @Test func theProcessesOfARowOnTwoNodesDoNotFollowEachOther() {
        var run = MadeUpRun(placement: Self.three)
        let (ledger, first) = (run.process("Ledger"), run.process("Pool", on: 0))
        run.wrote(first, Record(.ready), Record(.setUp))
        run.pass(milliseconds: 9_000)
        run.wrote(ledger, .published("Ledger", 1))
        run.wrote(first, .noticed("Ledger", of: ledger, 1))
        let second = run.process("Pool", on: 1)
        run.wrote(second, Record(.setUp), Record(.ready))
        run.wrote(second, .noticed("Ledger", of: ledger, 1))
        run.wrote(first, Record(.tearDown), Record(.drained))
        run.wrote(second, Record(.drained))
        #expect(run.judged().filter { $0.kind == .silentGap }.isEmpty)
    }

    @Test func aGapSinceTheNodesWerePartedIsFoundAsSuch() {
        #expect(found([(1, 0), (4, 0), (5, 0)], isParted: true) == [.gapAfterParting])
        #expect(found([(1, 0), (4, 2), (5, 0)], isParted: true) == [])
        #expect(found([(1, 0), (2, 0), (1, 0), (4, 2), (5, 0)], isParted: true).contains(.silentGap))
    }

    @Test func anyNumberIsRightAfterTheDeathOfABroker() {
        func found(_ missed: UInt32, killed node: UInt8?) -> [Violation.Kind] {
            var run = MadeUpRun(placement: Self.three)
            let (clock, mill, driver) = (run.process("Clock"), run.process("Mill"), run.process("driver"))
            run.wrote(mill, Record(.ready))
            run.wrote(clock, .published("Clock", 1))
            run.wrote(mill, .noticed("Clock", of: clock, 1), Record(.nodeLost, kind: 1))
            if let node { run.wrote(driver, .fault(.killBroker, on: node)) }
            run.wrote(clock, .published("Clock", 2), .published("Clock", 3), .published("Clock", 4))
            run.wrote(mill, Record(.nodeBack, kind: 1), .noticed("Clock", of: clock, 4, missed: missed))
            return run.found(living: [mill, clock]).filter { $0 != .unexplainedEnd }
        }
        #expect(found(1, killed: 1) == [])
        #expect(found(0, killed: 1) == [.gapAfterParting])
        #expect(found(1, killed: 2) == [.gapAfterParting])
        #expect(found(1, killed: nil) == [.gapAfterParting])
        #expect(found(2, killed: nil) == [])
    }

    @Test func nothingIsOwedUntilTheNodesKnowOfTheObservation() {
        var run = MadeUpRun(placement: Self.three)
        let (clock, mill) = (run.process("Clock"), run.process("Mill"))
        run.wrote(mill, Record(.ready))
        for number in 1...3 as ClosedRange<UInt64> { run.wrote(clock, .published("Clock", number)) }
        run.wrote(mill, .noticed("Clock", of: clock, 3))
        run.wrote(clock, Record(.flushed), Record(.drained))
        run.wrote(mill, Record(.drained))
        #expect(run.found() == [])
    }
}
