import FaultJudge
import FaultRecord
import Testing

/// The judge's findings about requests that fail.
@Suite struct FailureJudgeTests {
    /// `Shop` (process 101) asks `Mill` (process 102), and gets this answer, with or without a
    /// fault before it.
    private func found(
        _ fault: Record?, _ code: String, _ kind: RequestKind = .atOnce, of callee: String = "Mill", after: UInt64 = 10
    ) -> [Violation.Kind] {
        var run = MadeUpRun()
        let (shop, mill, driver) = (run.process("Shop"), run.process("Mill"), run.process("driver"))
        if let fault { run.wrote(driver, fault) }
        run.pass(milliseconds: after)
        var sent = Record.sent(shop, 1, kind)
        sent.extra = UInt32(Role.index(of: callee) ?? 0) + 1
        run.wrote(shop, sent, .answered(shop, 1, code, .maybe), Record(.drained))
        run.wrote(mill, Record(.drained))
        return run.found()
    }

    @Test func aFailureNeedsAReason() {
        for code in ["died", "unavailable", "unauthorized", "unknown-instance", "deadline-exceeded"] {
            #expect(found(nil, code) == [.unexplainedFailure], "\(code)")
            #expect(found(.fault(.killModule, pid: 102), code) == [], "\(code)")
            #expect(found(.fault(.cutConnection, pid: 101), code) == [], "\(code)")
            #expect(found(.fault(.killBroker), code) == [], "\(code)")
            #expect(found(.fault(.killModule, pid: 999), code) == [.unexplainedFailure], "\(code)")
        }
    }

    @Test func aReplacementIsNone() {
        let mill = UInt64(Role.index(of: "Mill") ?? 0)
        #expect(found(.fault(.handOver, detail: 1), "died") == [.unexplainedFailure])
        #expect(found(.fault(.restartModule, detail: mill), "died") == [.unexplainedFailure])
        // But instances end with their owner's process.
        #expect(found(.fault(.restartModule, detail: mill), "unknown-instance", .instance) == [])
    }

    @Test func aReasonGrowsOld() {
        #expect(found(.fault(.killBroker), "died", after: 3_000) == [.unexplainedFailure])
        #expect(found(.fault(.killModule, pid: 102), "died", after: 9_000) == [.unexplainedFailure])
    }

    @Test func whatItsCallerWantedNeedsNone() {
        #expect(found(nil, "cancelled", .cancelled) == [])
        #expect(found(nil, "deadline-exceeded", .hurried) == [])
        #expect(found(nil, "overloaded") == [])
    }
}
