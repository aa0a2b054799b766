import StrataCore
import Testing

@testable import StrataBus

/// Which peer's turns become shorter, and when.
struct TurnSharesTests {
    private static let start: UInt64 = 1_000_000_000
    private var shares = TurnShares()
    private var light = TurnShares.Pace()
    private var flood = TurnShares.Pace()

    init() {
        // Both peers have had their first turns long ago.
        for _ in 0..<TurnShares.startTurns {
            shares.ended(&light, start: 1_000_000, frames: 1, bytes: 100) { 0 }
            shares.ended(&flood, start: 1_000_000, frames: 1, bytes: 100) { 0 }
        }
    }

    /// A turn of the flooding peer that starts at `start` and lasts `time` nanoseconds.
    private mutating func floodTurn(at start: UInt64, taking time: UInt64, frames: Int = 600, bytes: Int? = nil) {
        let bytes = bytes ?? flood.room
        shares.ended(&flood, start: start, frames: frames, bytes: bytes) { start + time }
    }

    private mutating func lightTurn(at start: UInt64) {
        shares.ended(&light, start: start, frames: 1, bytes: 100) {
            Issue.record("the clock was read for a light turn")
            return start
        }
    }

    @Test(.promise("13.34")) mutating func turnsAreNotCutShortWithoutALightPeer() {
        for turn in 0..<10 as Range<UInt64> { floodTurn(at: Self.start + turn * 1_000_000, taking: 1_000_000) }
        #expect(flood.room == TurnShares.firstRead && flood.isHeavy)
        #expect(!shares.isShared(at: Self.start))
    }

    @Test(.promise("13.31")) mutating func aTurnIsSpentAfterItsBudget() {
        let (start, longest) = (Self.start, TurnShares.longestTurn)
        #expect(!shares.isSpent(start: start, now: start + longest))
        #expect(shares.isSpent(start: start, now: start + longest + 1))
        lightTurn(at: start)
        #expect(!shares.isSpent(start: start, now: start + TurnShares.budget))
        #expect(shares.isSpent(start: start, now: start + TurnShares.budget + 1))
        // Few frames may also take long. A peer with more of them is heavy.
        var other = flood
        shares.ended(&other, start: start, frames: 1, bytes: 100) { start }
        #expect(!other.isHeavy)
        shares.ended(&other, start: start, frames: 1, bytes: 100, isSpent: true) { start }
        #expect(other.isHeavy)
    }

    @Test(.promise("13.34")) mutating func longTurnsFitTheBudgetWhileSomebodyIsLight() {
        lightTurn(at: Self.start)
        #expect(shares.isShared(at: Self.start + 1))
        // 4 KiB in 40 µs is four times too long, so a fourth is left.
        floodTurn(at: Self.start + 1, taking: 40_000)
        #expect(flood.isHeavy && flood.room == TurnShares.firstRead / 4)
        floodTurn(at: Self.start + 2, taking: 10_000, frames: 6)
        #expect(flood.isHeavy && flood.room == TurnShares.firstRead / 4)
        // However long it takes, something is read.
        floodTurn(at: Self.start + 3, taking: 1_000_000_000, frames: 6)
        #expect(flood.isHeavy && flood.room == TurnShares.leastRead)
    }

    @Test mutating func aPeerWhoseTurnsBecomeShortGetsLargerOnes() {
        lightTurn(at: Self.start)
        floodTurn(at: Self.start + 1, taking: 1_000_000)
        for turn in 2..<20 as Range<UInt64> { floodTurn(at: Self.start + turn, taking: 1_000) }
        // It still has its turn after the light peers.
        #expect(flood.room == ReadBuffer.turn && flood.isHeavy)
    }

    @Test mutating func lightTurnsMakeTheirPeerLightAgain() {
        lightTurn(at: Self.start)
        floodTurn(at: Self.start + 1, taking: 1_000_000)
        for turn in 2..<20 as Range<UInt64> { floodTurn(at: Self.start + turn, taking: 1_000, frames: 1, bytes: 100) }
        // Its next bytes may be a flood.
        #expect(flood.room == TurnShares.firstRead && !flood.isHeavy)
    }

    @Test mutating func aLightPeerIsRememberedForAWhile() {
        lightTurn(at: Self.start)
        floodTurn(at: Self.start + TurnShares.memory - 1, taking: 1_000_000)
        #expect(flood.room == TurnShares.leastRead)
        #expect(!shares.isShared(at: Self.start + TurnShares.memory))
        // Its room stays as it is, for the next time.
        floodTurn(at: Self.start + TurnShares.memory, taking: 1_000)
        #expect(flood.isHeavy && flood.room == TurnShares.leastRead)
    }

    @Test mutating func aPeerThatSendsOftenIsNotLight() {
        lightTurn(at: Self.start)
        let later = Self.start + TurnShares.memory
        // Each turn follows the one before too soon, from long before the first one expires.
        for turn in stride(from: Self.start, to: later, by: Int(TurnShares.lightGap - 1)) { lightTurn(at: turn) }
        #expect(!shares.isShared(at: later))
    }

    @Test mutating func theStartOfAConnectionIsNoLightTurn() {
        var new = TurnShares.Pace()
        for turn in 0..<UInt64(TurnShares.startTurns) {
            shares.ended(&new, start: Self.start + turn * TurnShares.lightGap, frames: 1, bytes: 100) { 0 }
        }
        #expect(!shares.isShared(at: Self.start))
        let later = Self.start + 1_000 * TurnShares.lightGap
        shares.ended(&new, start: later, frames: 1, bytes: 100) { 0 }
        #expect(shares.isShared(at: later))
    }

    @Test mutating func theLastReadOfAFloodIsNotALightTurn() {
        lightTurn(at: Self.start)
        floodTurn(at: Self.start + 1, taking: 1_000_000)
        let end = Self.start + TurnShares.memory
        floodTurn(at: end - 1, taking: 1_000, frames: 1, bytes: 100)
        #expect(!shares.isShared(at: end))
    }

    @Test mutating func aLargeFrameIsReadInPartsToo() {
        lightTurn(at: Self.start)
        floodTurn(at: Self.start + 1, taking: 20_000, frames: 1)
        #expect(flood.isHeavy && flood.room == TurnShares.firstRead / 2)
        floodTurn(at: Self.start + 2, taking: 20_000, frames: 3)
        #expect(flood.isHeavy && flood.room == TurnShares.firstRead / 4)
    }

    @Test mutating func aMonitorsCreditMakesNoPeerLight() {
        for turn in 0..<20 as Range<UInt64> {
            shares.endedMonitors(&light, start: Self.start + turn * 1_000_000)
            #expect(light.isHeavy && !shares.isShared(at: Self.start + turn * 1_000_000))
        }
    }
}
