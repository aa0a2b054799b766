import FaultJudge
import FaultRecord
import Testing

/// The judge's findings about retained broadcasts: `Store` retains all that it broadcasts.
@Suite struct RetainedJudgeTests {
    /// `Bell` has had numbers 1 to 3 of `Store` when another observer comes, which gets these notices.
    /// `Store` has also sent number 4 by then if `hasFour`, and flushes at the end.
    private func found(
        _ notices: (UInt32) -> [Record], by role: String = "Bell", hasFour: Bool = true
    ) -> [Violation.Kind] {
        var run = MadeUpRun()
        let (store, bell) = (run.process("Store"), run.process("Bell"))
        run.wrote(bell, Record(.ready))
        for number in 1...3 as ClosedRange<UInt64> {
            run.wrote(store, .published("Store", number))
            run.wrote(bell, .noticed("Store", of: store, number))
        }
        let other = run.process(role)
        run.wrote(other, Record(.setUp), Record(.ready))
        if hasFour {
            run.wrote(store, .published("Store", 4))
            run.wrote(bell, .noticed("Store", of: store, 4))
        }
        for record in notices(store) { run.wrote(other, record) }
        run.wrote(store, Record(.flushed), Record(.drained))
        run.wrote(bell, Record(.drained))
        run.wrote(other, Record(.drained))
        return run.found()
    }

    @Test func theLastOneComesFirstToWhoeverBeginsToObserve() {
        #expect(found { [.noticed("Store", of: $0, 3, .retained), .noticed("Store", of: $0, 4)] } == [])
        #expect(found { [.noticed("Store", of: $0, 4, .retained)] } == [])
        #expect(found { [.noticed("Store", of: $0, 4)] } == [.silentGap])
    }

    @Test func anOlderOneIsFound() {
        #expect(found { store in [2, 3].map { .noticed("Store", of: store, $0, .retained) } }.contains(.silentGap))
        #expect(found({ [.noticed("Store", of: $0, 2, .retained)] }, hasFour: false).contains(.silentGap))
        // Nor may it come after a newer one.
        #expect(
            found { [.noticed("Store", of: $0, 4, .retained), .noticed("Store", of: $0, 3, .retained)] }
                .contains(.silentGap))
    }

    @Test func noneIsFoundEvenIfNothingFollows() {
        #expect(found({ _ in [] }, hasFour: false) == [.silentGap])
        #expect(found({ [.noticed("Store", of: $0, 3, .retained)] }, hasFour: false) == [])
    }

    @Test func aNewerOneMayReplaceItUnderKeepLatest() {
        let latest = NoticeTraits.latest
        #expect(found({ [.noticed("Store", of: $0, 4, latest, missed: 1)] }, by: "Gate") == [])
        #expect(found({ [.noticed("Store", of: $0, 4, latest)] }, by: "Gate") == [.silentGap])
    }

    @Test func nothingIsRetainedOfASessionThatIsOver() {
        var run = MadeUpRun()
        let (store, bell, driver) = (run.process("Store"), run.process("Bell"), run.process("driver"))
        run.wrote(bell, Record(.ready))
        run.wrote(store, .published("Store", 1))
        run.wrote(bell, .noticed("Store", of: store, 1))
        run.wrote(driver, .fault(.killModule, pid: 101))
        let other = run.process("Bell")
        run.wrote(other, Record(.setUp), Record(.ready), Record(.drained))
        run.wrote(bell, Record(.drained))
        #expect(run.found() == [])
    }

    @Test func itComesAgainInTheNextSession() {
        func found(_ traits: NoticeTraits) -> [Violation.Kind] {
            var run = MadeUpRun()
            let (store, bell, driver) = (run.process("Store"), run.process("Bell"), run.process("driver"))
            run.wrote(bell, Record(.ready))
            run.wrote(store, .published("Store", 1))
            run.wrote(bell, .noticed("Store", of: store, 1), .noticed("Clock", of: 9, 1))
            run.wrote(driver, .fault(.cutConnection, pid: 102))
            run.wrote(bell, Record(.session, number: 2), .noticed("Store", of: store, 1, traits))
            run.wrote(store, Record(.flushed), Record(.drained))
            run.wrote(bell, Record(.drained))
            return run.judged().filter { !$0.text.contains("Clock") }.map(\.kind)
        }
        #expect(found(.retained) == [])
        #expect(found([]) == [.silentGap])
    }
}
