import Testing

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct ActionDeathsTests {
    /// The value, in a place where a macro may change it.
    private final class Counter {
        var deaths = ActionDeaths()

        @discardableResult
        func died(alone action: String, at now: UInt64, within reset: UInt64) -> Bool {
            deaths.died(alone: action, at: now, within: reset)
        }
        func expire(at now: UInt64) -> Bool { deaths.expire(at: now) }
    }

    @Test func anActionIsQuarantinedAtTheThirdDeathWithinReset() {
        let counter = Counter()
        #expect(!counter.died(alone: "A/x", at: 1_000, within: 500))
        #expect(!counter.died(alone: "A/x", at: 1_200, within: 500))
        #expect(counter.deaths.quarantined("A/x", at: 1_200) == nil)
        #expect(counter.died(alone: "A/x", at: 1_400, within: 500))
        #expect(counter.deaths.quarantined("A/x", at: 1_899)?.deaths == [1_000, 1_200, 1_400])
        #expect(counter.deaths.quarantined("A/y", at: 1_500) == nil)
        #expect(counter.deaths.quarantined("A/x", at: 1_900) == nil)
    }

    @Test func deathsOlderThanResetDoNotCount() {
        let counter = Counter()
        for time in stride(from: UInt64(0), through: 2_000, by: 250) {
            #expect(!counter.died(alone: "A/x", at: time, within: 500))
        }
    }

    @Test func otherActionsCountForThemselves() {
        let counter = Counter()
        for time: UInt64 in [1, 2] {
            #expect(!counter.died(alone: "A/x", at: time, within: 500))
            #expect(!counter.died(alone: "A/y", at: time, within: 500))
        }
        #expect(counter.died(alone: "A/y", at: 3, within: 500))
        #expect(counter.deaths.quarantined(at: 4).map(\.action) == ["A/y"])
    }

    @Test(.promise("6.8")) func afterItsTimeItTakesThreeDeathsAgain() {
        let counter = Counter()
        for time: UInt64 in 0..<3 { counter.died(alone: "A/x", at: time, within: 100) }
        #expect(!counter.expire(at: 101))
        #expect(counter.expire(at: 102))
        #expect(counter.deaths.isEmpty)
        #expect(!counter.died(alone: "A/x", at: 103, within: 100))
        #expect(!counter.died(alone: "A/x", at: 104, within: 100))
        #expect(counter.died(alone: "A/x", at: 105, within: 100))
    }

    @Test func aPersonsRestartForgetsAll() {
        let counter = Counter()
        for time: UInt64 in 0..<3 { counter.died(alone: "A/x", at: time, within: 100) }
        counter.deaths.forget()
        #expect(counter.deaths == ActionDeaths())
    }

    @Test(.promise("6.11")) func theOldestActionIsForgottenBeyondTheLimit() {
        let counter = Counter()
        for time: UInt64 in [1, 2] { counter.died(alone: "A/first", at: time, within: 1_000_000) }
        for number in 0..<1_000 {
            counter.died(alone: "A/a\(number)", at: 3, within: 1_000_000)
            #expect(counter.deaths.entries.count <= ActionDeaths.mostActions)
        }
        #expect(!counter.died(alone: "A/first", at: 4, within: 1_000_000))
        #expect(!counter.died(alone: "A/a999", at: 4, within: 1_000_000))
        #expect(counter.died(alone: "A/a999", at: 5, within: 1_000_000))
    }

    @Test func withoutResetNothingIsQuarantined() {
        let counter = Counter()
        for time: UInt64 in 0..<9 { #expect(!counter.died(alone: "A/x", at: time, within: 0)) }
    }
}
