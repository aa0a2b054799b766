import StrataCore
import StrataLoop
import Testing

/// Idle work, one batch per round.
@Suite(.timeLimit(.hang)) struct IdleHookTests {
    @Test func theLoopGoesRoundUntilItIsStopped() throws {
        let loop = try Loop()
        var rounds = 0
        var hook: IdleHook?
        let end = LoopTimer(loop) { hook?.close() }
        hook = IdleHook(loop) {
            rounds += 1
            guard rounds == 5 else { return }
            hook?.stop()
            end.start(after: 20)
        }
        hook?.start()
        // It keeps no loop running.
        end.start(after: 600_000)
        #expect(hook?.isActive == true)
        loop.run()
        end.close()
        loop.run()
        #expect(rounds == 5)
        #expect(hook?.isActive == false)
    }
}
