import Glibc
import StrataCore
import StrataLoop
import Testing

@Suite(.timeLimit(.hang))
struct LoopTests {
    @Test func aTimerFiresOnceOrAgainAndAgain() throws {
        let loop = try Loop()
        var once = 0
        var often = 0
        var timers: [LoopTimer] = []
        timers.append(LoopTimer(loop) { once += 1 })
        timers.append(
            LoopTimer(loop) {
                often += 1
                if often == 3 { timers.forEach { $0.close() } }
            })
        timers[0].start(after: 1)
        timers[1].start(after: 2, every: 2)
        #expect(timers[0].isActive)
        loop.run()
        #expect(once == 1 && often == 3)
        #expect(!timers[1].isActive)
    }

    @Test func aTimerThatIsStoppedOrClosedDoesNotFire() throws {
        let loop = try Loop()
        var fired = 0
        let stopped = LoopTimer(loop) { fired += 1 }
        let closed = LoopTimer(loop) { fired += 1 }
        for timer in [stopped, closed] { timer.start(after: 1) }
        stopped.stop()
        closed.close()
        loop.run()
        #expect(fired == 0)
        stopped.close()
        stopped.close()
        stopped.start(after: 1)
        loop.run()
        #expect(fired == 0)
    }

    @Test func aTimerOfTheKernelsFiresOnceAfterEachStart() throws {
        let loop = try Loop()
        var fired = 0
        var again: (() -> Void)?
        let timer = try KernelTimer(loop) {
            fired += 1
            again?()
        }
        let begin = Loop.nanoseconds
        // The later start is the one that counts.
        timer.start(after: 60_000)
        timer.start(after: 20)
        again = {
            guard fired < 3 else { return timer.close() }
            timer.start(after: fired == 1 ? 0 : 20)
        }
        loop.run()
        #expect(fired == 3)
        #expect(Loop.nanoseconds - begin >= 40_000_000)
        timer.start(after: 0)
        timer.close()
        loop.run()
        #expect(fired == 3)
    }

    @Test func anotherThreadWakesTheLoop() throws {
        let loop = try Loop()
        var woken = false
        let wake = try WakeUp(loop) {
            woken = true; loop.stop()
        }
        // The thread starts when the loop may already wait, or not yet. Both must wake it.
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(wake).toOpaque()
        pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<WakeUp>.fromOpaque(argument!).takeRetainedValue().send()
                return nil
            }, argument)
        loop.run()
        pthread_join(thread, nil)
        #expect(woken)
        wake.close()
        wake.send()
        loop.run()
    }

    @Test func theRoundHookRunsBeforeTheLoopWaits() throws {
        let loop = try Loop()
        var order: [String] = []
        let timer = LoopTimer(loop) { order.append("timer") }
        let hook = RoundHook(loop) { order.append("hook") }
        timer.start(after: 0)
        loop.run()
        // A hook alone keeps no loop running.
        #expect(order.contains("timer") && order.contains("hook"))
        #expect(order.firstIndex(of: "timer") ?? .max < order.lastIndex(of: "hook") ?? 0 || order.last == "timer")
        hook.close()
        timer.close()
    }

    @Test func aSocketTellsTheOtherSidesEnd() throws {
        let loop = try Loop()
        var ends: [Int32] = [0, 0]
        #expect(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
                == 0)
        let socket = try Socket(loop, descriptor: ends[0])
        var transfers: [String] = []
        socket.setEventHandler { _ in
            withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { space in
                transfers.append("\(socket.read(into: space))")
                if case .ended = socket.read(into: space) {
                    transfers.append("ended")
                    socket.close()
                }
            }
        }
        socket.watch(.readable)
        #expect(write(ends[1], "abc", 3) == 3)
        close(ends[1])
        loop.run()
        #expect(transfers == ["moved(3)", "ended"])
    }

    @Test func aRefusedConnectionIsAnError() throws {
        let loop = try Loop()
        #expect(throws: SystemError.self) { try Socket.connect(loop, path: "/tmp/strata-nobody-listens-here") }
        let error = #expect(throws: SystemError.self) {
            try Socket.connect(loop, path: "/" + String(repeating: "x", count: 107))
        }
        #expect(error?.code == ENAMETOOLONG)
    }

    /// libuv runs due timers at a round's start, and then waits for input.
    @Test func aRoundInWhichATimerRanWaitsForNothing() throws {
        let loop = try Loop()
        let silent = try WakeUp(loop) {}
        defer { silent.close() }
        var fired = 0
        let timer = LoopTimer(loop) { fired += 1 }
        defer { timer.close() }
        for round in 1...3 {
            timer.start(after: 0)
            loop.runOnce(waiting: true)
            #expect(fired == round)
        }
    }
}
