import StrataCore
import Testing

@testable import StrataLauncher

/// A module's place that is lent to a process that a person runs.
@Suite(.timeLimit(.hang))
struct ModuleLoanTests {
    private typealias Machine = ModuleMachine

    private static let lent: [Machine.Action] = [
        .lent, .tell(ModuleReport(state: .starting, reason: "process 50, run by hand, takes its place")), .passedSetUp,
    ]

    private func machine() -> ModuleMachine {
        var machine = ModuleMachine(Machine.Policy())
        _ = machine.busCame(at: 0)
        return machine
    }

    /// Returns a machine whose process 7 is ready.
    private func ready() -> ModuleMachine {
        var machine = machine()
        _ = machine.start(at: 0, reason: "test")
        _ = machine.spawned(7, at: 0)
        _ = machine.saw(.ready, pid: 7, reason: "", at: 10)
        return machine
    }

    private func lentOne() -> ModuleMachine {
        var machine = machine()
        #expect(machine.lend(to: 50, isWanted: true, at: 100) == Self.lent)
        return machine
    }

    @Test func theOneThatRunsEndsFirst() {
        var machine = ready()
        #expect(machine.lend(to: 50, isWanted: true, at: 100) == [.retire])
        #expect(machine.isLent)
        #expect(machine.retired(at: 110) == [.signal(15)])
        #expect(machine.exited(.code(0), lastLines: [], at: 120) == [.stopped] + Self.lent)
        #expect(machine.pid == 50 && machine.deadline == nil)
        let reason = "process 50, which was run by hand, has ended"
        #expect(
            machine.loanEnded(at: 500) == [.tell(ModuleReport(state: .restarting, reason: reason)), .spawn])
        #expect(!machine.isLent)
    }

    @Test(.promise("10.10")) func nothingIsStartedMeanwhile() {
        var machine = lentOne()
        // Its turn in the app's start is over, so later modules don't wait.
        #expect(machine.start(at: 200, reason: "test") == [.passedSetUp])
        #expect(machine.deadlinePassed(at: 100_000).isEmpty)
        #expect(machine.busWent(at: 300).isEmpty && machine.busCame(at: 400).isEmpty)
        #expect(machine.doom(at: 500, reason: "memory", grace: 0).isEmpty)
        #expect(machine.isLent && machine.report?.state == .starting)
    }

    @Test func itIsReadyAsOftenAsADebuggerRunsIt() {
        var machine = lentOne()
        #expect(machine.saw(.settingUp, pid: 51, reason: "", at: 110).isEmpty)
        #expect(machine.saw(.ready, pid: 51, reason: "", at: 120) == [.becameReady(pid: 50, milliseconds: 20)])
        #expect(machine.isReady)
        #expect(machine.saw(.starting, pid: 0, reason: "closed", at: 130).isEmpty)
        #expect(!machine.isReady)
        #expect(machine.saw(.ready, pid: 52, reason: "", at: 140) == [.becameReady(pid: 50, milliseconds: 40)])
    }

    @Test func whatIsToldLateOfTheOneBeforeIsNotIts() {
        var machine = ready()
        _ = machine.lend(to: 50, isWanted: true, at: 100)
        _ = machine.retired(at: 110)
        _ = machine.exited(.code(0), lastLines: [], at: 120)
        #expect(machine.saw(.ready, pid: 7, reason: "", at: 130).isEmpty)
        #expect(!machine.isReady)
        #expect(machine.saw(.ready, pid: 50, reason: "", at: 140) == [.becameReady(pid: 50, milliseconds: 20)])
    }

    @Test func whoEndsBeforeItHasThePlaceChangesNothing() {
        var machine = ready()
        _ = machine.lend(to: 50, isWanted: true, at: 100)
        #expect(machine.loanEnded(at: 105).isEmpty)
        _ = machine.retired(at: 110)
        let actions = machine.exited(.code(0), lastLines: [], at: 120)
        #expect(actions.contains(.spawn) && !actions.contains(.lent))
    }

    @Test func aWishToStartDoesNotUndoIt() {
        var machine = ready()
        _ = machine.lend(to: 50, isWanted: true, at: 100)
        #expect(machine.start(at: 101, reason: "test").isEmpty)
        _ = machine.retired(at: 110)
        #expect(machine.exited(.code(0), lastLines: [], at: 120) == [.stopped] + Self.lent)
    }

    @Test func whatHadNoProcessHasNoneAfterwards() {
        for isWanted in [false, true] {
            var machine = machine()
            _ = machine.lend(to: 50, isWanted: isWanted, at: 0)
            #expect(machine.loanEnded(at: 10).contains(.spawn) == isWanted)
        }
        var stopped = ready()
        _ = stopped.stop(at: 20, reason: "by operator")
        _ = stopped.retired(at: 30)
        _ = stopped.exited(.code(0), lastLines: [], at: 40)
        _ = stopped.lend(to: 50, isWanted: true, at: 50)
        // A child of the process may be connected as the module.
        let ended = stopped.loanEnded(at: 60)
        #expect(!ended.contains(.spawn) && ended.first == .takeBack)
        #expect(stopped.isAtRest)
    }

    @Test func itsEndWithTheAppSendsItNoSignals() {
        var machine = lentOne()
        #expect(machine.stop(at: 200, reason: "the app ends") == [.retire])
        let settled = Machine.Settled.absent("the app ends")
        #expect(
            machine.retired(at: 210) == [
                .takeBack, .tell(ModuleReport(state: .absent, reason: "the app ends")), .settled(settled),
            ])
        var killed = lentOne()
        #expect(killed.kill(reason: "the app ends").first == .takeBack)
        var hanging = lentOne()
        _ = hanging.stop(at: 200, reason: "the app ends")
        #expect(hanging.deadlinePassed(at: 5_200).first == .takeBack)
        #expect(hanging.isAtRest)
    }
}
