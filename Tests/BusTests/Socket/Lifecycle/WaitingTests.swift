import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: requests that wait for a module. Section 10: `retire` and
/// `moduleState`.
@Suite(.timeLimit(.hang))
struct WaitingTests {
    private func table(_ change: (inout AppTable.Row) -> Void = { _ in }) -> AppTable {
        .testing(
            .eager("Login", rank: 1, provides: ["Login"], with: change), .manual("Hand", rank: 2),
            .manual("Hand2", rank: 2))
    }

    private func arrive(_ bus: TestBus, _ hello: JSON = [:]) throws -> RawPeer {
        let token = try bus.vouch(for: "Login")
        return try bus.provider("Login", "Login", .object([.init("token", .string(token))] + (hello.object ?? [])))
    }

    @Test(.promise("6.3", "6.4", "R.3")) func requestsWaitForAModuleThatWillStartAndKeepTheirOrder() throws {
        try TestBus.run(table()) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Hand")
            let ids = try (0..<5).map { try caller.call("Login/act", .integer($0)) }
            try caller.expectNothing()
            let login = try arrive(bus)
            for (number, id) in ids.enumerated() {
                try login.reply(to: try login.expectCall("Login/act", .integer(Int64(number))))
                try caller.expectReply(to: id)
            }
        }
    }

    @Test(.promise("6.13", "12.22")) func aModuleCannotBeStartedWithoutALauncher() throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            let error = try caller.refused("Login/act", with: "unavailable")
            #expect(error.message.contains("Login"))
        }
    }

    @Test(.promise("6.13")) func theLaunchersEndEndsWaitingRequests() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let id = try caller.call("Login/act")
            try caller.expectNothing()
            launcher.close()
            try caller.expectError(to: id, "unavailable", ran: "no")
        }
    }

    @Test(.promise("6.13"), arguments: ["failed", "absent"])
    func theLaunchersReportsEndWaitingRequests(state: String) throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let id = try caller.call("Login/act")
            try caller.expectNothing()
            try launcher.asked("bus/moduleState", ["module": "Login", "state": .string(state), "reason": "it crashed"])
            #expect(try caller.expectError(to: id, "unavailable", ran: "no").message.contains("it crashed"))
            try caller.refused("Login/act", with: "unavailable")
            try launcher.asked("bus/moduleState", ["module": "Login", "state": "restarting", "reason": ""])
            try caller.call("Login/act")
            try caller.expectNothing()
        }
    }

    @Test(.promise("6.15")) func aWaitingRequestsDeadlineAndCancelMeanThatItDidNotRun() throws {
        try MemoryBus.run(table()) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Hand")
            let late = try caller.call("Login/act", nil, ["deadline": 20])
            try caller.expectError(to: late, "deadline-exceeded", ran: "no")
            let given = try caller.call("Login/act")
            try caller.cancel(given)
            try caller.expectError(to: given, "cancelled", ran: "no")
            let login = try arrive(bus)
            try login.expectNothing()
        }
    }

    @Test(.promise("6.5")) func checksOnActionsAreMadeWhenItIsReady() throws {
        let table = AppTable.testing(.eager("Login", provides: ["Login"]), .manual("Hand", rank: 2))
        try MemoryBus.run(table) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Hand")
            let good = try caller.call("Login/act")
            let bad = try caller.call("Login/other")
            try caller.expectNothing()
            let token = try bus.vouch(for: "Login")
            let interfaces: JSON = ["Login": ["actions": ["act": [:]]]]
            let login = try bus.module("Login", ["token": .string(token), "interfaces": interfaces])
            try login.reply(to: try login.expectCall("Login/act"))
            try caller.expectReply(to: good)
            try caller.expectError(to: bad, "unknown-action", ran: "no")
        }
    }

    @Test(.promise("6.4")) func requestsWaitAgainAfterADeathThatTheLauncherMends() throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            let first = try arrive(bus)
            let open = try caller.call("Login/act")
            try first.expectCall("Login/act")
            first.close()
            try caller.expectError(to: open, "died", ran: "maybe")
            let waiting = try caller.call("Login/act")
            try caller.expectNothing()
            let second = try arrive(bus)
            try second.reply(to: try second.expectCall("Login/act"))
            try caller.expectReply(to: waiting)
        }
    }

    @Test(.promise("6.13")) func noRequestWaitsAfterADeathUnderRestartNever() throws {
        try MemoryBus.run(table { $0.restart = .never }) { bus in
            let caller = try bus.module("Hand")
            try arrive(bus).close()
            try bus.waitUntil("Login", is: "absent")
            try caller.refused("Login/act", with: "unavailable")
        }
    }

    @Test func requestsBeyondTheWaitingLimitAreOverloaded() throws {
        var table = table()
        table.limits.waiting = 2
        table.limits.held = 100_000
        try MemoryBus.run(table) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Hand")
            let other = try bus.module("Hand2")
            // A single request may exceed what one sender may have waiting.
            let large = try caller.call("Login/act", .filler(200_000))
            try caller.expectNothing()
            try caller.refused("Login/act", 1, with: "overloaded")
            let second = try other.call("Login/act", 2)
            try other.expectNothing()
            #expect(try other.refused("Login/act", 3, with: "overloaded").message.contains("Login"))
            let login = try arrive(bus)
            for id in [(caller, large), (other, second)] {
                try login.reply(to: try login.expectCall("Login/act"))
                try id.0.expectReply(to: id.1)
            }
        }
    }

    @Test(.promise("6.4", "10.34")) func onDemandIsStartedByTheFirstRequest() throws {
        try MemoryBus.run(table { $0.start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let first = try caller.call("Login/act", 1)
            let second = try caller.call("Login/act", 2)
            let start = try launcher.expectCall("launcher/start", ["module": "Login"], ["from": "bus"])
            try caller.expectNothing()
            try launcher.expectNothing()
            let login = try arrive(bus)
            try launcher.reply(to: start)
            for (id, number) in [(first, 1), (second, 2)] as [(UInt64, JSON)] {
                try login.reply(to: try login.expectCall("Login/act", number))
                try caller.expectReply(to: id)
            }
        }
    }

    @Test(.promise("6.13")) func whereTheLauncherCannotStartItTheRequestIsUnavailable() throws {
        try MemoryBus.run(table { $0.start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let id = try caller.call("Login/act")
            try launcher.fail(try launcher.expectCall("launcher/start"), "failed", "no such file")
            #expect(try caller.expectError(to: id, "unavailable", ran: "no").message.contains("no such file"))
        }
    }

    @Test(.promise("10.24")) func whatAProcessWroteIsForOperatorsAlone() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let (caller, tool) = (try bus.module("Hand"), try bus.operator())
            let watches = try [tool, caller].map { try $0.call("bus/watch", nil, ["credit": 100]) }
            let waiting = try caller.call("Login/act")
            try launcher.asked(
                "bus/moduleState",
                ["module": "Login", "state": "failed", "reason": "exit code 3", "lines": ["secret 1", "secret 2"]])
            let later = try caller.answer(to: try caller.call("Login/act"))
            for refusal in [try caller.answer(to: waiting), later] {
                #expect(refusal.code == "unavailable" && refusal.message.contains("exit code 3"), "\(refusal)")
                #expect(!refusal.message.contains("secret"), "\(refusal)")
            }
            func reason(_ peer: RawPeer, _ action: String) throws -> JSON? {
                try peer.asked(action)["modules"]?.array?.first { $0["name"] == "Login" }?["reason"]
            }
            let whole: JSON = "exit code 3; its last lines: secret 1 | secret 2"
            for action in ["bus/modules", "bus/timeline"] { #expect(try reason(tool, action) == whole) }
            #expect(try reason(caller, "bus/modules") == "exit code 3")
            try tool.find(["id": .integer(Int64(watches[0]))], body: ["module": "Login", "reason": whole])
            try caller.find(["id": .integer(Int64(watches[1]))], body: ["module": "Login", "reason": "exit code 3"])
            // The reason is gone when there is a session again.
            try launcher.asked("bus/moduleState", ["module": "Login", "state": "starting"])
            _ = try arrive(bus)
            #expect(try reason(tool, "bus/modules") == nil)
        }
    }

    @Test(.promise("10.28", "M.30", "R.6")) func aRetiredModuleFinishesWhatItHasAndGetsNothingNew() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let token = try bus.vouch(for: "Login")
            let login = try bus.provider("Login", "Login", ["token": .string(token)])
            login.answersLifecycle = false
            let old = try caller.call("Login/act", 1)
            let call = try login.expectCall("Login/act", 1)
            let retire = try launcher.call("bus/retire", ["module": "Login"])
            let tearDown = try login.expectCall("module/tearDown", nil, ["from": "bus"])
            let new = try caller.call("Login/act", 2)
            try caller.expectNothing()
            try launcher.expectNothing()
            #expect(try bus.state(of: "Login") == "stopping")
            try login.expectNothing()
            try login.reply(to: call)
            try caller.expectReply(to: old)
            try login.reply(to: tearDown)
            try launcher.expectReply(to: retire)
            login.close()
            try caller.expectNothing()
            let next = try arrive(bus)
            try next.reply(to: try next.expectCall("Login/act", 2))
            try caller.expectReply(to: new)
        }
    }

    /// A person stops it. Requests that come while it is stopped start it again, but requests
    /// that waited for its start do not.
    @Test(.promise("M.14"), arguments: [true, false])
    func aRequestToWhatIsBeingStoppedStartsItAgain(isReady: Bool) throws {
        try MemoryBus.run(table { $0.start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let token = try bus.vouch(for: "Login")
            let login = try bus.connect("Login", answersLifecycle: isReady)
            try login.hello("Login", ["token": .string(token), "interfaces": ["Login": [:]]])
            if isReady { try login.becomeReady() } else { try login.expectCall("module/setUp") }
            login.answersLifecycle = false
            let retire = try launcher.call("bus/retire", ["module": "Login"])
            let tearDown = try login.expectCall("module/tearDown")
            let id = try caller.call("Login/act")
            try caller.settle()
            try login.reply(to: tearDown)
            try launcher.expectReply(to: retire)
            login.close()
            try launcher.asked("bus/moduleState", ["module": "Login", "state": "absent", "reason": "by a person"])
            if isReady {
                try launcher.expectCall("launcher/start", ["module": "Login"])
                let next = try arrive(bus)
                try next.reply(to: try next.expectCall("Login/act"))
                try caller.expectReply(to: id)
            } else {
                try caller.expectError(to: id, "unavailable", ran: "no")
                try launcher.expectNothing()
            }
        }
    }

    /// The last answer of its start comes after the stop: it tears down all the same.
    @Test func anInitializeThatIsAnsweredInTearDownMakesNothingReady() throws {
        try TestBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Hand")
            let token = try bus.vouch(for: "Login")
            let login = try bus.connect("Login")
            try login.hello("Login", ["token": .string(token), "interfaces": ["Login": [:]]])
            try login.reply(to: try login.expectCall("module/setUp"))
            let initialize = try login.expectCall("module/initialize")
            let waiting = try caller.call("Login/act")
            let retire = try launcher.call("bus/retire", ["module": "Login"])
            let tearDown = try login.expectCall("module/tearDown")
            try login.reply(to: initialize)
            try login.expectNothing()
            #expect(try bus.state(of: "Login") == "stopping")
            try login.reply(to: tearDown)
            try launcher.expectReply(to: retire)
            login.close()
            let next = try arrive(bus)
            try next.reply(to: try next.expectCall("Login/act"))
            try caller.expectReply(to: waiting)
        }
    }

    /// An interface that no row provides ends with the session that registered it.
    @Test func whatWaitsForAnUndeclaredInterfaceGoesToTheNextSessionsOwn() throws {
        try MemoryBus.run(table()) { bus in
            let caller = try bus.module("Hand")
            let more: JSON = ["interfaces": ["Login": [:], "Extra": [:]]]
            let token = try bus.vouch(for: "Login")
            let hello = JSON.object((more.object ?? []) + [.init("token", .string(token))])
            let login = try bus.module("Login", hello)
            try bus.launcher().asked("bus/retire", ["module": "Login"])
            let id = try caller.call("Extra/act", 2)
            try caller.settle()
            login.close()
            try bus.operator().settle()
            let next = try bus.module("Login", hello)
            try next.reply(to: try next.expectCall("Extra/act", 2), 3)
            try caller.expectReply(to: id, body: 3)
        }
    }

    @Test(.promise("10.28")) func aTearDownThatHangsEndsAtStop() throws {
        try MemoryBus.run(table { $0.stop = 40 }) { bus in
            let launcher = try bus.launcher()
            let login = try arrive(bus)
            login.answersLifecycle = false
            let retire = try launcher.call("bus/retire", ["module": "Login"])
            try login.expectCall("module/tearDown")
            try launcher.expectReply(to: retire)
        }
    }

    @Test(.promise("10.25")) func theLauncherCannotRetireOrReportAnAbsentModule() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            try launcher.refused("bus/retire", ["module": "Login"], with: "unavailable")
            try launcher.refused("bus/retire", ["module": "Nobody"], with: "unknown-module")
            try launcher.refused("bus/moduleState", ["module": "Login", "state": "happy"], with: "bad-params")
            try launcher.refused("bus/vouch", ["module": "Login", "token": "t"], with: "bad-params")
            try launcher.refused("Login/act", with: "forbidden")
        }
    }

    // MARK: a broker that its launcher has just started

    private func launched(hello: UInt64, _ test: (TestBus) throws -> Void) throws {
        let table = AppTable.testing(
            .eager("Shop", provides: ["Shop"]), .manual("Ant"),
            .eager("Late", provides: ["Late"]) { $0.start = .onDemand }, with: { $0.hello = hello })
        try MemoryBus.run(table, isLaunched: true, test)
    }

    @Test(.promise("6.4")) func requestsWaitForALauncherThatIsToCome() throws {
        try launched(hello: 600_000) { bus in
            let ant = try bus.module("Ant")
            let (call, late) = (try ant.call("Shop/buy"), try ant.call("Late/act"))
            try ant.settle()
            try ant.expectNothing()
            let launcher = try bus.launcher()
            try launcher.expectCall("launcher/start", ["module": "Late"])
            let shop = try bus.connect("Shop", answersLifecycle: true)
            try shop.hello(
                "Shop",
                ["token": .string(try bus.vouch(for: "Shop")), "interfaces": ["Shop": [:]], "resumed": true])
            try shop.reply(to: try shop.expectCall("Shop/buy"), 7)
            try ant.expectReply(to: call, body: 7)
            // From here on it works as with any launcher.
            launcher.close()
            try ant.expectError(to: late, "unavailable")
        }
    }

    @Test(.promise("6.4")) func aLauncherThatDoesNotComeIsWaitedForAsLongAsAnyHello() throws {
        try launched(hello: 1_500) { bus in
            let ant = try bus.module("Ant")
            try ant.expectError(to: try ant.call("Shop/buy"), "unavailable", ran: "no")
            try ant.refused("Shop/buy", with: "unavailable")
        }
    }
}
