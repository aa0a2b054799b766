import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 5: a peer's identity rests on a live process. This process is the
/// launcher. Other processes connect, and this one speaks on their connections.
@Suite(.timeLimit(.hang))
struct IdentityTests {
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .eager("Login", rank: 1, provides: ["Login"]), .manual("Tool"), .manual("Hand", rank: 2),
            with: change)
    }

    private static let hellos: [JSON] = [
        ["protocol": 1, "role": "operator"], ["protocol": 1, "role": "launcher"],
        ["protocol": 1, "module": "Tool"], ["protocol": 1, "module": "Visitor"],
    ]

    /// The process connects, passes the socket on, ends and is reaped. Nothing can tell any more
    /// whose child it was.
    @Test(.promise("5.30"), arguments: hellos)
    func aConnectionOfADeadProcessIsNobodys(hello: JSON) throws {
        try TestBus.run(table { $0.guests = .init(rank: 2, most: 4) }) { bus in
            let launcher = try bus.launcher()
            let child = try OtherProcess(bus, "a child")
            child.end()
            let hello = try child.peer.call("bus/hello", hello)
            let error = try child.peer.expectRefusal(of: hello, "forbidden")
            #expect(error.message.contains("process \(child.pid), which connected, has ended"), "\(error.message)")
            try launcher.expectNothing()
        }
    }

    /// Without a launcher, no launcher can have started it.
    @Test(.promise("5.30")) func whereNobodyLaunchesNobodyIsRefused() throws {
        try TestBus.run(table { $0.guests = .init(rank: 2, most: 4) }) { bus in
            let child = try OtherProcess(bus, "a child")
            child.end()
            try child.peer.hello("Visitor")
        }
    }

    /// The launcher's connection has ended, but its process has not.
    @Test(.promise("5.32")) func whatDescendsFromALauncherWithoutConnectionIsNobodyElse() throws {
        try TestBus.run(table { $0.guests = .init(rank: 2, most: 4) }) { bus in
            try bus.launcher().close()
            let tool = try bus.operator()
            try tool.settle()
            for hello in Self.hellos {
                let child = try OtherProcess(bus, "a child")
                let hello = try child.peer.call("bus/hello", hello)
                try child.peer.expectRefusal(of: hello, "forbidden")
            }
        }
    }

    @Test(.promise("5.23")) func aModulesConnectionOfADeadProcessIsForbidden() throws {
        try TestBus.run(table()) { bus in
            let token = try bus.vouch(for: "Login")
            let child = try OtherProcess(bus, "a child")
            child.end()
            let hello = try child.peer.sendHello("Login", ["token": .string(token), "interfaces": ["Login": [:]]])
            try child.peer.expectRefusal(of: hello, "forbidden")
        }
    }

    // MARK: vouches

    /// The process id is right, but the process is another one.
    @Test(.promise("5.23")) func aVouchIsForTheProcessThatWasStartedThen() throws {
        try TestBus.run(table()) { bus in
            let launcher = try bus.launcher()
            func vouch(_ token: String, startTicks: UInt64) throws {
                try launcher.asked(
                    "bus/vouch",
                    [
                        "module": "Login", "token": .string(token), "pid": .integer(Int64(getpid())),
                        "startTicks": .integer(Int64(startTicks)),
                    ])
            }
            let own = ProcessIdentity.own
            try vouch("old", startTicks: own.startTicks - 1)
            // As if nothing had been vouched for.
            let peer = try bus.connect("Login", answersLifecycle: true)
            let hello = try peer.sendHello("Login", ["token": "old", "interfaces": ["Login": [:]]])
            try launcher.settle()
            #expect(peer.inbox.isEmpty)
            try vouch("new", startTicks: own.startTicks)
            try peer.expectRefusal(of: hello, "forbidden")
            _ = try bus.module("Login", ["token": "new", "interfaces": ["Login": [:]]])
            try launcher.refused(
                "bus/vouch", ["module": "Login", "token": "t", "pid": 1, "startTicks": -1], with: "bad-params")
        }
    }

    @Test(.promise("5.23"), arguments: ["absent", "failed", "restarting"])
    func aVouchEndsWithTheLaunchersWordOfItsProcess(state: String) throws {
        try TestBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let token = try bus.vouch(for: "Login")
            try launcher.asked("bus/moduleState", ["module": "Login", "state": .string(state)])
            let peer = try bus.connect("Login", answersLifecycle: true)
            let hello = try peer.sendHello("Login", ["token": .string(token), "interfaces": ["Login": [:]]])
            try launcher.settle()
            #expect(peer.inbox.isEmpty)
            try bus.vouch(for: "Login")
            try peer.expectRefusal(of: hello, "forbidden")
        }
    }

    // MARK: sessions of processes that have ended

    /// The process has ended, but its descendant still has the connection: here the test.
    @Test(.promise("10.26"), arguments: ["absent", "failed", "restarting"])
    func aSessionThatADescendantHoldsEndsWithTheProcess(state: String) throws {
        try TestBus.run(table()) { bus in
            let hand = try bus.module("Hand")
            let login = try bus.process(of: "Login", ["interfaces": ["Login": [:]]])
            try login.peer.becomeReady()
            let call = try hand.call("Login/act")
            try login.peer.expectCall("Login/act")
            login.end()
            try bus.launcher().asked(
                "bus/moduleState", ["module": "Login", "state": .string(state), "reason": "by a person"])
            let end = try login.peer.expectEnd("shutting-down")
            #expect(end.message.contains("the launcher says that Login is \(state) (by a person)"), "\(end.message)")
            try hand.expectError(to: call, "died", ran: "maybe")
            let row = try bus.operator().asked("bus/modules")["modules"]?.array?.first { $0["name"] == "Login" }
            #expect(row?["state"]?.string == state)
            #expect(row?["reason"]?.string == "by a person")
            #expect(row?["pid"] == .null)
        }
    }

    /// A process that a person started is none of the launcher's.
    @Test(.promise("10.27")) func aSessionThatNobodyVouchedForStays() throws {
        try TestBus.run(table()) { bus in
            let tool = try bus.module("Tool")
            try bus.launcher().asked("bus/moduleState", ["module": "Tool", "state": "absent"])
            try tool.settle()
            #expect(try bus.state(of: "Tool") == "ready")
        }
    }

    /// The process's last frames are there before the report of its end. Then its connection
    /// closes, or it doesn't.
    @Test(.promise("10.26"), arguments: [true, false])
    func whatAProcessWroteBeforeItsEndStillCounts(closes: Bool) throws {
        try TestBus.run(table(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let hand = try bus.module("Hand")
            let launcher = try bus.launcher()
            let login = try bus.process(of: "Login", ["interfaces": ["Login": [:]]])
            try login.peer.becomeReady()
            let calls = try (0..<50).map { try hand.call("Login/act", .integer(Int64($0))) }
            let served = try calls.map { _ in try login.peer.expectCall("Login/act") }
            let watch = try hand.call("bus/watch", nil, ["credit": 100])
            try hand.settle()
            try bus.whileBrokerIsHalted {
                // The report is read first.
                _ = try launcher.call(
                    "bus/moduleState", ["module": "Login", "state": "restarting", "reason": "signal 11"])
                for call in served { try login.peer.reply(to: call, .filler(500)) }
                if closes { login.die() } else { login.end() }
            }
            for call in calls { try hand.expectReply(to: call) }
            let change: JSON = ["module": "Login", "state": "restarting", "reason": "signal 11"]
            _ = try hand.find(["kind": "reply", "id": .integer(Int64(watch))], body: change)
            if !closes { try login.peer.expectEnd("shutting-down") }
            // Only an end by itself counts as a death.
            let row = try bus.operator().asked("bus/modules")["modules"]?.array?.first { $0["name"] == "Login" }
            #expect((row?["lastDeath"] != nil) == closes)
        }
    }

    @Test(.promise("10.26")) func aSuccessorsSessionEndsWithTheOnesThatItWasToFollow() throws {
        try TestBus.run(table { $0.modules[0].replace = .overlap }) { bus in
            let hello: JSON = ["interfaces": ["Login": [:]]]
            let old = try bus.process(of: "Login", hello)
            try old.peer.becomeReady()
            let new = try bus.process(of: "Login", hello, answersLifecycle: false)
            try new.peer.expectCall("module/setUp")
            try bus.launcher().asked("bus/moduleState", ["module": "Login", "state": "absent"])
            try new.peer.expectEnd("shutting-down")
            try old.peer.expectEnd("shutting-down")
            #expect(try bus.state(of: "Login") == "absent")
        }
    }

    /// Another process serves, and the launcher's report is about that one.
    @Test(.promise("10.27")) func aSessionThatFinishesBesideItsSuccessorGoesOn() throws {
        let change: (inout AppTable) -> Void = {
            $0.modules[0].replace = .overlap
            $0.modules[0].stop = 60_000
        }
        try TestBus.run(table(change)) { bus in
            let hand = try bus.module("Hand")
            let hello: JSON = ["interfaces": ["Login": [:]]]
            let old = try bus.process(of: "Login", hello)
            try old.peer.becomeReady()
            let call = try hand.call("Login/act")
            let served = try old.peer.expectCall("Login/act")
            let new = try bus.process(of: "Login", hello)
            try new.peer.becomeReady()
            new.end()
            try bus.launcher().asked("bus/moduleState", ["module": "Login", "state": "restarting"])
            try new.peer.expectEnd("shutting-down")
            try old.peer.reply(to: served, 7)
            try hand.expectReply(to: call, body: 7)
        }
    }
}
