import Testing

@testable import StrataBus

/// When notes are formatted, and how many in one turn.
struct NoteTurnsTests {
    private var turns = NoteTurns()

    @Test mutating func aFirstNoteIsFormattedAtOnceAndTheNextOnesTogether() {
        #expect(turns.added(now: 1_000) == .start)
        #expect(turns.added(now: 1_000) == .nothing)
        #expect(turns.worked(1, isEmpty: true, now: 1_000) == .nothing)
        #expect(turns.added(now: 1_001) == .wait(NoteTurns.period - 1))
        #expect(turns.added(now: 1_005) == .nothing)
        #expect(turns.timePassed() == .start)
        #expect(turns.timePassed() == .nothing)
    }

    @Test(.promise("10.20")) mutating func aTurnHasLimitedWorkAndTheRestWaitsForTheNext() {
        _ = turns.added(now: 1_000)
        var pieces = 0
        while turns.worked(NoteTurns.batch, isEmpty: false, now: 1_000) == .nothing { pieces += 1 }
        #expect((pieces + 1) * NoteTurns.batch == NoteTurns.mostWork)
        #expect(turns.state == .planned)
        #expect(turns.timePassed() == .start)
    }

    @Test(.promise("10.20")) mutating func aTurnThatTookTooMuchIsFollowedByALongerPause() {
        _ = turns.added(now: 1_000)
        let work = NoteTurns.work(bodyBytes: FrameNote.largestBody, values: FrameNote.mostValues)
        let periods = UInt64((work + NoteTurns.mostWork - 1) / NoteTurns.mostWork)
        #expect(periods == 3)
        #expect(turns.worked(work, isEmpty: false, now: 1_000) == .wait(NoteTurns.period * periods))
    }

    @Test mutating func withoutNotesThereIsNoTurn() {
        _ = turns.added(now: 1_000)
        _ = turns.worked(1, isEmpty: true, now: 1_000)
        #expect(turns.state == .idle && !turns.isPlanned)
        _ = turns.added(now: 1_001)
        turns.emptied()
        #expect(turns.timePassed() == .nothing)
    }
}
