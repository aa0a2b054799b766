import StrataCore
import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct StartOrderTests {
    private func row(_ name: String, _ rank: Int, _ priority: Int = 0, _ start: AppTable.Start = .eager) -> AppTable.Row
    {
        var row = AppTable.Row(name: name)
        row.rank = rank
        row.priority = priority
        row.start = start
        return row
    }

    private func table(_ rows: AppTable.Row...) -> AppTable {
        var table = AppTable(app: "test")
        table.startup = 30_000
        table.modules = rows
        return table
    }

    @Test func levelsThenPrioritiesTakeTurns() {
        var order = StartOrder(table(row("Top", 2), row("Late", 0, -1), row("A", 0), row("B", 0), row("First", 0, 5)))
        #expect(order.begin(at: 0) == ["First"])
        #expect(order.passed("First", at: 1) == ["A", "B"])
        #expect(order.passed("A", at: 2).isEmpty)
        #expect(order.passed("B", at: 3) == ["Late"])
        #expect(order.passed("Late", at: 4) == ["Top"])
        #expect(!order.isOver)
        #expect(order.passed("Top", at: 5).isEmpty)
        #expect(order.isOver && order.deadline == nil)
    }

    @Test(.promise("M.97")) func aRequiredOneThatIsLateIsWaitedForOn() {
        var order = StartOrder(table(row("A", 0), row("B", 0), row("Top", 2)))
        #expect(order.begin(at: 0) == ["A", "B"])
        #expect(order.deadlinePassed(at: 30_000, isRequired: { $0 == "B" }).isEmpty)
        #expect(order.holders == ["B"] && order.deadline == nil)
        #expect(order.passed("B", at: 40_000) == ["Top"])
    }

    @Test(.promise("I.2")) func asynchronousOnesTakeTheirLevelsFirstTurnAndHoldUpNobody() {
        var order = StartOrder(
            table(row("A", 0, 5), row("B", 0), row("Slow", 0, -9, .async), row("Only", 1, 0, .async)))
        #expect(order.begin(at: 0) == ["A", "Slow"])
        #expect(order.passed("A", at: 1) == ["B"])
        #expect(order.passed("B", at: 2) == ["Only"])
        #expect(order.isOver)
    }

    @Test(.promise("M.10")) func onDemandAndManualOnesHaveNoTurn() {
        var order = StartOrder(table(row("A", 0, 0, .onDemand), row("B", 0, 0, .manual)))
        #expect(order.begin(at: 0).isEmpty)
        #expect(order.isOver)
    }

    @Test(.promise("M.147")) func rowsOfOtherNodesHaveNoTurn() {
        var table = table(row("A", 0), row("Away", 0, 5), row("Slow", 0, 9, .async), row("Top", 2))
        (table.nodes, table.node) = ([.init("berlin"), .init("tokyo")], "berlin")
        let placements: [AppTable.Placement] = [.on(["berlin"]), .on(["tokyo"]), .on(["tokyo"]), .everywhere]
        for (index, placement) in placements.enumerated() { table.modules[index].placement = placement }
        var order = StartOrder(table)
        #expect(order.begin(at: 0) == ["A"])
        #expect(order.passed("A", at: 1) == ["Top"])
    }

    @Test func groupThatTakesTooLongIsNotWaitedFor() {
        var order = StartOrder(table(row("A", 0), row("B", 1)))
        _ = order.begin(at: 100)
        #expect(order.deadline == 30_100)
        #expect(order.deadlinePassed(at: 30_099).isEmpty)
        #expect(order.deadlinePassed(at: 30_100) == ["B"])
        #expect(order.passed("A", at: 30_200).isEmpty)
    }
}

@Suite(.timeLimit(.hang))
struct StopOrderTests {
    private func table(_ rows: [(String, Int, Int)], stop: UInt64 = 5_000) -> AppTable {
        var table = AppTable(app: "test")
        table.modules = rows.map { name, rank, priority in
            var row = AppTable.Row(name: name)
            (row.rank, row.priority, row.stop) = (rank, priority, stop)
            return row
        }
        return table
    }

    @Test func groupsEndInReverse() {
        let table = table([("A", 0, 0), ("B", 0, 5), ("C", 2, 0), ("D", 2, 0), ("Gone", 1, 0)])
        var order = StopOrder(table, running: ["A", "B", "C", "D"], at: 0)
        #expect(order.next(at: 0)?.map(\.name) == ["C", "D"])
        #expect(order.next(at: 1)?.map(\.name) == ["A"])
        #expect(order.next(at: 2)?.map(\.name) == ["B"])
        #expect(order.next(at: 3) == nil)
    }

    @Test(.promise("M.40")) func hangingGroupsTogetherStayWithinTheBudget() {
        let rows = (0..<30).map { ("M\($0)", 0, $0) }
        var order = StopOrder(table(rows), running: Set(rows.map(\.0)), at: 0)
        var now: UInt64 = 0
        while let next = order.next(at: now) { now += next[0].times.tearDown + next[0].times.terminate }
        #expect(now <= StopOrder.budget && now > StopOrder.budget - 100)
    }

    @Test(.promise("M.15")) func rowsOwnTimeIsTheMost() {
        var order = StopOrder(table([("A", 0, 0)], stop: 300), running: ["A"], at: 0)
        #expect(order.next(at: 0)?[0].times == ModuleMachine.StopTimes(tearDown: 300, terminate: 300))
    }
}
