import StrataCore
import Testing

/// Work a piece a round.
@Suite(.timeLimit(.minutes(1))) struct IdleHookTests {
    @Test func theLoopGoesRoundUntilItIsStopped() throws {
        let loop = try Loop()
        var rounds = 0
        var hook: IdleHook?
        hook = IdleHook(loop) {
            rounds += 1
            if rounds == 5 { hook?.stop() }
        }
        hook?.start()
        #expect(hook?.isActive == true)
        let end = LoopTimer(loop) { hook?.close() }
        end.start(after: 20)
        loop.run()
        end.close()
        loop.run()
        #expect(rounds == 5)
        #expect(hook?.isActive == false)
    }
}
