import Testing

@testable import StrataPipe

/// Bytes, places, windows and resends.
struct PipeStreamTests {
    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) } }

    @Test func allThatTheBrokerWroteGoesOutAsOnePiece() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1, 2])
        link.write([3])
        let pieces = link.pieces()
        #expect(pieces.map(\.bytes) == [[1, 2, 3]])
        #expect(pieces[0].header.offset == 0)
        #expect(pieces[0].header.flags == [])
        link.write([4])
        #expect(link.pieces().map(\.header.offset) == [3])
        #expect(link.sent == 4)
    }

    @Test func aPieceIsAsLargeAsTheCarrierTakes() {
        let link = LinkUnderTest(connected: false)
        link.pipe.carrierConnected(largestMessage: 8 << 10, at: link.now)
        link.bringUp()
        let bytes = Self.bytes(20_000)
        link.write(bytes)
        let pieces = link.pieces().map(\.bytes)
        #expect(pieces.map(\.count) == [8_160, 8_160, 3_680])
        #expect(pieces.flatMap { $0 } == bytes)
    }

    @Test func theWindowCountsWhatTheBrokersSocketHasTaken() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write(Self.bytes(64 << 10))
        #expect(link.room == 0)
        _ = link.done()
        link.receive(ack: 0, waiting: 64 << 10)
        #expect(link.unacknowledged == 0)
        #expect(link.room == 0, "the other broker hasn't taken anything")
        link.receive(ack: 1_000, waiting: (64 << 10) - 1_000)
        #expect(link.room == 1_000)
        link.receive(ack: 500, waiting: 0)
        #expect(link.room == 1_000, "older news changes nothing")
    }

    @Test func bytesReachTheBrokerOnceAndInOrder() {
        let link = LinkUnderTest()
        link.bringUp()
        let bytes = Self.bytes(100)
        link.receive(offset: 0, bytes: Array(bytes[..<40]))
        link.receive(offset: 0, bytes: Array(bytes[..<40]))
        link.receive(offset: 30, bytes: Array(bytes[30..<60]))
        link.receive(offset: 70, bytes: Array(bytes[70...]))
        link.receive(offset: 60, bytes: Array(bytes[60..<70]))
        #expect(link.take() == Array(bytes[..<70]))
        #expect(link.figures.duplicates == 1)
        #expect(link.figures.gaps == 1)
    }

    @Test func anAcknowledgementWaitsForAPieceThatTakesItAlong() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(offset: 0, bytes: [1, 2, 3])
        #expect(link.take(2) == [1, 2])
        #expect(link.done() == [])
        link.wait(25)
        let pieces = link.pieces()
        #expect(pieces.map(\.header.ack) == [2])
        #expect(pieces.map(\.header.waiting) == [1])
        #expect(link.take() == [3])
        link.write([9])
        #expect(link.pieces().map(\.header.ack) == [3])
        link.wait(100)
        #expect(link.done() == [], "it went along")
    }

    @Test func whoSendsBytesAgainIsToldThatTheyCame() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(offset: 0, bytes: [1, 2, 3])
        link.wait(25)
        #expect(link.pieces().map(\.header.wanted) == [3])
        link.receive(offset: 0, bytes: [1, 2, 3])
        #expect(link.done() == [])
        link.wait(25)
        #expect(link.pieces().map(\.header.wanted) == [3])
    }

    @Test func aQuarterOfTheWindowIsAcknowledgedAtOnce() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(offset: 0, bytes: Self.bytes(16 << 10))
        #expect(link.take((16 << 10) - 1).count == (16 << 10) - 1)
        #expect(link.done() == [])
        #expect(link.take().count == 1)
        #expect(link.pieces().map(\.header.ack) == [16 << 10])
    }

    @Test func eachGapIsAskedForOnce() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(offset: 10, bytes: [1])
        let asked = link.pieces()
        #expect(asked.map(\.header.flags) == [.wantsResend])
        #expect(asked.map(\.header.wanted) == [0])
        for _ in 0..<2 { link.receive(offset: 10, bytes: [1]) }
        #expect(link.done() == [])
        link.receive(offset: 0, bytes: [0, 0])
        link.receive(offset: 10, bytes: [1])
        #expect(link.pieces().map(\.header.flags) == [.wantsResend], "it is another gap")
        #expect(link.figures.gaps == 4)
    }

    @Test func aGapIsAskedForAgainAfterAnAbsenceOfTheCarrier() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(offset: 10, bytes: [1])
        _ = link.done()
        link.pipe.carrierDisconnected(at: link.now)
        link.connect()
        #expect(link.pieces().map(\.header.flags) == [[.asks, .wantsResend]])
        link.receive(offset: 10, bytes: [1])
        #expect(link.pieces().map(\.header.flags) == [.wantsResend])
    }

    @Test func aSignShowsALossAtTheEndOfTheStream() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(offset: 5, flags: .asks, probe: 1)
        #expect(link.pieces().map(\.header.flags) == [[.answers, .wantsResend]])
        link.write([1, 2, 3])
        _ = link.done()
        link.receive(ack: 3)
        link.wait(1_000)
        #expect(link.pieces().map(\.header.offset) == [3])
    }

    @Test func aResendBeginsAtTheFirstMissingByte() {
        let link = LinkUnderTest()
        link.bringUp()
        for byte in 0..<4 {
            link.write([UInt8(byte)])
            _ = link.done()
        }
        link.wait(100)
        link.receive(ack: 1, waiting: 1, flags: .wantsResend)
        link.write([4])
        let pieces = link.pieces()
        #expect(pieces.map(\.bytes) == [[2, 3], [4]])
        #expect(pieces.map(\.header.offset) == [2, 4])
        #expect(pieces.map { $0.header.flags.contains(.isResend) } == [true, false])
        #expect(link.figures.resent == 2)
        #expect(link.sent == 5, "what is published again counts once")
    }

    @Test func bytesThatCameMeanwhileAreNotSentAgain() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([0, 1, 2, 3])
        _ = link.done()
        link.wait(100)
        link.pipe.carrierRoomChanged(false)
        link.receive(flags: .wantsResend)
        link.receive(ack: 3)
        link.pipe.carrierRoomChanged(true)
        #expect(link.pieces().map(\.bytes) == [[3]])
    }

    @Test func bytesThatWereNotPublishedCantBeAcknowledged() {
        let link = LinkUnderTest()
        link.bringUp()
        link.pipe.carrierRoomChanged(false)
        link.write([1])
        link.receive(ack: 1)
        #expect(link.figures.badPieces == 1)
        #expect(link.room == (64 << 10) - 1)
    }

    @Test func whoAlwaysAsksGetsTheWindowOnceInFiftyMilliseconds() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write(Self.bytes(64 << 10))
        _ = link.done()
        for _ in 0..<200 {
            link.wait(1)
            link.receive(flags: .wantsResend)
            _ = link.done()
        }
        #expect(link.figures.resent <= 5 * (64 << 10))
        #expect(link.figures.resent >= 4 * (64 << 10))
    }

    @Test func bytesAreSentAgainWhenNothingMoves() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1])
        _ = link.done()
        var waits: [UInt64] = []
        var last: UInt64 = 0
        for time in stride(from: UInt64(10), through: 4_000, by: 10) {
            link.wait(10)
            if time % 500 == 0 { link.receive() }
            if link.pieces().contains(where: { $0.header.flags.contains(.isResend) }) {
                waits.append(time - last)
                last = time
            }
        }
        #expect(waits == [250, 500, 1_000, 1_000, 1_000])
        link.receive(ack: 1)
        link.write([2])
        _ = link.done()
        link.wait(250)
        #expect(link.pieces().contains { $0.header.flags.contains(.isResend) }, "the waits begin anew")
    }

    @Test func aSlowLineIsGivenFourRoundTrips() {
        let link = LinkUnderTest()
        link.bringUp()
        link.wait(200)
        link.receive(flags: .answers, probe: 1)
        #expect(link.roundTrip == 200 * PipeTimes.millisecond)
        link.receive(flags: .answers, probe: 1)
        link.write([1])
        _ = link.done()
        link.wait(799)
        #expect(!link.pieces().contains { $0.header.flags.contains(.isResend) })
        link.wait(1)
        #expect(link.pieces().contains { $0.header.flags.contains(.isResend) })
    }

    @Test func badPiecesAreCountedAndAreNoSignOfLife() {
        let link = LinkUnderTest()
        link.bringUp()
        link.write([1, 2])
        _ = link.done()
        link.wait(1_000)
        let heardAt = link.heardAt
        link.receive(piece: [1, 2, 3])
        link.receive(ack: 3)
        link.receive(ack: 1, waiting: 2)
        link.receive(offset: 0, ack: 3, bytes: [7])
        link.receive(offset: (64 << 10) - 1, bytes: [1, 2])
        link.receive(offset: PieceHeader.lastPlace)
        #expect(link.figures.badPieces == 6)
        #expect(link.heardAt == heardAt)
        #expect(link.unacknowledged == 2)
        #expect(link.waiting == 0, "none of their bytes were taken")
        link.receive(offset: 0, bytes: [1])
        link.receive(offset: 1, bytes: Self.bytes(64 << 10))
        #expect(link.figures.badPieces == 7, "the window begins at what the broker has taken")
        link.receive(offset: (64 << 10) - 2, bytes: [1, 2])
        #expect(link.figures.badPieces == 7, "these would just fit")
        #expect(link.heardAt == link.now)
    }

    @Test func aPieceOfAnotherSessionChangesNothing() {
        let link = LinkUnderTest()
        link.bringUp()
        link.receive(PieceHeader(session: 0x101), [1, 2])
        #expect(link.waiting == 0)
        #expect(link.figures.stale == 1)
        #expect(link.done() == [])
    }

    @Test func littleIsUnderWayUntilSomethingHasArrived() {
        let window = 1 << 20
        let link = LinkUnderTest(window: window)
        link.bringUp(window: window)
        link.write(Self.bytes(window))
        #expect(link.pieces().map(\.bytes.count) == [16, 16, 16, 16].map { $0 << 10 })
        link.receive(ack: 64 << 10)
        #expect(link.pieces().map(\.bytes.count) == [32, 32, 32, 32].map { $0 << 10 }, "twice as much each time")
        for _ in 0..<3 {
            link.wait(250)
            link.receive()
        }
        #expect(link.pieces().map(\.bytes.count) == [4 << 10], "without progress, one small piece is tried")
        link.receive(ack: 68 << 10)
        #expect(link.pieces().map(\.bytes.count) == [4, 4].map { $0 << 10 })
    }

    @Test func nothingIsPublishedWhileTheCarrierHasNoRoom() {
        let link = LinkUnderTest()
        link.bringUp()
        link.pipe.carrierRoomChanged(false)
        link.write([1])
        link.wait(1_000)
        #expect(link.done() == [])
        #expect(link.sent == 0)
        #expect(link.deadline! > link.now, "a sign that can't be sent is no reason to wake up")
        link.pipe.carrierRoomChanged(true)
        let pieces = link.pieces()
        #expect(pieces.map(\.bytes) == [[1]])
        #expect(pieces.map(\.header.flags) == [[]])
        #expect(link.done() == [], "a piece with bytes is a sign of life, too")
    }

    @Test func memoryIsBoundedByTheWindowAndGivenBack() {
        let window = 200 << 10
        let link = LinkUnderTest(window: window)
        link.bringUp(window: window)
        #expect(link.memory == 0)
        link.write(Self.bytes(window))
        for place in stride(from: 0, to: window, by: 50 << 10) {
            link.receive(offset: UInt64(place), bytes: Self.bytes(50 << 10))
        }
        #expect(link.waiting == window)
        #expect(link.memory == 2 * window)
        _ = link.take()
        while link.sent < window {
            _ = link.done()
            link.receive(offset: UInt64(window), ack: link.sent)
        }
        link.wait(1_000)
        _ = link.done()
        #expect(link.memory == 0)
    }

    @Test func theWindowIsSharedByAllNodes() {
        #expect(PipeSettings.window(nodes: 2) == 4 << 20)
        #expect(PipeSettings.window(nodes: 9) == 4 << 20)
        #expect(PipeSettings.window(nodes: 17) == 2 << 20)
        #expect(PipeSettings.window(nodes: 32) == (32 << 20) / 31 & ~1_023)
        #expect(PipeSettings.window(32 << 20, nodes: 2) == 32 << 20)
        #expect(PipeSettings.window(64 << 10, nodes: 32) == 64 << 10)
    }
}
