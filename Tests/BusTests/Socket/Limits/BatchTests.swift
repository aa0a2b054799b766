import StrataCore
import Testing

@testable import StrataBus
@testable import StrataTesting

/// Work that one peer causes and that may be much is done in batches. Each test counts the work of
/// single events, so it passes on any machine.
@Suite(.timeLimit(.hang))
struct BatchTests {
    private func run(_ table: AppTable, _ test: (TestBus, MemoryBus) throws -> Void) throws {
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { try test($0, memory) }
    }

    // MARK: Calls

    /// Its own calls end at once, so its next session starts. The callers of the others hear of the
    /// end in batches.
    @Test(.promise("13.43", "6.1"), arguments: [true, false]) func aCalleesManyCallsEndInBatches(isShared: Bool) throws
    {
        let (batch, count) = isShared ? (BusCore.sharedServed, 200) : (BusCore.servedInBatch, 2_500)
        let table = AppTable.testing(
            .manual("Ant", provides: ["Work"]) { $0.observes = [.init(name: "done")] }, .manual("Bee")
        ) { $0.limits.calls = 5_000 }
        try run(table) { bus, memory in
            let (ant, bee) = (try bus.provider("Ant", "Work"), try bus.module("Bee"))
            let calls = try (0..<count).map { _ in try bee.call("Work/act") }
            let report = try bee.report("done", to: "Ant")
            _ = try ant.drain()
            var isCancelled = false
            let most = try memory.mostInOneEvent(
                of: { core in
                    if !isCancelled, core.work.firstEndedCallee != nil {
                        isCancelled = true
                        // Newer ones end first, so this one is still there.
                        bee.pipe?.send(FrameBytes.frame(["kind": "cancel", "id": .integer(Int64(calls[0]))]))
                    }
                    return core.calls.count
                }, isShared: isShared
            ) {
                ant.close()
                let next = try bus.provider("Ant", "Work")
                try next.settle()
            }
            // A report has a notice of its own.
            #expect(isCancelled && most >= batch && most <= batch + 2)
            try bee.find(["kind": "error", "id": .integer(Int64(calls[0])), "code": "cancelled", "ran": "maybe"])
            for id in calls.dropFirst() + [report] {
                try bee.find(["kind": "error", "id": .integer(Int64(id)), "code": "died", "ran": "maybe"])
            }
            #expect(memory.broker.bus.calls.count == 0)
        }
    }

    // MARK: Instances

    private static let shop: JSON = ["interfaces": ["Cart": ["instances": "multiple"]]]

    private func shop(_ instances: Int, _ test: (TestBus, MemoryBus, _ store: RawPeer, _ hand: RawPeer) throws -> Void)
        throws
    {
        let table = AppTable.testing(.manual("Store", provides: ["Cart"]), .manual("Hand", rank: 2))
        try run(table) { bus, memory in
            let (store, hand) = (try bus.module("Store", Self.shop), try bus.module("Hand"))
            for _ in 0..<instances { try hand.asked("bus/create", ["interface": "Cart"]) }
            try test(bus, memory, store, hand)
        }
    }

    /// The order is that of the creation. All are gone at once, and the name is free.
    @Test(.promise("13.43"), arguments: [true, false]) func aCreatorsInstancesEndInBatches(isShared: Bool) throws {
        let (batch, count) = isShared ? (BusCore.sharedInstances, 100) : (BusCore.instancesInBatch, 1_500)
        try shop(count) { bus, memory, store, hand in
            var next: JSON?
            let most = try memory.mostInOneEvent(of: { $0.instances.count }, isShared: isShared) {
                hand.close()
                next = try bus.connect("Hand").hello("Hand")["module"]
                try store.settle()
            }
            #expect(next == "Hand" && most == batch)
            let released = try store.drain().map { $0.json["instance"]?.string }
            #expect(released == (1...count).map { "Cart#\($0)" })
            #expect(memory.broker.bus.instances.count == 0)
        }
    }

    @Test(.promise("13.43", "6.38"), arguments: [true, false])
    func anOwnersInstancesEndInBatchesAndAtOnce(isShared: Bool) throws {
        let (batch, count) = isShared ? (BusCore.sharedInstances, 100) : (BusCore.instancesInBatch, 1_500)
        try shop(count) { bus, memory, store, hand in
            var wasSeen = false
            var live = -1
            let most = try memory.mostInOneEvent(
                of: { core in
                    if core.instances.count < count, !wasSeen {
                        // After the first batch, none is there for anybody.
                        wasSeen = true
                        let creator = core.modules.find("Hand")?.peer
                        live =
                            (creator?.instances.created ?? 0)
                            + (1...UInt64(count)).count { core.instances.find($0) != nil }
                    }
                    return core.instances.count
                }, isShared: isShared
            ) {
                store.close()
                try bus.waitUntil("Store", is: "absent")
                try hand.settle()
            }
            #expect(wasSeen && live == 0 && most == batch)
            let ended = try hand.drain().filter { $0.to == "module/instanceEnded" }.map { $0.json["instance"]?.string }
            #expect(ended == (1...count).map { "Cart#\($0)" })
            #expect(memory.broker.bus.instances.count == 0)
        }
    }

    /// A released one is neither notified nor counted when the others end.
    @Test(.promise("13.43")) func releasedInstancesAreForgotten() throws {
        try shop(200) { bus, memory, store, hand in
            for number in 1...150 { try hand.asked("bus/release", ["instance": .string("Cart#\(number)")]) }
            _ = try store.drain()
            hand.close()
            try bus.waitUntil("Hand", is: "absent")
            #expect(try store.drain().map { $0.json["instance"]?.string } == (151...200).map { "Cart#\($0)" })
            #expect(memory.broker.bus.instances.count == 0)
        }
    }

    /// The creator has closed, and its many requests end in batches. An owner that consents
    /// meanwhile is told that there is no instance.
    @Test(.promise("6.37")) func aConsentAfterTheCreatorsEndMakesNoInstance() throws {
        let table = AppTable.testing(
            .manual("Store", provides: ["Cart", "Till"]), .manual("Hand", rank: 2))
        try run(table) { bus, memory in
            let store = try bus.connect("Store")
            store.answersLifecycle = true
            try store.hello("Store", ["interfaces": ["Cart": ["instances": "multiple"], "Till": [:]]])
            try store.becomeReady()
            store.answersLifecycle = false
            let hand = try bus.module("Hand")
            try hand.call("bus/create", ["interface": "Cart"])
            let question = try store.expectCall("module/create")
            for _ in 0..<200 { try hand.call("Till/act") }
            for _ in 0..<200 { try store.expectCall("Till/act") }
            var isAnswered = false
            memory.broker.isShared = true
            memory.broker.onEvent = {
                // The newest requests end first.
                guard !isAnswered, !memory.broker.bus.work.deferredCloses.isEmpty else { return }
                isAnswered = true
                store.pipe?.send(FrameBytes.frame(["kind": "reply", "id": question.number]))
            }
            hand.close()
            try store.settle()
            #expect(isAnswered)
            let told = try store.drain().filter { $0.to == "module/released" }
            #expect(told.map { $0.json["instance"] } == ["Cart#1"])
            #expect(memory.broker.bus.instances.count == 0)
        }
    }

    // MARK: Held notices and waiting requests

    private func waking(_ rows: Int, _ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            [.manual("Store")]
                + (0..<rows).map { number in
                    .manual("Export\(number)", rank: 2, provides: ["Export\(number)"]) { row in
                        row.start = .onDemand
                        row.observes = [.init(name: "changed")]
                        row.wakes = ["changed"]
                    }
                }, with: change)
    }

    @Test(.promise("13.43"), arguments: [true, false]) func heldNoticesAndRequestsComeInBatches(isShared: Bool) throws {
        let batch = isShared ? FanOut.sharedBatch : FanOut.batch
        try run(waking(1)) { bus, memory in
            let (launcher, store) = (try bus.launcher(), try bus.module("Store"))
            for number in 0..<64 as Range<Int64> { try store.broadcast("changed", .integer(number)) }
            for number in 0..<600 as Range<Int64> { try store.call("Export0/act", .integer(number)) }
            let export = try bus.connect("Export0")
            let own: JSON = ["token": .string(try bus.vouch(for: "Export0")), "interfaces": ["Export0": [:]]]
            try export.hello("Export0", own.with(["observes": .array(Array(repeating: "changed", count: 60))]))
            try export.reply(to: try export.expectCall("module/setUp"))
            let initialize = try export.expectCall("module/initialize")
            // A request is as much work as four notices.
            let most = try memory.mostInOneEvent(
                of: { Int($0.statistics.notices) + 4 * ($0.modules.find("Export0")?.peer?.servedCount ?? 0) },
                isShared: isShared
            ) {
                try export.reply(to: initialize)
                try export.settle()
            }
            #expect(most <= batch + 8, "\(most)")
            let frames = try export.drain().filter { $0.to != "module/didStart" }
            let notices = frames.prefix { $0.kind == "notice" }
            #expect(notices.map(\.json) == (0..<64).flatMap { Array(repeating: JSON.integer($0), count: 60) })
            #expect(frames.dropFirst(notices.count).map(\.json) == (0..<600).map { .integer($0) })
            #expect(try launcher.next().to == "launcher/start")
        }
    }

    @Test(.promise("13.43"), arguments: [true, false]) func manyModulesAreStartedInBatches(isShared: Bool) throws {
        let batch = isShared ? 12 : 100
        try run(waking(250)) { bus, memory in
            let (launcher, store) = (try bus.launcher(), try bus.module("Store"))
            let most = try memory.mostInOneEvent(of: { $0.launcher?.servedCount ?? 0 }, isShared: isShared) {
                try store.broadcast("changed", 1)
                try store.settle()
            }
            #expect(most == batch)
            let started = try launcher.drain().map { $0.json["module"]?.string }
            #expect(started == (0..<250).map { "Export\($0)" })
        }
    }

    /// A start that has become needless before its turn came isn't asked for.
    @Test(.promise("13.43")) func aNewLauncherIsAskedForTheStartsThatAreLeft() throws {
        try run(waking(250)) { bus, memory in
            let (launcher, store) = (try bus.launcher(), try bus.module("Store"))
            var isClosed = false
            memory.broker.onEvent = {
                guard !isClosed, memory.broker.bus.work.hasStarts else { return }
                isClosed = true
                launcher.pipe?.close()
            }
            try store.broadcast("changed", 1)
            try store.settle()
            #expect(isClosed && !memory.broker.bus.work.hasStarts)
            launcher.close()
            // Nothing is held without a launcher.
            #expect(memory.broker.bus.mailboxes.heldCount == 0)
            let next = try bus.launcher()
            try store.broadcast("changed", 2)
            #expect(try next.drain().map { $0.json["module"]?.string } == (0..<250).map { "Export\($0)" })
        }
    }

    @Test(.promise("13.43"), arguments: [true, false]) func theLaunchersEndEndsWhatWaitsInBatches(isShared: Bool) throws
    {
        let (batch, rows) = isShared ? (BusCore.sharedAbandoned, 40) : (BusCore.abandonedInBatch, 300)
        try run(waking(rows) { $0.limits.calls = 10_000 }) { bus, memory in
            let (launcher, store) = (try bus.launcher(), try bus.module("Store"))
            for _ in 0..<5 { try store.broadcast("changed", 1) }
            let calls = try (0..<rows * 5).map { try store.call("Export\($0 % rows)/act") }
            _ = try store.drain()
            let most = try memory.mostInOneEvent(
                of: { $0.mailboxes.heldCount + $0.modules.rows.reduce(0) { $0 + $1.waiting.count } }, isShared: isShared
            ) {
                launcher.close()
                try store.settle()
            }
            // What waits for one module ends together.
            #expect(most > batch / 2 && most < batch + 10, "\(most)")
            for id in calls { try store.find(["kind": "error", "id": .integer(Int64(id)), "code": "unavailable"]) }
            #expect(memory.broker.bus.mailboxes.heldCount == 0)
        }
    }

    /// A launcher that comes meanwhile starts what still waits.
    @Test(.promise("13.43")) func whatStillWaitsIsLeftToTheNextLauncher() throws {
        try run(waking(40)) { bus, memory in
            let (launcher, store) = (try bus.launcher(), try bus.module("Store"))
            let calls = try (0..<40).map { try store.call("Export\($0)/act") }
            let other = try bus.connect("launcher")
            memory.broker.isShared = true
            var isThere = false
            memory.broker.onEvent = {
                guard !isThere, memory.broker.bus.work.hasAbandoned else { return }
                isThere = true
                let hello: JSON = ["protocol": 1, "role": "launcher"]
                other.pipe?.send(FrameBytes.frame(["kind": "call", "id": 1, "to": "bus/hello"], body: hello))
            }
            launcher.close()
            _ = try other.answer(to: 1)
            try store.settle()
            #expect(isThere)
            let failed = try store.drain().filter { $0.kind == "error" }.count
            #expect(failed > 0 && failed < 40)
            #expect(try other.drain().count { $0.to == "launcher/start" } == calls.count - failed)
        }
    }
}

extension RawPeer {
    /// The bytes between it and the bus. What is done to them doesn't run the bus, which may be in
    /// the middle of an event.
    fileprivate var pipe: MemoryPipe? { (link as? MemoryLink)?.pipe }
}
