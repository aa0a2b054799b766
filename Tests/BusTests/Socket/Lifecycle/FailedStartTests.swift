import StrataCore
import StrataTesting
import Testing

/// The protocol's sections 6 and 11: requests to a module whose start has failed.
@Suite(.timeLimit(.hang))
struct FailedStartTests {
    private func table(_ change: (inout AppTable.Row) -> Void = { _ in }) -> AppTable {
        .testing(.eager("Login", rank: 1, provides: ["Login"], with: change), .manual("Hand", rank: 2))
    }

    /// Says hello as `Login`, with a vouch.
    private func begin(_ bus: TestBus) throws -> RawPeer {
        let token = try bus.vouch(for: "Login")
        let peer = try bus.connect("Login")
        try peer.hello("Login", ["token": .string(token), "interfaces": ["Login": ["instances": "multiple"]]])
        return peer
    }

    private func say(_ bus: TestBus, _ state: String, _ reason: String = "") throws {
        try bus.launcher().asked(
            "bus/moduleState", ["module": "Login", "state": .string(state), "reason": .string(reason)])
    }

    private func row(_ bus: TestBus) throws -> JSON {
        let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
        return try #require(rows.first { $0["name"] == "Login" })
    }

    @Test(.promise("11.4"), arguments: ["setUp", "initialize"])
    func itsReasonReachesTheRequestsThatWait(step: String) throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            let first = try begin(bus)
            let ids = [try caller.call("Login/act"), try caller.call("bus/create", ["interface": "Login"])]
            try caller.expectNothing()
            if step == "initialize" { try first.reply(to: try first.expectCall("module/setUp")) }
            try first.fail(try first.expectCall("module/\(step)"), "Login.no-file", "cannot open moments.sqlite")
            try first.expectEnd("failed")
            let word = "its \(step) failed: cannot open moments.sqlite (Login.no-file)"
            for id in ids { #expect(try caller.expectError(to: id, "unavailable", ran: "no").message.contains(word)) }
            #expect(try caller.refused("Login/act", with: "unavailable").message.contains(word))
            #expect(try row(bus)["startFailed"]?.string == word)
            // The launcher's word, and its next process, change nothing before hello.
            try say(bus, "restarting", "\(word), and was ended")
            try say(bus, "starting")
            #expect(try caller.refused("Login/act", with: "unavailable").message.contains(word))
            let second = try begin(bus)
            #expect(try row(bus)["startFailed"] == nil)
            let waits = try caller.call("bus/create", ["interface": "Login"])
            try caller.expectNothing()
            for step in ["setUp", "initialize", "create"] {
                try second.reply(to: try second.expectCall("module/\(step)"))
            }
            try caller.expectReply(to: waits)
        }
    }

    @Test(.promise("11.4")) func aStepWithoutAnAnswerIsNamed() throws {
        var table = table()
        table.startup = 20
        try MemoryBus.run(table) { bus in
            let caller = try bus.module("Hand")
            let login = try begin(bus)
            let id = try caller.call("Login/act")
            try login.expectCall("module/setUp")
            let message = try caller.expectError(to: id, "unavailable", ran: "no").message
            #expect(message.contains("it did not answer setUp within 20 ms"))
        }
    }

    @Test(.promise("11.4")) func aConnectionThatClosesBeforeItIsReadyIsAFailedStart() throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            let login = try begin(bus)
            let id = try caller.call("Login/act")
            try caller.expectNothing()
            login.close()
            #expect(try caller.expectError(to: id, "unavailable", ran: "no").message.contains("closed"))
            // The launcher knows more.
            try say(bus, "restarting", "it ended with exit code 5 before it was ready")
            #expect(try caller.refused("Login/act", with: "unavailable").message.contains("exit code 5"))
        }
    }

    @Test(.promise("11.4"), arguments: [AppTable.Start.eager, .onDemand])
    func aProcessThatEndsBeforeHelloIsAFailedStart(start: AppTable.Start) throws {
        try MemoryBus.run(table { $0.start = start }) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let id = try caller.call("Login/act")
            try caller.expectNothing()
            if start == .onDemand { try launcher.expectCall("launcher/start") }
            try say(bus, "starting")
            try say(bus, "restarting", "it ended with exit code 5 before it was ready")
            #expect(try caller.expectError(to: id, "unavailable", ran: "no").message.contains("exit code 5"))
            try caller.refused("Login/act", with: "unavailable")
            // A person stops it: then it is as if it had never been started.
            try say(bus, "absent", "by hand")
            if start == .onDemand {
                try caller.call("Login/act")
                try caller.expectNothing()
            } else {
                try caller.refused("Login/act", with: "unavailable")
            }
        }
    }

    @Test(.promise("6.4")) func requestsWaitForAModuleThatWasReadyAndDied() throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            let token = try bus.vouch(for: "Login")
            try bus.provider("Login", "Login", ["token": .string(token)]).close()
            try say(bus, "restarting", "it ended with exit code 5")
            let id = try caller.call("Login/act")
            try caller.expectNothing()
            // Its next process fails to start: then they don't.
            try say(bus, "starting")
            try caller.expectNothing()
            try say(bus, "restarting", "it ended with exit code 6 before it was ready")
            #expect(try caller.expectError(to: id, "unavailable", ran: "no").message.contains("exit code 6"))
        }
    }

    /// After a broker's death a module may be back before the launcher has said that it runs.
    @Test(.promise("6.4")) func aLateWordThatItStartsMakesItsDeathNoFailedStart() throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            let token = try bus.vouch(for: "Login")
            let login = try bus.provider("Login", "Login", ["token": .string(token)])
            try say(bus, "starting", "it runs already")
            login.close()
            try say(bus, "restarting", "it ended with exit code 5")
            try caller.call("Login/act")
            try caller.expectNothing()
        }
    }

    /// The broker has just come back after its death, and an operator restarts a module that hasn't said
    /// hello to it yet.
    @Test(.promise("11.4")) func aModuleThatIsRestartedBeforeItsHelloHasNotFailed() throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            try say(bus, "starting", "it runs already")
            let id = try caller.call("Login/act")
            try bus.launcher().asked(
                "bus/moduleState", ["module": "Login", "state": "restarting", "reason": "by hand", "asked": true])
            try caller.expectNothing()
            try say(bus, "starting")
            let token = try bus.vouch(for: "Login")
            let login = try bus.provider("Login", "Login", ["token": .string(token)])
            try login.reply(to: try login.expectCall("Login/act"))
            try caller.expectReply(to: id)
        }
    }

    @Test func aModuleThatIsStoppedBeforeItIsReadyHasNotFailed() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let login = try begin(bus)
            let setUp = try login.expectCall("module/setUp")
            let id = try caller.call("Login/act")
            try caller.expectNothing()
            let retire = try launcher.call("bus/retire", ["module": "Login"])
            try login.reply(to: try login.expectCall("module/tearDown"))
            try launcher.expectReply(to: retire)
            try login.reply(to: setUp)
            login.close()
            try say(bus, "restarting", "by hand")
            try caller.expectNothing()
            _ = id
        }
    }

    @Test func aLongReasonIsCut() throws {
        try MemoryBus.run(table()) { bus in
            let login = try begin(bus)
            try login.fail(
                try login.expectCall("module/setUp"), "Login.long", String(repeating: "é", count: 2_000))
            try login.expectEnd("failed")
            #expect(try row(bus)["startFailed"]?.string?.utf8.count ?? 0 <= 515)
        }
    }

    @Test(.promise("11.4")) func theNextProgramStillKnowsTheReason() throws {
        try TestBus.run(table(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let caller = try bus.module("Hand")
            let login = try begin(bus)
            try login.fail(try login.expectCall("module/setUp"), "Login.broken", "no file")
            try login.expectEnd("failed")
            try bus.operator().asked("bus/handOver")
            #expect(try caller.refused("Login/act", with: "unavailable").message.contains("no file"))
        }
    }

    @Test func aGuestsFailureReachesTheRequestsThatWait() throws {
        let table = AppTable.testing(.manual("Hand", rank: 2)) { $0.guests = .init(rank: 1, most: 2) }
        try MemoryBus.run(table) { bus in
            let caller = try bus.module("Hand")
            let guest = try bus.connect("Guest")
            try guest.hello("Guest", ["interfaces": ["Test": [:]]])
            let setUp = try guest.expectCall("module/setUp")
            let id = try caller.call("Test/act")
            try caller.expectNothing()
            try guest.fail(setUp, "Guest.broken", "no file")
            #expect(try caller.expectError(to: id, "unavailable", ran: "no").message.contains("no file"))
        }
    }
}
