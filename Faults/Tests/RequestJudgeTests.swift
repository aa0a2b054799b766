import FaultJudge
import FaultRecord
import Testing

/// The judge's findings about requests.
@Suite struct RequestJudgeTests {
    private static let drained = Record(.drained)

    /// A caller (`Shop`) and a callee (`Mill`) live to the end, with one request of the caller's.
    /// The broker was killed just before, so anything may fail.
    private func found(_ caller: [Record], _ callee: [Record], drained: Bool = true) -> [Violation.Kind] {
        var run = MadeUpRun()
        let (shop, mill, driver) = (run.process("Shop"), run.process("Mill"), run.process("driver"))
        run.wrote(driver, .fault(.killBroker))
        for record in caller { run.wrote(shop, record) }
        for record in callee { run.wrote(mill, record) }
        if drained { run.wrote(shop, Self.drained) }
        run.wrote(mill, Self.drained)
        return run.found()
    }

    private let started = Record.of(.started, 1, 1)
    private let ended = Record.of(.ended, 1, 1)

    @Test func whatWasRunOnceAndAnsweredOnceIsRight() {
        #expect(found([.sent(1, 1), .answered(1, 1)], [started, ended]) == [])
    }

    @Test func aRequestWithoutAnswerIsLostWhereItsProcessLived() {
        #expect(found([.sent(1, 1)], [started, ended]) == [.lost])
        #expect(found([.sent(1, 1)], [started, ended], drained: false) == [])
    }

    @Test func aProcessThatLivesAtTheEndIsOwedItsAnswers() {
        var run = MadeUpRun()
        let shop = run.process("Shop")
        run.wrote(shop, .sent(1, 1))
        #expect(run.found() == [])
        #expect(run.found(living: [shop]) == [.lost])
    }

    @Test func aSecondAnswerIsFound() {
        #expect(found([.sent(1, 1), .answered(1, 1), .answered(1, 1)], [started, ended]) == [.doubled])
        #expect(found([.sent(1, 1), .answered(1, 1), .of(.answeredAgain, 1, 1)], [started, ended]).contains(.doubled))
    }

    @Test func aRequestThatRanTwiceIsFoundWhateverItsAnswer() {
        #expect(found([.sent(1, 1), .answered(1, 1, "died", .maybe)], [started, started]) == [.doubled])
        #expect(found([.sent(1, 1), .answered(1, 1)], [started, started, ended]).contains(.doubled))
    }

    @Test func noIsWrongWhereItWasBegun() {
        #expect(found([.sent(1, 1), .answered(1, 1, "died", .no)], [started]) == [.wrongVerdict])
        #expect(found([.sent(1, 1), .answered(1, 1, "died", .no)], []) == [])
    }

    @Test func yesIsWrongWhereNobodyHasBegunIt() {
        #expect(found([.sent(1, 1), .answered(1, 1, "Store.full", .yes)], []) == [.wrongVerdict])
        #expect(found([.sent(1, 1), .answered(1, 1, "Store.full", .yes)], [started, ended]) == [])
    }

    @Test func maybeIsRightEitherWay() {
        #expect(found([.sent(1, 1), .answered(1, 1, "died", .maybe)], []) == [])
        #expect(found([.sent(1, 1), .answered(1, 1, "died", .maybe)], [started]) == [])
    }

    @Test func aReplyToWhatNobodyHasRunOrFinishedIsWrong() {
        #expect(found([.sent(1, 1), .answered(1, 1)], []) == [.wrongVerdict])
        #expect(found([.sent(1, 1), .answered(1, 1)], [started]) == [.wrongVerdict])
    }

    @Test func aReportRunsAsOftenAsItsReplyHasObservers() {
        #expect(found([.sent(1, 1, .report), .answered(1, 1, extra: 2)], [started, ended, started, ended]) == [])
        #expect(found([.sent(1, 1, .report), .answered(1, 1, extra: 1)], []) == [.wrongVerdict])
    }

    @Test func whatTheBrokerAnswersItselfRunsNowhere() {
        #expect(found([.sent(1, 1, .bus), .answered(1, 1)], []) == [])
    }

    @Test func anothersReplyAndACodeThatNoFaultExplainsAreWrong() {
        #expect(found([.sent(1, 1), .of(.wrongReply, 1, 1)], [started, ended]) == [.wrongVerdict])
        #expect(found([.sent(1, 1), .answered(1, 1, "forbidden", .no)], []) == [.wrongVerdict])
    }

    @Test func aRequestThatNobodySentIsFound() {
        #expect(found([], [Record.of(.started, 1, 7)]) == [.wrongVerdict])
    }

    @Test func whatTheCallerGaveUpIsNotOwed() {
        #expect(found([.sent(1, 1), .of(.gaveUp, 1, 1)], [started]) == [])
    }

    @Test func whatAPeerHadOpenWhenItsSessionEndedIsNotOwedAndNoMoreThanThat() {
        var run = MadeUpRun()
        let (late, driver) = (run.process("Late"), run.process("driver"))
        run.wrote(late, Record(.session, number: 1), .sent(1, 1))
        run.wrote(driver, .fault(.killBroker))
        run.wrote(late, Record(.closed, extra: 1), Record(.session, number: 2), .sent(1, 2), Self.drained)
        #expect(run.judged().map(\.request?.index) == [2])
        #expect(run.found() == [.lost])
    }

    @Test func whatAHandlerAsksForBehindTearDownIsNotOwed() {
        func found(parent: UInt64) -> [Violation.Kind] {
            var run = MadeUpRun()
            let (kiln, mill) = (run.process("Kiln"), run.process("Mill"))
            run.wrote(mill, .sent(2, 1), .answered(2, 1), Self.drained)
            run.wrote(kiln, Record(.setUp), Record(.tearDown), .of(.started, 2, 1))
            var child = Record.sent(kiln, 1)
            child.detail = parent
            run.wrote(kiln, child, .of(.ended, 2, 1), Self.drained)
            return run.found()
        }
        #expect(found(parent: RequestNumber(process: 2, index: 1).value) == [])
        #expect(found(parent: 0) == [.lost])
    }
}
