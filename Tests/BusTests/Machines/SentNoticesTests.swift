import StrataCore
import Testing

@testable import StrataBus

/// What another node observes by patterns, and what it has missed.
struct SentNoticesTests {
    private static func bytes<Result>(_ text: String, _ use: (UnsafeRawBufferPointer) -> Result) -> Result {
        Array(text.utf8).withUnsafeBytes(use)
    }

    private static func pattern(_ text: String) -> ObservedName {
        ObservedName(text: Array(text.utf8), isPattern: true)
    }

    @Test(.promise("N.6", "7.21")) func theLatestRankOfANameAndItsPatternsCounts() {
        var sent = SentNotices()
        sent.begin(at: 1)
        sent.observes(ObservedName(text: Array("a.b".utf8)), rank: 1)
        sent.observes(Self.pattern("a.*"), rank: 2)
        sent.observes(Self.pattern("*.b"), rank: 0)
        let ranks = ["a.b", "c.b", "c.d"].map { name in Self.bytes(name) { sent.observed($0)?.rank } }
        #expect(ranks == [2, 0, nil])
        sent.unobserves(Self.pattern("a.*"))
        let rank = Self.bytes("a.b") { sent.observed($0)?.rank }
        #expect(rank == 1)
        let count = sent.observedCount
        #expect(count == 2)
    }

    @Test(.promise("N.8", "N.33")) func countsAndWhatPatternsMissedPassToTheNextProgram() {
        var sent = SentNotices()
        sent.begin(at: 1)
        sent.observes(Self.pattern("a.*"), rank: 1)
        sent.observes(Self.pattern("a.>"), rank: 2)
        Self.bytes("a.b") { sent.count($0, at: 2) }.count = 3
        // Its sender has rank 1, so it reaches the observers of a.> alone.
        Self.bytes("a.c") { sent.missedByPatterns($0, from: 1) }
        Self.bytes("a.d.e") { sent.missedByPatterns($0, from: 0) }
        var state = NodeState()
        sent.capture(into: &state, most: 100)
        var next = SentNotices()
        next.resume(state)
        let (counts, observed) = (next.counts, next.observed)
        #expect(counts == ["a.b": 3] && observed == [Self.pattern("a.*"): 1, Self.pattern("a.>"): 2])
        // A new connection doesn't tell it by its counts.
        next.begin(at: 3)
        let isToTell = next.hasMissedByPatterns
        let missed = next.takeMissedByPatterns()
        #expect(isToTell && missed.map(\.pattern) == ["a.>"] && missed.map(\.missed) == [2])
        let further = next.takeMissedByPatterns()
        // Another connection begins with the sum, because what was told may not have come.
        next.begin(at: 4)
        let again = next.takeMissedByPatterns()
        #expect(further.isEmpty && again.map(\.missed) == [2])
        var received = ReceivedNotices()
        let new = [5, 5, 7, 3].map { received.missed(by: Self.pattern("a.>"), inAll: $0) }
        #expect(new == [5, 0, 2, 0])
    }
}
