import StrataCore
import Testing

@testable import StrataLauncher

/// The steps of an app's end, and their time limits.
@Suite(.timeLimit(.hang))
struct AppMachineTests {
    private static let ending = Launcher.Ending(code: 0, message: "test")

    /// Returns a machine whose end began at 100 and that has stopped the module `A`, then `B` and
    /// `C`.
    private func ending(_ rows: [(String, rank: Int)] = [("A", 0), ("B", 1), ("C", 1)]) -> AppMachine {
        var app = AppMachine()
        app.started()
        #expect(app.ended(Self.ending, at: 100) == [.announce(Self.ending, within: 1_000)])
        #expect(app.announced() == [.orderStops(since: 100)])
        var table = AppTable(app: "test")
        table.modules = rows.map { name, rank in
            var row = AppTable.Row(name: name)
            (row.rank, row.stop) = (rank, 300)
            return row
        }
        app.modulesEnd(StopOrder(table, running: Set(rows.map(\.0)), at: 100))
        return app
    }

    private func names(_ actions: [AppMachine.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .stop(let name, _): name
            case .takeLeave(Self.ending): "leave"
            default: "\(action)"
            }
        }
    }

    private func endingBroker() -> AppMachine {
        var app = ending([])
        #expect(app.nextStop(at: 200) { _ in false } == [.takeLeave(Self.ending)])
        #expect(app.deadline == 700)
        #expect(app.leaveTaken() == [.closeBus, .endBroker])
        #expect(app.deadline == 9_100)
        return app
    }

    @Test func nothingEndsBeforeItHasStarted() {
        var app = AppMachine()
        #expect(!app.isRunning && app.ended(Self.ending, at: 1).isEmpty)
        #expect(app.ordered("SIGTERM", at: 1) == [.note("SIGTERM: the app ends")])
        app.started()
        #expect(app.isRunning && app.deadline == nil)
    }

    @Test func firstReasonCounts() {
        var app = AppMachine()
        app.started()
        _ = app.ended(Self.ending, at: 100)
        #expect(!app.isRunning && app.deadline == 1_100)
        #expect(app.ended(Launcher.Ending(code: 3, message: "later"), at: 101).isEmpty)
        #expect(app.deadlinePassed(at: 1_099).isEmpty)
        #expect(app.deadlinePassed(at: 1_100) == [.orderStops(since: 100)])
    }

    @Test func modulesOfAGroupStopTogetherAndTheNextOneAfterThem() {
        var app = ending()
        var processes: Set = ["A", "B", "C"]
        func next() -> [String] { names(app.nextStop(at: 200) { processes.contains($0) }) }
        #expect(app.announced().isEmpty)
        #expect(next() == ["B"])
        #expect(next() == ["C"])
        #expect(next() == [])
        processes.remove("B")
        #expect(next() == [])
        processes.remove("C")
        #expect(next() == ["A"])
        #expect(next() == [])
        processes.remove("A")
        #expect(next() == ["leave"])
        #expect(next() == [])
    }

    @Test func modulesThatHaveNoProcessHoldUpNobody() {
        var app = ending()
        var all: [String] = []
        while let name = names(app.nextStop(at: 200) { _ in false }).first { all.append(name) }
        #expect(all == ["B", "C", "A", "leave"])
    }

    @Test func brokerEndsWhenItHasReadTheLastWordsOrHalfASecondLater() {
        var app = ending([])
        _ = app.nextStop(at: 200) { _ in false }
        #expect(app.deadlinePassed(at: 699).isEmpty)
        #expect(app.deadlinePassed(at: 700) == [.closeBus, .endBroker])
        #expect(app.leaveTaken().isEmpty)
    }

    @Test func secondOrderKillsAtOnce() {
        for step in 0..<3 {
            var app = AppMachine()
            app.started()
            _ = app.ended(Self.ending, at: 100)
            if step > 0 { app = ending([]) }
            if step > 1 { _ = app.nextStop(at: 200) { _ in false } }
            #expect(
                app.ordered("SIGINT", at: 300) == [
                    .note("SIGINT again: everything is killed"), .killAll, .endReaders(Self.ending), .closeBus,
                    .endBroker,
                ], "step \(step)")
            #expect(app.deadline == 9_400)
            #expect(app.announced().isEmpty && app.leaveTaken().isEmpty)
            #expect(app.nextStop(at: 300) { _ in false }.isEmpty)
        }
    }

    @Test func whatHangsIsKilledAndThenWaitedForNoLonger() {
        var app = ending()
        _ = app.nextStop(at: 200) { _ in true }
        #expect(app.deadlinePassed(at: 9_100).first == .killAll)
        #expect(app.deadline == 9_400)
        #expect(app.deadlinePassed(at: 9_400) == [.killAll, .removeSocket, .sweep])
    }

    @Test func brokerThatDoesNotEndIsKilled() {
        var app = endingBroker()
        #expect(app.deadlinePassed(at: 9_100) == [.killAll])
        #expect(app.brokerEnded(at: 9_150) == [.removeSocket, .sweep])
        #expect(app.brokerEnded(at: 9_151).isEmpty)
    }

    @Test func whatIsLeftIsSweptUntilNothingIs() {
        var app = endingBroker()
        #expect(app.childEnded().isEmpty)
        _ = app.brokerEnded(at: 400)
        #expect(app.swept([7], at: 400).isEmpty)
        #expect(app.deadline == 405 && app.deadlinePassed(at: 405) == [.sweep] && app.childEnded() == [.sweep])
        // Impatience doesn't delay it.
        #expect(app.ordered("SIGINT", at: 406).last == .killAll)
        #expect(app.deadline == 405)
        #expect(app.swept([], at: 407) == [.finish(Self.ending)])
        #expect(app.deadline == nil && app.ordered("SIGINT", at: 408).isEmpty)
    }

    @Test func whatCannotBeKilledIsLeftAfterHalfASecondAtLeast() {
        var app = endingBroker()
        _ = app.brokerEnded(at: 9_400)
        #expect(app.swept([7, 8], at: 9_899).isEmpty)
        #expect(
            app.swept([7, 8], at: 9_900) == [.note("processes 7 and 8 can't be killed"), .finish(Self.ending)])
        var early = endingBroker()
        _ = early.brokerEnded(at: 400)
        #expect(early.swept([7], at: 9_599).isEmpty)
        #expect(early.swept([7], at: 9_600).last == .finish(Self.ending))
    }
}
