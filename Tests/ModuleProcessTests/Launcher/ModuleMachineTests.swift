import Glibc
import StrataCore
import StrataLoop
import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct ModuleMachineTests {
    private typealias Machine = ModuleMachine

    private func machine(_ restart: AppTable.Restart = .onFailure, bus: Bool = true) -> ModuleMachine {
        var machine = ModuleMachine(Machine.Policy(restart: restart, stop: 5_000, startup: 30_000))
        if bus { _ = machine.busCame(at: 0) }
        return machine
    }

    /// Returns a machine whose process 7 was started at 1,000.
    private func started(_ restart: AppTable.Restart = .onFailure) -> ModuleMachine {
        var machine = machine(restart)
        #expect(machine.start(at: 1_000, reason: "test") == [.spawn])
        #expect(machine.spawned(7, at: 1_000) == [.tell(ModuleReport(state: .starting, reason: "test"))])
        return machine
    }

    /// Returns a machine whose process became ready at 1,200.
    private func ready(_ restart: AppTable.Restart = .onFailure) -> ModuleMachine {
        var machine = started(restart)
        _ = machine.saw(.settingUp, pid: 7, reason: "", at: 1_050)
        _ = machine.saw(.ready, pid: 7, reason: "", at: 1_200)
        #expect(machine.isReady)
        return machine
    }

    @Test func noProcessIsStartedWithoutABus() {
        var machine = machine(bus: false)
        #expect(machine.start(at: 0, reason: "test").isEmpty)
        #expect(machine.deadline == nil)
        #expect(machine.busCame(at: 10) == [.spawn])
    }

    @Test func statesOfItsSessionAreMilestonesOnce() {
        var machine = started()
        #expect(machine.saw(.starting, pid: 7, reason: "", at: 1_010).isEmpty)
        #expect(machine.saw(.settingUp, pid: 7, reason: "", at: 1_020).isEmpty)
        #expect(machine.saw(.setUp, pid: 7, reason: "", at: 1_030) == [.passedSetUp])
        #expect(machine.saw(.initializing, pid: 7, reason: "", at: 1_040).isEmpty)
        #expect(machine.saw(.ready, pid: 7, reason: "", at: 1_050) == [.becameReady(pid: 7, milliseconds: 50)])
        #expect(machine.saw(.ready, pid: 7, reason: "", at: 1_060).isEmpty)
        #expect(machine.deadline == nil)
    }

    @Test func mergedStatesLoseNoMilestone() {
        var machine = started()
        #expect(
            machine.saw(.ready, pid: 7, reason: "", at: 1_100) == [
                .passedSetUp, .becameReady(pid: 7, milliseconds: 100),
            ])
    }

    @Test func statesOfAnotherProcessAreNotItsOwn() {
        var machine = started()
        #expect(machine.saw(.ready, pid: 6, reason: "", at: 1_100).isEmpty)
        #expect(!machine.isReady)
    }

    @Test func killedModuleIsStartedAgainAfterTheFirstDelay() {
        var machine = ready()
        let actions = machine.exited(.signal(SIGKILL), lastLines: [], at: 90_000)
        guard case .tell(let report) = actions.first else {
            Issue.record("told \(actions)")
            return
        }
        #expect(report.state == .restarting)
        #expect(report.exit == "signal 9 (Killed)")
        #expect(machine.deadline == 90_100)
        #expect(machine.deadlinePassed(at: 90_099).isEmpty)
        #expect(machine.deadlinePassed(at: 90_100) == [.spawn])
    }

    @Test(.promise("M.12")) func cleanExitOfAReadyModuleIsItsEnd() {
        var machine = ready()
        _ = machine.exited(.code(0), lastLines: [], at: 2_000)
        #expect(machine.state == .settled(.absent("it ended with exit code 0")))
    }

    @Test(
        .promise("M.12"),
        arguments: [AppTable.Restart.always, .onFailure, .never],
        [ChildProcess.Exit.code(0), .code(1), .signal(SIGSEGV)])
    func eachPolicyJudgesEachEnd(policy: AppTable.Restart, exit: ChildProcess.Exit) {
        var machine = ready(policy)
        _ = machine.exited(exit, lastLines: [], at: 2_000)
        #expect(machine.cause == "it ended with \(exit)")
        switch (policy, exit) {
        case (.always, _), (.onFailure, .code(1)), (.onFailure, .signal): #expect(machine.deadline == 2_100)
        case (_, .code(0)): #expect(machine.state == .settled(.absent("it ended with \(exit)")))
        default: #expect(machine.state == .settled(.failed("it ended with \(exit)")))
        }
    }

    /// The backoff grows to its limit, and starts again after a healthy time.
    @Test(.promise("M.13")) func delaysGrowAndAreResetByAHealthyTime() {
        var policy = Machine.Policy(restart: .onFailure, stop: 5_000, startup: 30_000)
        var machine = ModuleMachine(policy)
        policy.backoff.most = 400
        policy.backoff.reset = 5_000
        machine.update(policy)
        _ = machine.busCame(at: 0)
        _ = machine.start(at: 0, reason: "test")
        var now: UInt64 = 0
        func die(after healthy: UInt64?) -> UInt64 {
            _ = machine.spawned(7, at: now)
            if let healthy {
                _ = machine.saw(.ready, pid: 7, reason: "", at: now)
                now += healthy
            }
            _ = machine.exited(.signal(SIGKILL), lastLines: [], at: now)
            let delay = (machine.deadline ?? 0) - now
            now += delay
            _ = machine.deadlinePassed(at: now)
            return delay
        }
        #expect((0..<5).map { _ in die(after: nil) } == [100, 200, 400, 400, 400])
        #expect(die(after: 4_999) == 100)
        // It ran longer than its delay, but not for `reset`.
        #expect(die(after: nil) == 400)
        #expect(die(after: 5_000) == 100)
        #expect((0..<3).map { _ in die(after: nil) } == [200, 400, 400])
    }

    @Test func cleanExitBeforeItWasReadyIsAFailure() {
        var machine = started()
        _ = machine.exited(.code(0), lastLines: [], at: 2_000)
        #expect(machine.deadline == 2_100)
    }

    @Test func cleanExitOfWhichTheBusTellsFirstIsItsEnd() {
        var machine = ready()
        _ = machine.saw(.restarting, pid: 0, reason: "closed", at: 1_999)
        _ = machine.exited(.code(0), lastLines: [], at: 2_000)
        #expect(machine.state == .settled(.absent("it ended with exit code 0")))
    }

    @Test func cleanExitWhileTheBusIsGoneIsAFailure() {
        var machine = ready()
        _ = machine.busWent(at: 2_000)
        _ = machine.exited(.code(0), lastLines: [], at: 2_010)
        guard case .pending = machine.state else {
            Issue.record("is \(machine.state)")
            return
        }
        #expect(machine.busCame(at: 3_000) == [.spawn])
    }

    @Test(.promise("M.12")) func moduleThatIsAlwaysRestartedComesBackAfterACleanExit() {
        var machine = ready(.always)
        _ = machine.exited(.code(0), lastLines: [], at: 2_000)
        #expect(machine.deadline != nil)
    }

    @Test(.promise("M.12")) func moduleThatIsNeverRestartedFailsWithItsLastLines() {
        var machine = started(.never)
        let actions = machine.exited(.code(3), lastLines: ["no such table"], at: 2_000)
        let reason = "it ended with exit code 3 before it was ready"
        let report = ModuleReport(state: .failed, reason: reason, lines: ["no such table"], exit: "exit code 3")
        #expect(actions == [.tell(report), .settled(.failed(reason, lines: ["no such table"]))])
    }

    @Test(.promise("M.13")) func crashLoopEndsAsFailed() {
        var machine = machine()
        var actions = machine.start(at: 0, reason: "test")
        var now: UInt64 = 0
        var starts = 0
        while actions.contains(.spawn) {
            starts += 1
            _ = machine.spawned(Int32(starts), at: now)
            _ = machine.exited(.code(1), lastLines: ["boom"], at: now)
            guard let deadline = machine.deadline else { break }
            now = deadline
            actions = machine.deadlinePassed(at: now)
        }
        #expect(starts == RestartPlan.mostQuickDeaths)
        guard case .settled(.failed(let reason, let lines)) = machine.state else {
            Issue.record("is \(machine.state)")
            return
        }
        #expect(reason.contains("exit code 1") && lines == ["boom"])
        #expect(machine.start(at: now, reason: "by hand") == [.spawn])
    }

    @Test func programThatIsNotThereFailsAtOnce() {
        var machine = machine()
        _ = machine.start(at: 0, reason: "test")
        let actions = machine.couldNotSpawn("bin/x isn't there", isTemporary: false, at: 0)
        #expect(actions.contains(.settled(.failed("bin/x isn't there"))))
    }

    @Test func processThatNeverSaysHelloIsEndedAndStartedAgain() {
        var machine = started()
        #expect(machine.deadline == 31_000)
        #expect(machine.deadlinePassed(at: 31_000).contains(.signal(SIGTERM)))
        #expect(machine.deadlinePassed(at: 32_000) == [.signal(SIGKILL)])
        _ = machine.exited(.signal(SIGKILL), lastLines: [], at: 32_001)
        #expect(machine.deadline == 32_101)
    }

    @Test func failedSetUpEndsTheProcess() {
        var machine = started()
        _ = machine.saw(.settingUp, pid: 7, reason: "", at: 1_100)
        let why = "its setUp failed: no file (A.no-file)"
        let actions = machine.saw(.restarting, pid: 0, reason: "failed", startFailed: why, at: 1_200)
        #expect(actions == [.note("\(why): it is ended"), .signal(SIGTERM)])
        // Then exit code 0 is no success.
        _ = machine.exited(.code(0), lastLines: [], at: 1_300)
        guard case .pending = machine.state else {
            Issue.record("is \(machine.state)")
            return
        }
    }

    @Test(.promise("11.6")) func aProcessThatEndsBeforeItIsReadyHasFailedItsStart() {
        var machine = started()
        #expect(machine.exited(.code(5), lastLines: [], at: 1_100).last == .startFailed)
        var steady = ready()
        #expect(!steady.exited(.code(5), lastLines: [], at: 1_300).contains(.startFailed))
    }

    @Test(.promise("M.97")) func theFirstStartOfARequiredModuleIsItsOnlyOne() {
        var machine = started()
        machine.mustStart = true
        let reason = "it ended with exit code 5 before it was ready"
        let actions = machine.exited(.code(5), lastLines: ["no disk"], at: 1_100)
        #expect(actions.contains(.settled(.failed(reason, lines: ["no disk"]))))
        // Once it has been ready, it restarts.
        machine = started()
        machine.mustStart = true
        _ = machine.saw(.ready, pid: 7, reason: "", at: 1_200)
        _ = machine.exited(.code(5), lastLines: [], at: 1_300)
        guard case .pending = machine.state else {
            Issue.record("is \(machine.state)")
            return
        }
    }

    @Test func lostSessionHasTimeToComeBack() {
        var machine = ready()
        #expect(machine.saw(.restarting, pid: 0, reason: "slow-consumer", at: 5_000).isEmpty)
        #expect(machine.saw(.ready, pid: 7, reason: "", at: 5_500).isEmpty)
        #expect(machine.isReady && machine.deadline == nil)
        _ = machine.saw(.restarting, pid: 0, reason: "closed", at: 6_000)
        #expect(machine.deadlinePassed(at: 6_000 + ModuleMachine.reconnect).contains(.signal(SIGTERM)))
    }

    @Test func brokersRestartLeavesTheProcessAlone() {
        var machine = ready()
        #expect(machine.busWent(at: 2_000).isEmpty)
        #expect(machine.report?.state == .starting)
        #expect(machine.busCame(at: 2_100).isEmpty)
        #expect(machine.saw(.starting, pid: 0, reason: "", at: 2_110).isEmpty)
        #expect(machine.saw(.ready, pid: 7, reason: "", at: 2_120).isEmpty)
        #expect(machine.isReady)
    }

    @Test(.promise("M.15")) func stoppingIsTearDownThenTermThenKill() {
        var machine = ready()
        #expect(machine.stop(at: 10_000, reason: "by hand") == [.retire])
        #expect(machine.deadline == 15_000)
        #expect(machine.deadlinePassed(at: 15_000) == [.signal(SIGTERM)])
        #expect(machine.deadline == 20_000)
        #expect(machine.deadlinePassed(at: 20_000).last == .signal(SIGKILL))
        #expect(machine.deadline == nil)
        let actions = machine.exited(.signal(SIGKILL), lastLines: [], at: 20_010)
        #expect(actions.last == .settled(.absent("by hand")))
    }

    @Test func tearDownThatIsDoneIsNotWaitedFor() {
        var machine = ready()
        _ = machine.stop(at: 10_000, reason: "by hand")
        #expect(machine.retired(at: 10_005) == [.signal(SIGTERM)])
        #expect(machine.retired(at: 10_006).isEmpty)
    }

    @Test func moduleWithoutSessionGetsSIGTERMAtOnce() {
        var machine = started()
        #expect(machine.stop(at: 1_500, reason: "by hand") == [.signal(SIGTERM)])
    }

    @Test func restartStartsWhenTheOldOneHasEnded() {
        var machine = ready()
        #expect(machine.stop(at: 10_000, reason: "by hand", then: .start) == [.retire])
        _ = machine.retired(at: 10_001)
        let actions = machine.exited(.code(0), lastLines: [], at: 10_002)
        #expect(actions.last == .spawn)
    }

    @Test func startDuringAStopComesAfterIt() {
        var machine = ready()
        _ = machine.stop(at: 10_000, reason: "idle", asksForTearDown: false)
        #expect(machine.start(at: 10_001, reason: "wanted").isEmpty)
        #expect(machine.exited(.code(0), lastLines: [], at: 10_002).last == .spawn)
    }

    /// The request for the stop is answered at the end, whatever comes after it.
    @Test(.promise("M.14")) func stopIsAnsweredWhateverComesAfterIt() {
        for isLent in [false, true] {
            var machine = ready()
            _ = machine.stop(at: 10_000, reason: "by hand")
            _ = isLent ? machine.lend(to: 9, isWanted: true, at: 10_001) : machine.start(at: 10_001, reason: "wanted")
            #expect(machine.retired(at: 10_002) == [.signal(SIGTERM)])
            let actions = machine.exited(.code(0), lastLines: [], at: 10_003)
            #expect(actions.contains(.stopped), "\(actions)")
            #expect(actions.contains(isLent ? .lent : .spawn), "\(actions)")
        }
    }

    @Test func stopDuringABackoffIsAtOnce() {
        var machine = started()
        _ = machine.exited(.code(1), lastLines: [], at: 2_000)
        #expect(machine.stop(at: 2_010, reason: "by hand").last == .settled(.absent("by hand")))
    }

    @Test func someoneWhoWaitsCutsABackoffShort() {
        var machine = started()
        _ = machine.exited(.code(1), lastLines: [], at: 2_000)
        #expect(machine.start(at: 2_010, reason: "the bus", impatiently: false).isEmpty)
        #expect(machine.start(at: 2_020, reason: "by hand") == [.spawn])
    }

    @Test func tooMuchMemoryIsADeathWithoutGrace() {
        var machine = ready()
        #expect(machine.doom(at: 5_000, reason: "it uses 2 GiB", grace: 0).last == .signal(SIGKILL))
        #expect(machine.doom(at: 5_001, reason: "it uses 2 GiB", grace: 0).isEmpty)
        let actions = machine.exited(.signal(SIGKILL), lastLines: [], at: 5_010)
        guard case .tell(let report) = actions.first else {
            Issue.record("told \(actions)")
            return
        }
        #expect(report.reason == "it uses 2 GiB, and was ended")
    }

    @Test func killTakesNoTime() {
        var machine = ready()
        _ = machine.stop(at: 10_000, reason: "end")
        #expect(machine.kill(reason: "end") == [.signal(SIGKILL)])
        #expect(machine.deadline == nil)
    }
}
