import StrataCore
import Testing

@Suite(.timeLimit(.hang))
struct LevelRuleTests {
    @Test(.promise("7.1")) func broadcastsGoToLaterLevelsReportsAndCallsToTheSameOrEarlierOnes() {
        for one in 0..<3 {
            for other in 0..<3 {
                #expect(LevelRule.broadcastReaches(from: one, to: other) == (one < other))
                #expect(LevelRule.reportMayGo(from: one, to: other) == (one >= other))
                #expect(LevelRule.callMayGo(from: one, to: other) == (one >= other))
            }
        }
    }
}
