import FaultJudge
import FaultRecord
import Testing

/// The judge's findings about notices.
@Suite struct NoticeJudgeTests {
    /// `Clock` broadcasts 1 to `count` and flushes. A role that was there from the start gets
    /// these notices. Both live to the end.
    private func found(
        _ role: String, _ notices: (UInt32) -> [Record], of publisher: String = "Clock", count: UInt64 = 5,
        before: [Record] = [Record(.ready)]
    ) -> [Violation.Kind] {
        var run = MadeUpRun()
        let (clock, observer) = (run.process(publisher), run.process(role))
        for record in before { run.wrote(observer, record) }
        for number in 1...count { run.wrote(clock, .published(publisher, number)) }
        for record in notices(clock) { run.wrote(observer, record) }
        run.wrote(clock, Record(.flushed), Record(.drained))
        run.wrote(observer, Record(.drained))
        return run.found()
    }

    private func clock(_ numbers: [UInt64]) -> (UInt32) -> [Record] {
        { process in numbers.map { .noticed("Clock", of: process, $0) } }
    }

    @Test func oneAfterAnotherIsRight() {
        #expect(found("Mill", clock([1, 2, 3, 4, 5])) == [])
    }

    @Test func oneThatIsMissingIsFoundWhereverItIs() {
        for gap in 1...5 as ClosedRange<UInt64> {
            let rest = clock([1, 2, 3, 4, 5].filter { $0 != gap })
            #expect(found("Mill", rest) == [.silentGap], "number \(gap)")
        }
        #expect(found("Mill", clock([])) == [.silentGap])
    }

    @Test func oneThatComesAgainOrLateIsFound() {
        #expect(found("Mill", clock([1, 2, 2, 3, 4, 5])) == [.silentGap])
        #expect(found("Mill", clock([1, 3, 2, 4, 5])).contains(.silentGap))
    }

    @Test func oneThatWasNeverSentIsFound() {
        #expect(found("Mill", clock([1, 2, 3, 4, 5, 6])) == [.silentGap])
    }

    @Test func aPatternTakesAllNamesEachInItsOrder() {
        func found(_ numbers: [UInt64], ofAPattern: Bool = true) -> [Violation.Kind] {
            var run = MadeUpRun()
            let (clock, mill, shop) = (run.process("Clock"), run.process("Mill"), run.process("Shop"))
            run.wrote(shop, Record(.ready))
            for number in 1...3 as ClosedRange<UInt64> { run.wrote(clock, .published("Clock", number)) }
            for number in 1...3 as ClosedRange<UInt64> { run.wrote(mill, .published("Mill", number)) }
            for number in 1...3 as ClosedRange<UInt64> {
                run.wrote(shop, .noticed("Clock", of: clock, number, .pattern))
            }
            // Shop observes Mill by its name, too.
            for number in 1...3 as ClosedRange<UInt64> { run.wrote(shop, .noticed("Mill", of: mill, number)) }
            for number in numbers { run.wrote(shop, .noticed("Mill", of: mill, number, ofAPattern ? .pattern : [])) }
            for process in [clock, mill] { run.wrote(process, Record(.flushed), Record(.drained)) }
            run.wrote(shop, Record(.drained))
            return run.found()
        }
        #expect(found([1, 2, 3]) == [])
        #expect(found([1, 3]) == [.silentGap])
        #expect(found([1, 2]) == [.silentGap])
        #expect(found([1, 2, 2, 3]) == [.silentGap])
        #expect(found([]) == [.silentGap])
        #expect(found([1, 2, 3], ofAPattern: false).contains(.silentGap))
    }

    @Test func whatIsReplacedIsTold() {
        let press: ([(UInt64, UInt32)]) -> (UInt32) -> [Record] = { list in
            { process in
                list.map { .noticed("Clock", of: process, $0.0, .latest, missed: $0.1) }
            }
        }
        #expect(found("Press", press([(1, 0), (4, 2), (5, 0)])) == [])
        #expect(found("Press", press([(3, 2), (5, 1)])) == [])
        #expect(found("Press", press([(1, 0), (4, 1), (5, 0)])) == [.silentGap])
        #expect(found("Press", press([(1, 0), (4, 3), (5, 0)])) == [.silentGap])
        #expect(found("Press", press([(3, 1), (4, 0), (5, 0)])) == [.silentGap])
        // The newest notice is never replaced.
        #expect(found("Press", press([(1, 0), (4, 2)])) == [.silentGap])
    }

    @Test func theLastOfOneProcessMayBeReplacedByTheFirstOfTheNext() {
        for missed in 0...3 as ClosedRange<UInt32> {
            var run = MadeUpRun()
            let (old, new, press) = (run.process("Depot"), run.process("Depot"), run.process("Press"))
            run.wrote(press, Record(.ready))
            for number in 1...3 as ClosedRange<UInt64> { run.wrote(old, .published("Depot", number)) }
            run.wrote(press, .noticed("Depot", of: old, 1, .latest))
            run.wrote(old, Record(.flushed), Record(.drained))
            run.wrote(new, .published("Depot", 1))
            run.wrote(press, .noticed("Depot", of: new, 1, .latest, missed: missed))
            run.wrote(new, Record(.flushed), Record(.drained))
            // Drained at the run's end and again at its own end: the missed notices are reported
            // only once.
            run.wrote(press, Record(.drained))
            if missed >= 2 { run.wrote(press, Record(.drained)) }
            #expect(run.found() == (missed < 2 ? [.silentGap] : []), "missed \(missed)")
        }
    }

    @Test func nothingIsOwedBeforeTheStartsEnd() {
        #expect(found("Mill", clock([4, 5]), before: []) == [])
    }

    @Test func aGapAcrossASessionsEndIsNotSilent() {
        var run = MadeUpRun()
        let (clock, mill, driver) = (run.process("Clock"), run.process("Mill"), run.process("driver"))
        run.wrote(mill, Record(.ready))
        for number in 1...3 as ClosedRange<UInt64> { run.wrote(clock, .published("Clock", number)) }
        run.wrote(mill, .noticed("Clock", of: clock, 1))
        run.wrote(driver, .fault(.cutConnection, pid: 102))
        run.wrote(mill, Record(.session, number: 2))
        for number in 4...5 as ClosedRange<UInt64> { run.wrote(clock, .published("Clock", number)) }
        var broken = run
        for number in 4...5 as ClosedRange<UInt64> { run.wrote(mill, .noticed("Clock", of: clock, number)) }
        run.wrote(clock, Record(.flushed), Record(.drained))
        run.wrote(mill, Record(.drained))
        #expect(run.found() == [])
        // But what was sent in the new session must arrive.
        broken.wrote(mill, .noticed("Clock", of: clock, 5), Record(.drained))
        broken.wrote(clock, Record(.drained))
        #expect(broken.found() == [.silentGap])
    }

    @Test func aRefusedBroadcastsNumberComesAgain() {
        var run = MadeUpRun()
        let (clock, mill) = (run.process("Clock"), run.process("Mill"))
        run.wrote(mill, Record(.ready))
        let refused = Record(.refused, kind: Role.index(of: "Clock") ?? 0, number: 1, detail: 1)
        run.wrote(clock, .published("Clock", 1), refused, .published("Clock", 1), Record(.flushed))
        run.wrote(mill, .noticed("Clock", of: clock, 1), Record(.drained))
        #expect(run.found() == [])
    }

    /// `Desk` is replaced by another process under `overlap`. The old process gets the notices
    /// `old`, and the new one gets `new`.
    private func overlapped(old: [UInt64], new: [UInt64]) -> [Violation.Kind] {
        var run = MadeUpRun()
        let (clock, first, driver) = (run.process("Clock"), run.process("Desk"), run.process("driver"))
        run.wrote(first, Record(.ready))
        run.wrote(driver, .fault(.restartModule, detail: UInt64(Role.index(of: "Desk") ?? 0)))
        let second = run.process("Desk")
        run.wrote(second, Record(.setUp), Record(.ready))
        for number in 1...5 as ClosedRange<UInt64> { run.wrote(clock, .published("Clock", number)) }
        for number in old { run.wrote(first, .noticed("Clock", of: clock, number)) }
        for number in new { run.wrote(second, .noticed("Clock", of: clock, number)) }
        run.wrote(first, Record(.tearDown), Record(.drained))
        return run.found()
    }

    @Test func twoProcessesOfARowHaveEachNoticeOnceBetweenThem() {
        #expect(overlapped(old: [1, 2], new: [3, 4, 5]) == [])
        #expect(overlapped(old: [1, 2], new: [4, 5]) == [.silentGap])
        #expect(overlapped(old: [1, 2, 3], new: [3, 4, 5]) == [.silentGap])
    }
}
