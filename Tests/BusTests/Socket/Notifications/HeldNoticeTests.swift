import StrataCore
import Testing

@testable import StrataBus
@testable import StrataTesting

/// How a module that is ready gets the notices that were held for it: as its queue has room, before
/// newer ones and before requests.
@Suite(.timeLimit(.hang))
struct HeldNoticeTests {
    /// A queue that a socket and half of it hold only two of the notices.
    private func table(_ change: (inout AppTable.Row) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Export", rank: 2, provides: ["Export"]) { row in
                row.start = .onDemand
                row.observes = [.init(name: "changed"), .init(name: "done"), .init(name: "other")]
                row.wakes = ["changed", "done"]
                change(&row)
            }, .manual("Store"), .manual("Late", rank: 2)
        ) { $0.limits.queue = 400_000 }
    }

    private static func body(_ number: Int64) -> JSON {
        .array([.integer(number), .string(String(repeating: "x", count: 90_000))])
    }

    private func run(
        _ table: AppTable, _ test: (TestBus, MemoryBus, _ launcher: RawPeer, _ store: RawPeer) throws -> Void
    ) throws {
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { bus in
            try test(bus, memory, try bus.launcher(), try bus.module("Store"))
        }
    }

    /// Connects the module up to its `initialize`, which isn't answered yet.
    private func arrive(_ bus: TestBus, _ hello: JSON = [:]) throws -> (RawPeer, initialize: ReceivedFrame) {
        let token = try bus.vouch(for: "Export")
        let peer = try bus.connect("Export")
        let own: JSON = ["token": .string(token), "interfaces": ["Export": [:]]]
        try peer.hello("Export", own.with(hello))
        try peer.reply(to: try peer.expectCall("module/setUp"))
        return (peer, try peer.expectCall("module/initialize"))
    }

    private static let twice: JSON = ["observes": ["changed", "changed"]]

    /// The next frame, without `module/didStart`, whose place is any.
    private func next(_ peer: RawPeer) throws -> ReceivedFrame {
        let frame = try peer.next()
        return frame.to == "module/didStart" ? try peer.next() : frame
    }

    private func number(_ frame: ReceivedFrame) -> Int64? { frame.json.array?.first?.integer ?? frame.json.integer }

    @Test(.promise("7.20"), arguments: [true, false])
    func anObserverOfTheNameTwiceGetsAllInOrderAndNoRequestIsRefused(isShared: Bool) throws {
        try run(table()) { bus, memory, launcher, store in
            memory.broker.isShared = isShared
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            let early = try store.call("Export/run", Self.body(10))
            let (export, initialize) = try arrive(bus, Self.twice)
            export.isPaused = true
            try export.reply(to: initialize)
            // It is ready, and gets what comes now after the others.
            #expect(try bus.state(of: "Export") == "ready")
            #expect(try store.recipients(ofBroadcast: "changed", Self.body(5)) == 1)
            let late = try store.call("Export/run", 11)
            #expect(try store.drain().filter { $0.kind == "error" }.isEmpty)
            for number in 1...5 as ClosedRange<Int64> {
                for subscription in [1, 2] as [JSON] {
                    let notice = try next(export)
                    #expect(notice.kind == "notice" && notice["subscription"] == subscription)
                    #expect(self.number(notice) == number && notice["missed"] == nil)
                }
            }
            for (id, number) in [(early, 10), (late, 11)] as [(UInt64, Int64)] {
                let call = try next(export)
                #expect(call.to == "Export/run" && self.number(call) == number)
                try export.reply(to: call)
                try store.expectReply(to: id)
            }
            // From now on it gets them directly, as any observer.
            #expect(try store.recipients(ofBroadcast: "changed", 6) == 2)
            for _ in 0..<2 { #expect(self.number(try next(export)) == 6) }
            #expect(memory.broker.bus.mailboxes.heldCount == 0)
        }
    }

    /// What the broker holds takes half of the queue, so there is room for what wakes nobody.
    @Test(.promise("7.20")) func otherNoticesHaveRoomMeanwhile() throws {
        try run(table()) { bus, _, _, store in
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            let (export, initialize) = try arrive(bus, Self.twice)
            export.isPaused = true
            try export.reply(to: initialize)
            #expect(try store.recipients(ofBroadcast: "other", Self.body(7)) == 1)
            let frames = try (0..<9).map { _ in try next(export) }
            #expect(frames.filter { $0.name == "changed" }.map(number) == [1, 1, 2, 2, 3, 3, 4, 4])
            #expect(frames.filter { $0.name == "other" }.map(number) == [7])
        }
    }

    /// At the bound of held notices the oldest is lost, but not the one that is being delivered.
    @Test(.promise("7.20", "7.17")) func newerOnesPushOutWhatHasNotBegun() throws {
        try run(table()) { bus, _, _, store in
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            let many: JSON = ["observes": .array(Array(repeating: "changed", count: 10))]
            let (export, initialize) = try arrive(bus, many)
            export.isPaused = true
            try export.reply(to: initialize)
            for number in 5...7 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            var frames: [ReceivedFrame] = []
            for _ in 0..<40 { frames.append(try next(export)) }
            #expect(frames.map(number) == [1, 5, 6, 7].flatMap { Array(repeating: $0, count: 10) })
            #expect(frames.map { $0["subscription"]?.integer } == (0..<4).flatMap { _ in (1...10).map { Int64($0) } })
            for frame in frames { #expect(frame["missed"]?.integer == (number(frame) == 5 ? 3 : nil)) }
            try export.expectNothing()
        }
    }

    @Test(.promise("7.20")) func latestIsReplacedWhileItWaits() throws {
        try run(table { $0.observes[1].keep = .latest }) { bus, _, _, store in
            for number in 1...3 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            try store.broadcast("done", 8)
            let (export, initialize) = try arrive(bus, Self.twice)
            export.isPaused = true
            try export.reply(to: initialize)
            try store.broadcast("done", 9)
            for number in [1, 1, 2, 2, 3, 3] as [Int64] { #expect(self.number(try next(export)) == number) }
            let done = try next(export)
            #expect(done.name == "done" && number(done) == 9 && done["missed"] == 1)
        }
    }

    /// Ways in which a session ends before it has got everything.
    enum End: CaseIterable { case dies, isStopped }

    @Test(.promise("7.20"), arguments: End.allCases) func theNextSessionGetsTheRest(end: End) throws {
        try run(table { $0.stop = 600_000 }) { bus, memory, launcher, store in
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            let start = try launcher.expectCall("launcher/start")
            let (export, initialize) = try arrive(bus, Self.twice)
            try launcher.reply(to: start)
            export.isPaused = true
            try export.reply(to: initialize)
            let waiting = try store.call("Export/run", 10)
            try store.settle()
            let held = memory.broker.bus.mailboxes.heldCount
            #expect(held > 0 && held < 4)
            switch end {
            case .dies: export.close()
            case .isStopped:
                try launcher.call("bus/retire", ["module": "Export"])
                export.isPaused = false
                let tearDown = try export.find(["kind": "call", "to": "module/tearDown"])
                try export.reply(to: tearDown)
                _ = try launcher.next()
                export.close()
            }
            try launcher.expectCall("launcher/start")
            // One of which an observation has got nothing yet isn't delivered again.
            let (next, second) = try arrive(bus)
            try next.reply(to: second)
            let numbers = try (0..<held).map { _ in number(try self.next(next)) }
            #expect([[2, 3, 4], [3, 4], [4]].contains(numbers), "\(numbers)")
            let call = try self.next(next)
            #expect(call.to == "Export/run")
            try next.reply(to: call)
            try store.expectReply(to: waiting)
            #expect(try store.recipients(ofBroadcast: "changed", 5) == 1)
        }
    }

    @Test(.promise("7.20")) func theNextSessionGetsNothingOfANoticeThatTheLastOneGotInPart() throws {
        try run(table()) { bus, memory, launcher, store in
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            let start = try launcher.expectCall("launcher/start")
            let many = { (count: Int) -> JSON in ["observes": .array(Array(repeating: "changed", count: count))] }
            let (export, initialize) = try arrive(bus, many(3))
            try launcher.reply(to: start)
            export.isPaused = true
            try export.reply(to: initialize)
            try store.settle()
            let held = try #require(memory.broker.bus.modules.find("Export")?.mailbox.held)
            #expect(held[0].deliveredTo > 0)
            export.close()
            try launcher.expectCall("launcher/start")
            #expect(memory.broker.bus.mailboxes.heldCount == held.count - 1)
            let (next, second) = try arrive(bus, many(6))
            try next.reply(to: second)
            #expect(number(try self.next(next)) == Int64(6 - held.count))
        }
    }

    /// Over sockets, because the next process is another one.
    @Test(.promise("7.20", "5.25")) func theProcessThatTakesOverGetsTheRest() throws {
        let table = table { row in
            row.stop = 600_000
            row.replace = .overlap
        }
        try TestBus.run(table) { bus in
            let (launcher, store) = (try bus.launcher(), try bus.module("Store"))
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            _ = try store.drain()
            try launcher.expectCall("launcher/start")
            let offer: JSON = ["interfaces": ["Export": [:]]]
            let old = try bus.process(of: "Export", offer.with(Self.twice), answersLifecycle: false)
            try old.peer.reply(to: try old.peer.expectCall("module/setUp"))
            let initialize = try old.peer.expectCall("module/initialize")
            old.peer.isPaused = true
            try old.peer.reply(to: initialize)
            let waiting = try store.call("Export/run", 10)
            let new = try bus.process(of: "Export", offer, answersLifecycle: false)
            for step in ["setUp", "initialize"] { try new.peer.reply(to: try new.peer.expectCall("module/\(step)")) }
            var numbers: [Int64?] = []
            while true {
                let frame = try next(new.peer)
                if frame.kind == "call" {
                    try new.peer.reply(to: frame)
                    break
                }
                numbers.append(number(frame))
            }
            #expect([[2, 3, 4], [3, 4], [4]].contains(numbers), "\(numbers)")
            try store.expectReply(to: waiting)
            #expect(try store.recipients(ofBroadcast: "changed", 5) == 1)
            #expect(number(try next(new.peer)) == 5)
        }
    }

    @Test(.promise("7.20", "7.19")) func theRestPassesToTheNextProgram() throws {
        try run(table()) { bus, memory, _, store in
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            let many: JSON = ["observes": .array(Array(repeating: "changed", count: 3))]
            let (export, initialize) = try arrive(bus, many)
            export.isPaused = true
            try export.reply(to: initialize)
            let waiting = try store.call("Export/run", 10)
            try store.settle()
            try memory.broker.replace()
            #expect(try store.recipients(ofBroadcast: "changed", Self.body(5)) == 1)
            try memory.broker.replace()
            for number in 1...5 as ClosedRange<Int64> {
                for _ in 0..<3 { #expect(self.number(try next(export)) == number) }
            }
            try export.reply(to: try next(export))
            try store.expectReply(to: waiting)
        }
    }

    @Test func requestsThatWaitedComeAsTheQueueHasRoom() throws {
        try run(table()) { bus, _, launcher, store in
            let ids = try (1...10).map { try store.call("Export/run", Self.body($0)) }
            let start = try launcher.expectCall("launcher/start")
            let (export, initialize) = try arrive(bus)
            try launcher.reply(to: start)
            export.isPaused = true
            try export.reply(to: initialize)
            try store.settle()
            export.isPaused = false
            for (place, id) in ids.enumerated() {
                let call = try next(export)
                #expect(call.to == "Export/run" && number(call) == Int64(place + 1))
                try export.reply(to: call)
                try store.expectReply(to: id)
            }
        }
    }

    /// A reload takes the observation away while its notices are delivered.
    @Test(.promise("7.20")) func aReloadThatTakesTheNameAwayDropsTheRest() throws {
        let table = table()
        var without = table
        without.modules[0].wakes = ["done"]
        try run(table) { bus, memory, launcher, store in
            for number in 1...4 as ClosedRange<Int64> { try store.broadcast("changed", Self.body(number)) }
            try launcher.expectCall("launcher/start")
            let (export, initialize) = try arrive(bus, Self.twice)
            export.isPaused = true
            try export.reply(to: initialize)
            let waiting = try store.call("Export/run", 10)
            let reload = try bus.operator().call("bus/reload")
            let question = try launcher.expectCall("launcher/reload")
            try launcher.reply(to: question, without.json())
            try bus.operator().expectReply(to: reload)
            #expect(memory.broker.bus.mailboxes.heldCount == 0)
            try store.broadcast("changed", 6)
            var numbers: [Int64?] = []
            while true {
                let frame = try next(export)
                if frame.kind == "call" {
                    try export.reply(to: frame)
                    break
                }
                numbers.append(number(frame))
            }
            #expect(numbers.first == 1 && numbers.contains(6))
            try store.expectReply(to: waiting)
        }
    }
}
