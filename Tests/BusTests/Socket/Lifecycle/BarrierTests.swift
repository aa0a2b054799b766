import StrataCore
import StrataTesting
import Testing

/// The protocol's section 11: the order at the app's start, with eager rows that this process
/// plays and vouches for.
@Suite(.timeLimit(.hang))
struct BarrierTests {
    /// Two rows in the first level with equal priority, one before them, and one in a later
    /// level.
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .eager("Late", rank: 2), .eager("One", rank: 0), .eager("Two", rank: 0),
            .eager("First", rank: 0, priority: 5), .manual("Hand"), with: change)
    }

    private func arrive(_ bus: TestBus, _ name: String, _ hello: JSON = [:]) throws -> RawPeer {
        let token = try bus.vouch(for: name)
        let peer = try bus.connect(name)
        let credentials: JSON = .object([.init("token", .string(token))] + (hello.object ?? []))
        try peer.hello(name, credentials)
        return peer
    }

    private func done(_ peer: RawPeer, _ step: String) throws {
        try peer.reply(to: try peer.expectCall("module/\(step)"))
        try peer.settle()
    }

    @Test(.promise("11.5", "I.1")) func modulesStartByLevelThenPriorityAndEqualsAtOnce() throws {
        try TestBus.run(table()) { bus in
            let late = try arrive(bus, "Late")
            let one = try arrive(bus, "One")
            let two = try arrive(bus, "Two")
            for peer in [late, one, two] { try peer.expectNothing() }
            let first = try arrive(bus, "First")
            let setUp = try first.expectCall("module/setUp")
            for peer in [late, one, two] { try peer.expectNothing() }
            try first.reply(to: setUp)
            let both = try [one.expectCall("module/setUp"), two.expectCall("module/setUp")]
            try one.reply(to: both[0])
            try one.settle()
            try late.expectNothing()
            try two.reply(to: both[1])
            let lateSetUp = try late.expectCall("module/setUp")
            // No module initializes before all of them are set up.
            for peer in [first, one, two] { try peer.expectNothing() }
            try late.reply(to: lateSetUp)
            let initialize = try first.expectCall("module/initialize")
            for peer in [one, two, late] { try peer.expectNothing() }
            try first.reply(to: initialize)
            try done(one, "initialize")
            try late.expectNothing()
            try done(two, "initialize")
            // didStart comes when all have initialized.
            for peer in [first, one, two] { try peer.expectNothing() }
            #expect(try bus.state(of: "First") == "ready")
            try late.reply(to: try late.expectCall("module/initialize"))
            for peer in [first, one, two, late] { try peer.reply(to: try peer.expectCall("module/didStart")) }
            for name in ["First", "One", "Two", "Late"] { #expect(try bus.state(of: name) == "ready") }
        }
    }

    @Test(.promise("11.6")) func theOthersGoOnAtTheFirstFailedStart() throws {
        try MemoryBus.run(table()) { bus in
            let one = try arrive(bus, "One")
            let first = try arrive(bus, "First")
            try one.expectNothing()
            try first.fail(try first.expectCall("module/setUp"), "First.broken")
            try first.expectEnd("failed")
            try one.expectCall("module/setUp")
        }
    }

    @Test(.promise("11.6")) func aModuleThatDiedBeforeItWasReadyGoesThroughItsStepsAsItComes() throws {
        try MemoryBus.run(table()) { bus in
            let one = try arrive(bus, "One")
            let first = try arrive(bus, "First")
            try first.expectCall("module/setUp")
            first.close()
            let setUp = try one.expectCall("module/setUp")
            let again = try arrive(bus, "First")
            for step in ["setUp", "initialize", "didStart"] { try done(again, step) }
            #expect(try bus.state(of: "First") == "ready")
            try one.reply(to: setUp)
        }
    }

    @Test(.promise("11.6")) func aProcessThatEndsBeforeHelloHoldsNobodyUp() throws {
        try MemoryBus.run(table()) { bus in
            let one = try arrive(bus, "One")
            let launcher = try bus.launcher()
            try launcher.asked("bus/moduleState", ["module": "First", "state": "starting"])
            try one.expectNothing()
            try launcher.asked("bus/moduleState", ["module": "First", "state": "restarting", "reason": "exit code 5"])
            try one.expectCall("module/setUp")
        }
    }

    @Test(.promise("11.6", "M.97")) func theOthersWaitForARequiredRowWhoseStartHasFailed() throws {
        let table = AppTable.testing(.eager("First", priority: 1) { $0.required = true }, .eager("Second"))
        try MemoryBus.run(table) { bus in
            let second = try arrive(bus, "Second")
            let first = try arrive(bus, "First")
            try first.fail(try first.expectCall("module/setUp"), "First.broken")
            try first.expectEnd("failed")
            try second.expectNothing()
            let launcher = try bus.launcher()
            try launcher.asked("bus/moduleState", ["module": "First", "state": "failed", "reason": "its setUp failed"])
            try second.expectNothing()
            try done(try arrive(bus, "First"), "setUp")
            try second.expectCall("module/setUp")
        }
    }

    @Test func aRequiredRowThatIsStoppedIsNotWaitedFor() throws {
        let table = AppTable.testing(.eager("First", priority: 1) { $0.required = true }, .eager("Second"))
        try MemoryBus.run(table) { bus in
            let second = try arrive(bus, "Second")
            try second.expectNothing()
            try bus.launcher().asked("bus/moduleState", ["module": "First", "state": "absent", "reason": "by hand"])
            try second.expectCall("module/setUp")
        }
    }

    @Test(.promise("11.6")) func aStartThatTakesLongerThanStartupLeavesTheBarrier() throws {
        try MemoryBus.run(table { $0.startup = 1_500 }) { bus in
            let one = try arrive(bus, "One")
            // First, Two and Late never connect.
            let setUp = try one.expectCall("module/setUp")
            try one.reply(to: setUp)
            try one.reply(to: try one.expectCall("module/initialize"))
            try one.expectCall("module/didStart")
        }
    }

    @Test func initializeThatAsksItsOwnModuleIsToldAtOnce() throws {
        try MemoryBus.run(.testing(.manual("Self", provides: ["Self"]))) { bus in
            let peer = try bus.connect("Self")
            try peer.hello("Self", ["interfaces": ["Self": [:]]])
            for step in ["setUp", "initialize"] {
                let call = try peer.expectCall("module/\(step)")
                let id = try peer.call("Self/act", nil, ["parent": call.number])
                let error = try peer.expectError(to: id, "unavailable", ran: "no")
                #expect(error.message.contains(step), "\(error.message)")
                try peer.reply(to: call)
            }
            let call = try peer.expectCall("module/didStart")
            let id = try peer.call("Self/act", nil, ["parent": call.number])
            try peer.reply(to: try peer.expectCall("Self/act"), 1)
            try peer.expectReply(to: id, body: 1)
        }
    }

    @Test(.promise("11.8", "I.2")) func manualAndAsynchronousModulesNeitherWaitNorAreWaitedFor() throws {
        let table = AppTable.testing(
            .eager("First"), .manual("Hand"), .eager("Async") { $0.start = .async })
        try MemoryBus.run(table) { bus in
            _ = try bus.launcher()
            for name in ["Hand", "Async"] {
                let peer = try arrive(bus, name)
                try done(peer, "setUp")
                try done(peer, "initialize")
                try done(peer, "didStart")
            }
            let first = try arrive(bus, "First")
            for step in ["setUp", "initialize", "didStart"] { try done(first, step) }
        }
    }

    @Test(.promise("11.8")) func aModuleThatJoinsLateGetsAllThreeAtOnce() throws {
        let table = AppTable.testing(.eager("First"), .eager("Second"))
        try MemoryBus.run(table) { bus in
            let first = try arrive(bus, "First")
            let second = try arrive(bus, "Second")
            for step in ["setUp", "initialize", "didStart"] {
                let calls = try [first, second].map { ($0, try $0.expectCall("module/\(step)")) }
                for (peer, call) in calls { try peer.reply(to: call) }
            }
            second.close()
            try bus.waitUntil("Second", is: "restarting")
            let again = try arrive(bus, "Second")
            for step in ["setUp", "initialize", "didStart"] { try done(again, step) }
            try first.expectNothing()
        }
    }

    @Test(.promise("5.11")) func aResumedModuleCountsAsStartedForTheOthers() throws {
        let table = AppTable.testing(.eager("First", priority: 1), .eager("Second"))
        try MemoryBus.run(table) { bus in
            let first = try arrive(bus, "First", ["resumed": true])
            let second = try arrive(bus, "Second")
            for step in ["setUp", "initialize", "didStart"] { try done(second, step) }
            try first.expectNothing()
        }
    }

    @Test(.promise("11.7")) func aRequestMadeInInitializeToALaterOneIsUnavailableAtOnce() throws {
        let table = AppTable.testing(.eager("First", priority: 1), .eager("Second", provides: ["Test"]))
        try MemoryBus.run(table) { bus in
            let first = try arrive(bus, "First")
            let second = try arrive(bus, "Second", ["interfaces": ["Test": [:]]])
            try done(first, "setUp")
            try done(second, "setUp")
            let initialize = try first.expectCall("module/initialize")
            let error = try first.refused("Test/act", nil, ["parent": initialize["id"] ?? .null], with: "unavailable")
            #expect(error.message.contains("initialize"))
        }
    }
}
