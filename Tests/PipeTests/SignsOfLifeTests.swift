import Testing

@testable import StrataPipe

/// Signs of life, stalls, losses, and what follows them.
struct SignsOfLifeTests {
    @Test func aSignGoesOutEachSecondAndIsAnsweredAtOnce() {
        let link = LinkUnderTest()
        link.bringUp()
        #expect(link.deadline == link.now + PipeTimes.second)
        link.wait(1_000)
        #expect(link.pieces().map(\.header.flags) == [[]], "its question is still open, so it asks no other one")
        link.wait(3)
        link.receive(flags: .answers, probe: 2)
        #expect(link.roundTrip == 0, "it answers another question")
        link.receive(flags: .answers, probe: 1)
        #expect(link.roundTrip == 1_003 * PipeTimes.millisecond)
        link.wait(5)
        link.receive(flags: .answers, probe: 1)
        #expect(link.roundTrip == 1_003 * PipeTimes.millisecond, "only the first answer counts")
        link.receive(flags: .asks, probe: 700)
        let answer = link.pieces()
        #expect(answer.map(\.header.flags) == [.answers])
        #expect(answer.map(\.header.probe) == [700])
    }

    @Test func aQuestionWhoseAnswerSeemsLostIsAskedAnew() {
        let link = LinkUnderTest()
        link.bringUp()
        for second in 1...10 {
            link.wait(1_000)
            link.receive()
            #expect(link.pieces().map(\.header.probe) == [second < 10 ? 0 : 2])
        }
    }

    @Test func silenceStallsAndIsForgivenIfItEndsInTime() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1, 2])
        _ = link.done()
        for _ in 0..<24 { link.wait(100) }
        #expect(link.life == .up)
        link.wait(100)
        #expect(link.life == .stalled(.silent))
        #expect(link.state.word == .stalled)
        #expect(link.room == 0, "the broker isn't read")
        #expect(link.pieces().allSatisfy { $0.bytes.isEmpty }, "nothing but signs is published")
        link.wait(2_400)
        link.receive(ack: 1)
        #expect(link.life == .up)
        #expect(link.state.word == .up)
        #expect(link.pieces().map(\.bytes) == [[2]], "what may be lost is sent again at once")
        #expect(link.losses() == [])
    }

    @Test func longSilenceIsALossWithWhatWasSent() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1, 2, 3])
        _ = link.done()
        link.wait(2_500)
        _ = link.done()
        link.wait(2_499)
        #expect(link.losses() == [])
        link.wait(1)
        #expect(
            link.done() == [
                .closeBroker(NodeLoss(sent: 3, ending: .silence(5 * PipeTimes.second))),
                .control(.bye(session: 0x100, code: .lost)),
            ])
        #expect(link.state.why == "nothing was heard of it for 5.0 s")
        link.pipe.brokerClosed("", at: link.now)
        #expect(link.controls() == [.hello(link.ownGreeting(0x101))], "the next session is proposed at once")
    }

    @Test func bytesThatWereNeverPublishedAreNotCountedAsSent() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1])
        _ = link.done()
        link.write([2, 3])
        link.pipe.carrierDisconnected(at: link.now)
        #expect(link.done() == [])
        link.wait(5_000)
        #expect(link.losses().map(\.sent) == [1])
    }

    @Test func aShortTimeToLossStallsEarlier() {
        let link = LinkUnderTest(lost: 2 * PipeTimes.second)
        link.bringUp()
        link.wait(1_499)
        #expect(link.life == .up)
        link.wait(1)
        #expect(link.life == .stalled(.silent))
        link.wait(500)
        #expect(link.losses().count == 1)
    }

    @Test func nobodyListeningStallsAtOnceAndIsAskedOften() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1])
        _ = link.done()
        link.pipe.noResponders(at: link.now)
        #expect(link.life == .stalled(.noResponders))
        #expect(link.pieces().map(\.bytes) == [[]], "a sign at once shows whether an older message was meant")
        link.pipe.noResponders(at: link.now)
        #expect(link.done() == [])
        #expect(link.deadline == link.now + 250 * PipeTimes.millisecond)
        link.wait(250)
        #expect(link.pieces().count == 1)
        link.receive()
        #expect(link.pieces().map(\.bytes) == [[1]])
        #expect(link.figures.sessions == 1)
    }

    @Test func anAbsenceOfTheCarrierCostsTimeAlone() {
        for first in [true, false] {
            let link = LinkUnderTest(first: first)
            link.bringUp()
            link.write([1])
            _ = link.done()
            link.pipe.carrierDisconnected(at: link.now)
            #expect(link.state.why.contains("no connection to NATS"))
            link.wait(4_900)
            #expect(link.done() == [])
            link.connect()
            #expect(link.pieces().map(\.header.flags) == [[.asks, .wantsResend]], "both sides ask")
            #expect(link.room == 0, "the other link isn't heard yet")
            link.receive()
            #expect(link.pieces().map(\.bytes) == [[1]])
            link.wait(200)
            #expect(link.losses() == [], "the time without a carrier is no time without progress")
            #expect(link.figures.sessions == 1)
        }
    }

    @Test func aMessageThatCameBeforeTheCarrierLeftIsNoReturn() {
        let link = LinkUnderTest()
        link.bringUp()
        link.pipe.carrierDisconnected(at: link.now)
        link.receive()
        #expect(link.life == .stalled(.carrierLost))
    }

    @Test func aCutInOneDirectionIsALossToo() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1, 2])
        _ = link.done()
        for _ in 0..<49 {
            link.wait(100)
            link.receive()
            #expect(link.losses() == [])
        }
        link.wait(100)
        link.receive()
        #expect(link.losses() == [NodeLoss(sent: 2, ending: .unheard(5 * PipeTimes.second))])
    }

    @Test func aSlowBrokerIsNoLoss() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1, 2])
        _ = link.done()
        for _ in 0..<600 {
            link.wait(100)
            link.receive(ack: 0, waiting: 2)
            _ = link.done()
        }
        #expect(link.life == .up)
        #expect(link.figures.resent == 0, "and what it has is not sent again")
    }

    @Test func aLinkThatNeverOpensIsLostToo() {
        let link = LinkUnderTest()
        _ = link.done()
        link.receive(.welcome(link.greeting(session: 0x100)))
        #expect(link.done() == [.openBroker])
        #expect(link.deadline == link.now + 5 * PipeTimes.second)
        link.wait(5_000)
        #expect(link.losses().count == 1)
    }

    @Test func piecesThatComeBeforeTheBrokerIsConnectedAreKept() {
        let link = LinkUnderTest()
        _ = link.done()
        link.receive(.welcome(link.greeting(session: 0x100)))
        _ = link.done()
        link.receive(offset: 0, bytes: [5, 6])
        link.pipe.brokerOpened(at: link.now)
        #expect(link.take() == [5, 6])
    }

    @Test func aSessionThatOpensWithoutACarrierWaitsForIt() {
        let link = LinkUnderTest()
        _ = link.done()
        link.receive(.welcome(link.greeting(session: 0x100)))
        _ = link.done()
        link.pipe.carrierDisconnected(at: link.now)
        link.pipe.brokerOpened(at: link.now)
        #expect(link.life == .stalled(.carrierLost))
        #expect(link.state.word == .stalled)
    }

    @Test func whatCameBeforeAnEndStillReachesTheBroker() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(offset: 0, bytes: [5, 6])
        link.receive(.bye(session: 0x100, code: .shuttingDown))
        #expect(link.losses().count == 1)
        #expect(link.take() == [5, 6])
    }

    @Test func aBrokerThatEndsSessionsIsLeftAloneForLongerEachTime() {
        let link = LinkUnderTest()
        for seconds: UInt64 in [1, 2, 4, 8, 16, 30, 30] {
            link.bringUp()
            link.pipe.brokerClosed("bad-frame", at: link.now)
            #expect(link.controls() == [.bye(session: link.session, code: .brokerClosed)])
            #expect(link.state.why.contains("bad-frame"))
            #expect(link.deadline == link.now + seconds * PipeTimes.second)
            link.wait(seconds * 1_000 - 1)
            #expect(link.done() == [])
            link.wait(1)
        }
        link.bringUp()
        for _ in 0..<30 {
            link.wait(1_000)
            link.receive()
        }
        link.pipe.brokerClosed("bad-frame", at: link.now)
        _ = link.done()
        #expect(link.deadline == link.now + PipeTimes.second, "a long session ends the penalty")
    }

    @Test func theOtherSideAlsoWaitsAfterItsBrokersEnd() {
        let link = LinkUnderTest(first: false)
        link.bringUp(session: 0x77)
        link.pipe.brokerClosed("bad-frame", at: link.now)
        _ = link.done()
        link.wait(999)
        link.receive(.hello(link.greeting(session: 0x78)))
        #expect(link.done() == [])
        link.wait(1)
        link.receive(.hello(link.greeting(session: 0x78)))
        #expect(link.done() == [.openBroker])
    }

    @Test func anEndInOrderSaysBye() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1])
        _ = link.done()
        link.pipe.shutDown(at: link.now)
        #expect(!link.isOver)
        #expect(
            link.done() == [
                .closeBroker(NodeLoss(sent: 1, ending: .shutDown)),
                .control(.bye(session: 0x100, code: .shuttingDown)),
            ])
        link.pipe.brokerClosed("", at: link.now)
        #expect(link.isOver)
        link.wait(10_000)
        #expect(link.done() == [], "no session is proposed again")
    }

    @Test func aLinkThatEndsAcceptsNoSession() {
        let link = LinkUnderTest(first: false)
        link.pipe.shutDown(at: link.now)
        link.receive(.hello(link.greeting(session: 0x77)))
        #expect(link.done() == [.control(.bye(session: 0x77, code: .shuttingDown))])
    }
}
