import StrataManifest
import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct RestartPlanTests {
    private var backoff: ModuleProcess.Backoff {
        var backoff = ModuleProcess.Backoff()
        backoff.first = 100
        backoff.most = 1_000
        backoff.reset = 60_000
        return backoff
    }

    @Test func moduleThatRanForLongIsBackAfterTheFirstDelay() {
        var plan = RestartPlan(backoff)
        #expect(plan.died(at: 100_000, spawnedAt: 0, readyAt: 50) == .start(at: 100_100))
    }

    @Test(.promise("M.13")) func delaysDoubleUpToTheMost() {
        var plan = RestartPlan(backoff)
        var delays: [UInt64] = []
        for _ in 0..<6 {
            guard case .start(let at) = plan.died(at: 5_000, spawnedAt: 5_000, readyAt: nil) else { break }
            delays.append(at - 5_000)
        }
        #expect(delays == [100, 200, 400, 800, 1_000, 1_000])
    }

    @Test func delaysCountFromTheLastStart() {
        var plan = RestartPlan(backoff)
        for _ in 0..<4 { _ = plan.died(at: 5_000, spawnedAt: 5_000, readyAt: nil) }
        // The fifth start would come 1,000 ms after the last one, and the process ran for 950.
        #expect(plan.died(at: 10_950, spawnedAt: 10_000, readyAt: nil) == .start(at: 11_050))
    }

    @Test(.promise("M.13")) func delaysBeginAnewAfterResetOnly() {
        var plan = RestartPlan(backoff)
        for _ in 0..<3 { _ = plan.died(at: 0, spawnedAt: 0, readyAt: nil) }
        #expect(plan.died(at: 160_000, spawnedAt: 99_900, readyAt: 100_000) == .start(at: 160_100))
        #expect(plan.died(at: 200_000, spawnedAt: 200_000, readyAt: nil) == .start(at: 200_200))
    }

    @Test(.promise("M.13")) func tenQuickDeathsInARowAreTheEnd() {
        var plan = RestartPlan(backoff)
        for _ in 0..<9 { #expect(plan.died(at: 0, spawnedAt: 0, readyAt: nil) != .giveUp) }
        #expect(plan.died(at: 0, spawnedAt: 0, readyAt: nil) == .giveUp)
    }

    @Test func oneLongRunBetweenQuickDeathsKeepsItGoing() {
        var plan = RestartPlan(backoff)
        for _ in 0..<9 { _ = plan.died(at: 0, spawnedAt: 0, readyAt: nil) }
        #expect(plan.died(at: 12_000, spawnedAt: 0, readyAt: 1_000) != .giveUp)
        for _ in 0..<8 { #expect(plan.died(at: 0, spawnedAt: 0, readyAt: nil) != .giveUp) }
        #expect(plan.died(at: 0, spawnedAt: 0, readyAt: nil) == .giveUp)
    }
}
