import TestSupport
import Testing

@testable import StrataOperator

/// Whether a link's bus is there, and since when.
@Suite(.timeLimit(.hang))
struct BusPresenceTests {
    @Test func absenceIsCountedFromTheBeginningAndFromEachLoss() {
        var presence = BusPresence(at: 100)
        #expect(!presence.isUp && !presence.wasUp && presence.absence(at: 350) == 250)
        #expect(presence.came(at: 400) == nil)
        #expect(presence.isUp && presence.wasUp && presence.absence(at: 900) == 0)
        let (wasUp, wasUpStill) = (presence.went(at: 1_000), presence.went(at: 1_500))
        #expect(wasUp && !wasUpStill)
        #expect(!presence.isUp && presence.wasUp && presence.absence(at: 1_600) == 600)
        #expect(presence.came(at: 1_700) == 700)
    }

    @Test func replacedBrokerGetsAsMuchTime() {
        var presence = BusPresence(at: 0)
        presence.waitAnew(at: 30_000)
        #expect(presence.absence(at: 30_100) == 100)
        #expect(presence.came(at: 30_200) == nil)
        presence.waitAnew(at: 30_300)
        #expect(presence.isUp)
        _ = presence.went(at: 40_000)
        presence.waitAnew(at: 70_000)
        #expect(presence.came(at: 70_050) == 50)
    }
}
