import FaultJudge
import FaultRecord
import Testing

/// The judge's findings about processes and sessions.
@Suite struct ProcessJudgeTests {
    /// `Mill` is ready, a fault hits it or not, and then it writes these records.
    private func found(_ fault: Record?, _ records: Record...) -> [Violation.Kind] {
        var run = MadeUpRun()
        let (mill, driver) = (run.process("Mill"), run.process("driver"))
        run.wrote(mill, Record(.setUp), Record(.ready))
        if let fault { run.wrote(driver, fault) }
        for record in records { run.wrote(mill, record) }
        return run.found()
    }

    private static let mill = UInt64(Role.index(of: "Mill") ?? 0)

    @Test func aSessionEndsByAFaultAlone() {
        let again = Record(.session, number: 2)
        #expect(found(nil, again, Record(.drained)) == [.unexplainedEnd])
        #expect(found(.fault(.handOver), again, Record(.drained)) == [.unexplainedEnd])
        #expect(found(.fault(.killBroker), again, Record(.drained)) == [])
        #expect(found(.fault(.cutConnection, pid: 101), again, Record(.drained)) == [])
        #expect(found(.fault(.cutConnection, pid: 999), again, Record(.drained)) == [.unexplainedEnd])
    }

    @Test func aProcessEndsByAFaultOrAReplacementAlone() {
        #expect(found(nil) == [.unexplainedEnd])
        #expect(found(.fault(.killModule, pid: 101)) == [])
        #expect(found(.fault(.killBroker)) == [.unexplainedEnd])
        #expect(found(nil, Record(.tearDown), Record(.drained)) == [.unexplainedEnd])
        #expect(found(.fault(.restartModule, detail: Self.mill), Record(.tearDown), Record(.drained)) == [])
        #expect(found(.fault(.restartModule, detail: 0), Record(.tearDown), Record(.drained)) == [.unexplainedEnd])
    }

    @Test func noneIsSetUpTwice() {
        #expect(found(nil, Record(.setUp), Record(.drained)) == [.doubled])
    }

    @Test func whatComesBehindTheLaunchersDeathIsNotJudged() {
        #expect(found(.fault(.killLauncher), Record(.tearDown)) == [])
    }
}
