import Testing

@testable import StrataPipe

/// Hello, welcome and bye.
struct HandshakeTests {
    @Test func theNodeThatSortsFirstSaysHelloEachSecond() {
        let link = LinkUnderTest()
        let hello = ControlMessage.hello(link.ownGreeting(0x100))
        #expect(link.done() == [.control(hello)])
        #expect(link.deadline == link.now + PipeTimes.second)
        link.wait(999)
        #expect(link.done() == [])
        link.wait(1)
        #expect(link.done() == [.control(hello)], "the same session is proposed again")
        #expect(link.life == .greeting)
    }

    @Test func theOtherNodeSaysNothingUntilItIsGreeted() {
        let link = LinkUnderTest(first: false)
        #expect(link.done() == [])
        #expect(link.deadline == nil)
    }

    @Test func nothingIsSaidWithoutACarrier() {
        let link = LinkUnderTest(connected: false)
        #expect(link.done() == [])
        #expect(link.deadline == nil)
        link.connect()
        #expect(link.controls().count == 1)
        link.pipe.carrierDisconnected(at: link.now)
        link.wait(5_000)
        #expect(link.done() == [])
    }

    @Test func aHelloIsWelcomedOnceTheBrokerIsConnected() {
        let link = LinkUnderTest(first: false)
        link.receive(.hello(link.greeting(session: 0x77)))
        #expect(link.done() == [.openBroker])
        link.pipe.brokerOpened(at: link.now)
        #expect(link.done().first == .control(.welcome(link.ownGreeting(0x77))))
        #expect(link.state.word == .up)
    }

    @Test func aWelcomeOpensTheBrokersConnection() {
        let link = LinkUnderTest()
        _ = link.done()
        link.receive(.welcome(link.greeting(session: 0x99)))
        #expect(link.done() == [], "it is of another session")
        link.receive(.welcome(link.greeting(session: 0x100)))
        #expect(link.done() == [.openBroker])
        #expect(link.state.word == .never)
        link.pipe.brokerOpened(at: link.now)
        #expect(link.pieces().map(\.header.flags) == [.asks], "a sign of life goes out at once")
        #expect(link.state.word == .up)
        link.receive(.welcome(link.greeting(session: 0x100)))
        #expect(link.done() == [], "a doubled welcome changes nothing")
    }

    @Test func theSmallerWindowCounts() {
        for (mine, others) in [(64 << 10, 128 << 10), (128 << 10, 64 << 10)] {
            let link = LinkUnderTest(window: mine)
            link.bringUp(window: others)
            #expect(link.room == 64 << 10)
        }
    }

    @Test func aLostWelcomeIsRepeatedForARepeatedHello() {
        let link = LinkUnderTest(first: false)
        link.bringUp()
        link.receive(.hello(link.greeting(session: 0x77)))
        #expect(link.controls() == [.welcome(link.ownGreeting(0x77))])
        #expect(link.life == .up)
    }

    @Test func aHelloOfAnotherProcessEndsTheSessionAtOnce() {
        let link = LinkUnderTest(first: false)
        link.bringUp()
        link.wait(1_000)
        link.receive(.hello(link.greeting(link: 0xC, session: 0x5)))
        #expect(link.losses().map(\.ending) == [.newLink])
        link.pipe.brokerClosed("", at: link.now)
        #expect(link.done() == [.openBroker], "and the next one begins without another hello")
        #expect(link.session == 0x5)
    }

    @Test func aNewSessionOfTheSameProcessReplacesTheOld() {
        let link = LinkUnderTest(first: false)
        link.bringUp()
        link.wait(1_000)
        link.receive(.hello(link.greeting(session: 0x78)))
        #expect(link.losses().map(\.ending) == [.newSession])
        link.pipe.brokerClosed("", at: link.now)
        #expect(link.done().contains(.openBroker))
    }

    @Test func aHelloThatComesWhileASessionIsClosedIsKept() {
        let link = LinkUnderTest(first: false)
        link.bringUp()
        link.wait(5_000)
        #expect(link.losses().count == 1)
        link.receive(.hello(link.greeting(session: 0x78)))
        #expect(!link.done().contains(.openBroker), "the broker has the old connection still")
        link.pipe.brokerClosed("", at: link.now)
        #expect(link.done() == [.openBroker])
    }

    @Test func sessionsThatAreReplacedAtOnceHaveToWait() {
        let link = LinkUnderTest(first: false)
        link.bringUp()
        link.wait(999)
        link.receive(.hello(link.greeting(session: 0x78)))
        _ = link.done()
        link.pipe.brokerClosed("", at: link.now)
        #expect(!link.done().contains(.openBroker))
        link.wait(1_000)
        link.receive(.hello(link.greeting(session: 0x78)))
        #expect(link.done().contains(.openBroker))
    }

    @Test func aLateHelloOfAReplacedProcessIsIgnored() {
        let link = LinkUnderTest(first: false)
        link.bringUp(link: 0xB)
        link.wait(1_000)
        link.receive(.hello(link.greeting(link: 0xC, session: 0x5)))
        _ = link.done()
        link.pipe.brokerClosed("", at: link.now)
        _ = link.done()
        link.pipe.brokerOpened(at: link.now)
        link.receive(.hello(link.greeting(link: 0xB, session: 0x77)))
        link.receive(.hello(link.greeting(link: 0xB, session: 0x78)))
        #expect(link.life == .up)
        #expect(link.session == 0x5)
        #expect(link.figures.stale == 2)
    }

    @Test func aHelloForASessionThatIsOverIsAnsweredSo() {
        let link = LinkUnderTest(first: false)
        link.bringUp(session: 0x77)
        link.receive(.hello(link.greeting(session: 0x76)))
        #expect(link.controls() == [.bye(session: 0x76, code: .unknownSession)])
        #expect(link.life == .up, "the later session goes on")
        link.pipe.brokerClosed("the frame is bad", at: link.now)
        #expect(link.controls() == [.bye(session: 0x77, code: .brokerClosed)])
        link.receive(.hello(link.greeting(session: 0x77)))
        #expect(link.controls() == [.bye(session: 0x77, code: .unknownSession)])
    }

    @Test func aRejectedSessionIsNotProposedAgain() {
        let link = LinkUnderTest()
        _ = link.done()
        link.receive(.bye(session: 0x100, code: .unknownSession))
        #expect(link.life == .idle)
        link.wait(1_000)
        #expect(link.controls() == [.hello(link.ownGreeting(0x101))])
    }

    @Test func piecesOfAnUnknownSessionAreCalledOverOnceASecond() {
        let link = LinkUnderTest(first: false)
        link.receive(PieceHeader(session: 0x42))
        #expect(link.done() == [.control(.bye(session: 0x42, code: .unknownSession))])
        link.wait(999)
        for _ in 0..<2 { link.receive(PieceHeader(session: 0x42)) }
        #expect(link.done() == [])
        link.wait(1_000)
        link.receive(PieceHeader(session: 0x42))
        #expect(link.done() == [.control(.bye(session: 0x42, code: .unknownSession))])
        #expect(link.figures.stale == 4)
    }

    @Test func piecesThatCameBeforeALostWelcomeAreNotCalledOver() {
        let link = LinkUnderTest()
        _ = link.done()
        link.receive(PieceHeader(session: 0x100))
        #expect(link.done() == [])
    }

    @Test func aByeEndsItsSessionAlone() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(.bye(session: 0x99, code: .shuttingDown))
        #expect(link.life == .up)
        link.write([1, 2, 3])
        _ = link.done()
        link.receive(.bye(session: 0x100, code: .shuttingDown))
        #expect(link.done() == [.closeBroker(NodeLoss(sent: 3, ending: .bye(.shuttingDown)))])
        #expect(link.state.word == .lost)
        link.pipe.brokerClosed("", at: link.now)
        link.wait(1_000)
        #expect(link.controls() == [.hello(link.ownGreeting(0x101))])
    }

    @Test func greetingsFromTheWrongSideAreCounted() {
        let first = LinkUnderTest()
        first.receive(.hello(first.greeting(session: 1)))
        var wrong = first.greeting(session: 0x100)
        wrong.node = "osaka"
        first.receive(.welcome(wrong))
        first.receive(control: Array("{}".utf8))
        #expect(first.figures.badControls == 3)
        let second = LinkUnderTest(first: false)
        second.receive(.welcome(second.greeting(session: 1)))
        #expect(second.figures.badControls == 1)
        #expect(second.done() == [])
    }

    @Test func anotherVersionIsAMismatchUntilItIsMended() {
        let link = LinkUnderTest()
        link.receive(control: Array(#"{"v":2}"#.utf8))
        #expect(link.state.word == .mismatch)
        #expect(link.state.why.contains("version 2"))
        link.bringUp()
        #expect(link.state.word == .up)
        link.receive(control: Array(#"{"v":2}"#.utf8))
        #expect(link.state.word == .up, "a session that works is no mismatch")
    }

    @Test func nobodyThereIsSaidSo() {
        let link = LinkUnderTest()
        _ = link.done()
        link.pipe.noResponders(at: link.now)
        #expect(link.state.word == .never)
        #expect(link.state.why.contains("no link listens"))
        #expect(link.life == .greeting)
    }
}
