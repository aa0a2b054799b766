import StrataCore
import Testing

@Suite(.timeLimit(.hang))
struct LevelRuleTests {
    @Test func broadcastsGoToLaterLevelsReportsAndCallsToTheSameOrEarlierOnes() {
        for one in 0..<3 {
            for other in 0..<3 {
                #expect(LevelRule.broadcastReaches(from: one, to: other) == (one < other))
                #expect(LevelRule.reportMayGo(from: one, to: other) == (one >= other))
                #expect(LevelRule.callMayGo(from: one, to: other) == (one >= other))
            }
        }
    }

    /// What each policy has against a call, a report and a broadcast.
    @Test(arguments: [AppTable.CallPolicy.any, .layered, .declared])
    func policyJudgesLevelBeforeDeclaration(_ policy: AppTable.CallPolicy) {
        for (to, isDeclared) in [(0, false), (0, true), (2, false), (2, true)] {
            let undeclared: AppTable.PolicyRefusal? = policy == .declared && !isDeclared ? .undeclared : nil
            let call = policy.refusal(ofCallFrom: 1, to: to, isDeclared: isDeclared)
            #expect(call == (to == 2 && policy != .any ? .level : undeclared))
            let report = policy.refusal(ofReportFrom: 1, to: to, isDeclared: isDeclared)
            #expect(report == (to == 2 ? .level : undeclared))
            #expect(policy.refusal(ofBroadcast: isDeclared) == undeclared)
        }
    }
}
