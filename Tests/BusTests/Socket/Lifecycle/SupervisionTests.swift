import StrataCore
import StrataTesting
import Testing

/// The manifest's `idle` and `ping`: what the broker asks of the launcher. Time passes on the
/// broker's own clock: `pass` makes a call that is never answered.
@Suite(.timeLimit(.hang))
struct SupervisionTests {
    private func table(_ change: (inout AppTable.Row) -> Void) -> AppTable {
        .testing(
            .manual("Login", rank: 1, provides: ["Login"]) { row in
                row.start = .onDemand
                row.stop = 600_000
                change(&row)
            }, .manual("Clock", provides: ["Clock"]), .manual("Hand", rank: 2))
    }

    private struct Cast {
        let launcher: RawPeer, clock: RawPeer, hand: RawPeer
    }

    private func run(
        onSockets: Bool = false, _ change: (inout AppTable.Row) -> Void, _ test: (TestBus, Cast) throws -> Void
    ) throws {
        func play(_ bus: TestBus) throws {
            try test(
                bus,
                Cast(
                    launcher: try bus.launcher(), clock: try bus.provider("Clock", "Clock"),
                    hand: try bus.module("Hand")))
        }
        if onSockets { try TestBus.run(table(change), play) } else { try MemoryBus.run(table(change), play) }
    }

    private func arrive(_ bus: TestBus) throws -> RawPeer {
        let token = try bus.vouch(for: "Login")
        return try bus.provider("Login", "Login", ["token": .string(token), "observes": ["news"]])
    }

    /// Connects the module. The test answers what it is asked after its start.
    /// - Parameter start: called before it is ready.
    private func arriveByHand(_ bus: TestBus, before start: () -> Void = {}) throws -> RawPeer {
        let token = try bus.vouch(for: "Login")
        let login = try bus.connect("Login")
        try login.hello("Login", ["token": .string(token), "interfaces": ["Login": [:]]])
        start()
        for step in ["setUp", "initialize", "didStart"] {
            try login.reply(to: try login.expectCall("module/\(step)"))
        }
        return login
    }

    /// Connects the module with a request open, so its idle time can't begin before the answer.
    private func arriveAsked(
        _ kind: String, _ bus: TestBus, _ cast: Cast
    ) throws -> (login: RawPeer, id: UInt64, open: ReceivedFrame) {
        let id = try kind == "call" ? cast.hand.call("Login/act") : cast.hand.report("news", to: "Login")
        try cast.launcher.expectCall("launcher/start", ["module": "Login"])
        let login = try arrive(bus)
        return (login, id, try login.next())
    }

    /// Lets time pass.
    private func pass(_ milliseconds: Int64, _ cast: Cast) throws {
        let id = try cast.hand.call("Clock/never", nil, ["deadline": .integer(milliseconds)])
        try cast.hand.expectError(to: id, "deadline-exceeded")
    }

    // MARK: idle

    @Test(.promise("10.34", "M.11")) func anIdleModuleIsRetiredAndThenStopped() throws {
        try run(onSockets: true, { $0.idle = 60 }) { bus, cast in
            let login = try arrive(bus)
            let stop = try cast.launcher.expectCall("launcher/stop", ["module": "Login"], ["from": "bus"])
            #expect(stop.json["reason"]?.string?.contains("60 ms") == true, "\(stop)")
            try login.settle()
            #expect(login.lifecycle.last == "tearDown")
            #expect(try bus.state(of: "Login") == "stopping")
            login.close()
            try bus.waitUntil("Login", is: "absent")
            try cast.launcher.asked("bus/moduleState", ["module": "Login", "state": "absent"])
            try cast.launcher.reply(to: stop)
            // The module stays stopped until a request wants it.
            try cast.launcher.expectNothing()
            let id = try cast.hand.call("Login/act")
            try cast.launcher.expectCall("launcher/start", ["module": "Login"])
            let next = try arrive(bus)
            try next.reply(to: try next.expectCall("Login/act"))
            try cast.hand.expectReply(to: id)
        }
    }

    /// The launcher's message and the connection's end come in either order.
    @Test(.promise("M.11"), arguments: ["end", "word"], ["Login/act", "bus/create"])
    func aRequestThatComesInBetweenStartsItAgain(first: String, request: String) throws {
        try run({ $0.idle = 60 }) { bus, cast in
            let login = try arriveByHand(bus)
            let tearDown = try login.expectCall("module/tearDown", nil, ["from": "bus"])
            try cast.launcher.expectNothing()
            let id = try cast.hand.call(request, ["interface": "Login"])
            try cast.hand.settle()
            try login.expectNothing()
            try login.reply(to: tearDown)
            let stop = try cast.launcher.expectCall("launcher/stop", ["module": "Login"])
            let absent: JSON = ["module": "Login", "state": "absent"]
            if first == "word" {
                try cast.launcher.asked("bus/moduleState", absent)
                login.close()
            } else {
                login.close()
                try bus.waitUntil("Login", is: "absent")
                try cast.launcher.asked("bus/moduleState", absent)
            }
            try cast.launcher.reply(to: stop)
            let start = try cast.launcher.expectCall("launcher/start", ["module": "Login"])
            let next = try arrive(bus)
            try cast.launcher.reply(to: start)
            if request == "Login/act" { try next.reply(to: try next.expectCall("Login/act")) }
            try cast.hand.expectReply(to: id)
        }
    }

    /// The bus itself stopped it, whatever the launcher reports about that, if anything.
    @Test(.promise("M.11"), arguments: ["nothing", "restarting", "failed"], [true, false])
    func aRequestThatComesInBetweenNeedsNoWordOfTheLauncher(word: String, isFirst: Bool) throws {
        try run({ $0.idle = 300 }) { bus, cast in
            let login = try arrive(bus)
            login.answersLifecycle = false
            let tearDown = try login.expectCall("module/tearDown", nil, ["from": "bus"])
            let id = try cast.hand.call("Login/act")
            try cast.hand.settle()
            try login.reply(to: tearDown)
            try cast.launcher.reply(to: try cast.launcher.expectCall("launcher/stop", ["module": "Login"]))
            let said: JSON = ["module": "Login", "state": .string(word)]
            if isFirst, word != "nothing" { try cast.launcher.asked("bus/moduleState", said) }
            login.close()
            let start = try cast.launcher.find(["kind": "call", "to": "launcher/start"], body: ["module": "Login"])
            if !isFirst, word != "nothing" { try cast.launcher.asked("bus/moduleState", said) }
            let next = try arrive(bus)
            try cast.launcher.reply(to: start)
            try next.reply(to: try next.expectCall("Login/act"))
            try cast.hand.expectReply(to: id)
        }
    }

    /// The launcher's report about the expected process is final.
    @Test(.promise("M.11")) func aStartAgainThatFailsEndsWhatWaits() throws {
        try run({ $0.idle = 300 }) { bus, cast in
            let login = try arrive(bus)
            login.answersLifecycle = false
            let tearDown = try login.expectCall("module/tearDown", nil, ["from": "bus"])
            let id = try cast.hand.call("Login/act")
            try cast.hand.settle()
            try login.reply(to: tearDown)
            try cast.launcher.expectCall("launcher/stop", ["module": "Login"])
            login.close()
            try cast.launcher.expectCall("launcher/start", ["module": "Login"])
            for word in ["absent", "starting", "failed"] {
                try cast.hand.settle()
                #expect(cast.hand.inbox.isEmpty)
                try cast.launcher.asked("bus/moduleState", ["module": "Login", "state": .string(word)])
            }
            try cast.hand.expectError(to: id, "unavailable", ran: "no")
        }
    }

    /// The idle time counts from the end of a request, not from its arrival.
    @Test(.promise("M.11"), arguments: ["call", "report"])
    func idleCountsFromARequestsEnd(kind: String) throws {
        try run({ $0.idle = 400 }) { bus, cast in
            let (login, id, open) = try arriveAsked(kind, bus, cast)
            try pass(600, cast)
            let end = bus.now
            try login.reply(to: open)
            try cast.hand.expectReply(to: id)
            try cast.launcher.expectCall("launcher/stop", ["module": "Login"])
            #expect(bus.now - end >= .milliseconds(390))
        }
    }

    @Test(arguments: ["call", "report"])
    func aModuleThatServesARequestIsNotStopped(kind: String) throws {
        try run({ $0.idle = 100 }) { bus, cast in
            let (login, id, open) = try arriveAsked(kind, bus, cast)
            try pass(350, cast)
            try cast.launcher.expectNothing()
            try login.reply(to: open)
            try cast.hand.expectReply(to: id)
            try cast.launcher.expectCall("launcher/stop", ["module": "Login"])
        }
    }

    @Test(arguments: ["call", "report"])
    func eachRequestBeginsTheTimeAnew(kind: String) throws {
        try run({ $0.idle = 2_500 }) { bus, cast in
            let login = try arrive(bus)
            for _ in 0..<4 {
                let id = try kind == "call" ? cast.hand.call("Login/act") : cast.hand.report("news", to: "Login")
                try login.reply(to: try login.next())
                try cast.hand.expectReply(to: id)
                try pass(700, cast)
                try cast.launcher.expectNothing()
            }
            try cast.launcher.expectCall("launcher/stop")
        }
    }

    @Test(.promise("M.11")) func onlyWhatIsStartedOnDemandIdles() throws {
        try run({
            $0.idle = 40
            $0.start = .async
        }) { bus, cast in
            let login = try arrive(bus)
            try pass(200, cast)
            try cast.launcher.expectNothing()
            try login.expectNothing()
        }
    }

    @Test func withoutLauncherNothingIsStoppedUntilOneComes() throws {
        try run({ $0.idle = 60 }) { bus, cast in
            let login = try arriveByHand(bus) { cast.launcher.close() }
            try pass(200, cast)
            try login.expectNothing()
            let next = try bus.launcher()
            try login.reply(to: try login.expectCall("module/tearDown"))
            try next.expectCall("launcher/stop", ["module": "Login"])
        }
    }

    @Test(.promise("M.11")) func aStopThatTheLauncherRefusesIsAskedForAgain() throws {
        try run({ $0.idle = 40 }) { bus, cast in
            let login = try arrive(bus)
            for code in ["overloaded", "failed"] {
                try cast.launcher.fail(try cast.launcher.expectCall("launcher/stop", ["module": "Login"]), code)
            }
            // A launcher that has ended has not refused for good.
            try cast.launcher.expectCall("launcher/stop")
            cast.launcher.close()
            let next = try bus.launcher()
            let stop = try next.expectCall("launcher/stop", ["module": "Login"])
            // It does its tearDown once.
            try login.settle()
            #expect(login.lifecycle.count { $0 == "tearDown" } == 1)
            login.close()
            try bus.waitUntil("Login", is: "absent")
            try next.asked("bus/moduleState", ["module": "Login", "state": "absent"])
            try next.reply(to: stop)
            try next.expectNothing()
        }
    }

    @Test func anIdleModuleThatIsNotStoppedIsEndedAfterFiveRequests() throws {
        try run({ $0.idle = 20 }) { bus, cast in
            let login = try arrive(bus)
            for _ in 0..<5 { try cast.launcher.fail(try cast.launcher.expectCall("launcher/stop"), "overloaded") }
            _ = try login.find(["kind": "error", "code": "shutting-down"])
            try login.expectEnd()
            // Its process ends then, and the next request starts another one.
            try cast.launcher.asked("bus/moduleState", ["module": "Login", "state": "absent"])
            try cast.launcher.expectNothing()
            let id = try cast.hand.call("Login/act")
            try cast.launcher.expectCall("launcher/start", ["module": "Login"])
            let next = try arrive(bus)
            try next.reply(to: try next.expectCall("Login/act"))
            try cast.hand.expectReply(to: id)
        }
    }

    // MARK: ping

    @Test(.promise("11.10", "M.16")) func anyAnswerToAPingCounts() throws {
        try run({ $0.ping = 1_000 }) { bus, cast in
            let login = try arriveByHand(bus)
            try login.reply(to: try login.expectCall("module/ping", nil, ["from": "bus", "deadline": 1_000]))
            for code in ["unknown-action", "Login.busy"] {
                try login.fail(try login.expectCall("module/ping"), code)
            }
            try login.reply(to: try login.expectCall("module/ping"))
            try cast.launcher.expectNothing()
            #expect(try bus.state(of: "Login") == "ready")
        }
    }

    @Test(.promise("10.34", "11.10", "I.13")) func withoutAnAnswerTheLauncherIsAskedToRestart() throws {
        try run({ $0.ping = 80 }) { bus, cast in
            let login = try arriveByHand(bus)
            let ping = try login.expectCall("module/ping")
            let restart = try cast.launcher.expectCall("launcher/restart", ["module": "Login"], ["from": "bus"])
            #expect(restart.json["reason"]?.string?.contains("80 ms") == true, "\(restart)")
            try login.expect(["kind": "cancel", "id": ping.number])
            // The restart is asked for once.
            try login.reply(to: ping)
            try pass(300, cast)
            try cast.launcher.expectNothing()
            // The next process is watched, too.
            login.close()
            let next = try arriveByHand(bus)
            try next.expectCall("module/ping")
            try cast.launcher.expectCall("launcher/restart", ["module": "Login"])
        }
    }

    @Test func aRestartThatTheLauncherRefusesComesAgainWithTheNextPing() throws {
        try run({ $0.ping = 700 }) { bus, cast in
            let login = try arriveByHand(bus)
            for _ in 0..<2 {
                try login.expectCall("module/ping")
                let restart = try cast.launcher.expectCall("launcher/restart", ["module": "Login"])
                try login.expect(["kind": "cancel"])
                try cast.launcher.fail(restart, "overloaded")
            }
            // It answers again, and no restart is asked for.
            try login.reply(to: try login.expectCall("module/ping"))
            try login.reply(to: try login.expectCall("module/ping"))
            try cast.launcher.expectNothing()
        }
    }

    @Test(.promise("M.16")) func nobodyIsPingedBeforeItIsReadyOrWithoutPing() throws {
        try run({ $0.ping = 40 }) { bus, cast in
            let token = try bus.vouch(for: "Login")
            let login = try bus.connect("Login")
            try login.hello("Login", ["token": .string(token), "interfaces": ["Login": [:]]])
            let setUp = try login.expectCall("module/setUp")
            try pass(150, cast)
            try login.expectNothing()
            login.answersLifecycle = true
            try login.reply(to: setUp)
            try login.becomeReady()
            try pass(150, cast)
            try login.settle()
            #expect(login.lifecycle.contains("ping"))
            #expect(!cast.clock.lifecycle.contains("ping"))
        }
    }

    @Test func aHangIsReportedToTheNextLauncher() throws {
        try run(onSockets: true, { $0.ping = 60 }) { bus, cast in
            let login = try arriveByHand(bus) { cast.launcher.close() }
            try login.expectCall("module/ping")
            try pass(150, cast)
            try bus.launcher().expectCall("launcher/restart", ["module": "Login"])
        }
    }

    @Test func aPingDoesNotKeepAModuleFromIdling() throws {
        try run({
            $0.ping = 600
            $0.idle = 1_500
        }) { bus, cast in
            let login = try arrive(bus)
            try cast.launcher.expectCall("launcher/stop", ["module": "Login"])
            try login.settle()
            #expect(login.lifecycle.contains("ping"))
        }
    }

    // MARK: ping without a restart

    private func onlyReported(_ row: inout AppTable.Row, every interval: UInt64 = 60) {
        (row.ping, row.pingRestarts) = (interval, false)
    }

    private func login(_ bus: TestBus) throws -> JSON {
        let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
        return try #require(rows.first { $0["name"] == "Login" })
    }

    @Test(.promise("11.21", "M.16")) func withoutARestartAHangAndItsEndAreToldOnce() throws {
        try run({ onlyReported(&$0) }) { bus, cast in
            let login = try arriveByHand(bus)
            let since = try self.login(bus)["since"]
            let watch = try cast.hand.call("bus/watch", nil, ["credit": 100])
            for _ in 0..<2 {
                let ping = try login.expectCall("module/ping")
                let hung = try cast.launcher.expectCall(
                    "launcher/hung", ["module": "Login", "hung": true], ["from": "bus"])
                #expect(hung.json["reason"] == "it did not answer a ping within 60 ms")
                try login.expect(["kind": "cancel", "id": ping.number])
                #expect(try bus.state(of: "Login") == "ready")
                let row = try self.login(bus)
                #expect(row["reason"] == hung.json["reason"] && row["since"] == since, "\(row)")
                #expect(row["hungSince"]?.integer ?? 0 >= since?.integer ?? .max, "\(row)")
                let told: JSON = ["module": "Login", "state": "ready", "reason": hung.json["reason"] ?? .null]
                try cast.hand.find(["kind": "reply", "id": .integer(Int64(watch)), "more": true], body: told)
                try cast.launcher.reply(to: hung)
                // It is pinged on, and nothing more is told.
                for _ in 0..<2 {
                    try login.expectCall("module/ping")
                    try login.expect(["kind": "cancel"])
                }
                try cast.launcher.expectNothing()
                #expect(try self.login(bus)["hungSince"] == row["hungSince"])
                // Any answer counts, also an error.
                try login.fail(try login.expectCall("module/ping"), "Login.busy")
                let over = try cast.launcher.expectCall("launcher/hung", ["module": "Login", "hung": false])
                #expect(over.json["reason"] == nil)
                let after = try self.login(bus)
                #expect(after["hungSince"] == nil && after["reason"] == nil && after["since"] == since, "\(after)")
                // An older launcher doesn't know the action.
                try cast.launcher.fail(over, "unknown-action")
            }
        }
    }

    /// A launcher that is slow isn't told more and more.
    @Test(.promise("11.21"), arguments: [true, false]) func theNextPingFollowsTheLaunchersAnswer(ends: Bool) throws {
        try run({ onlyReported(&$0) }) { bus, cast in
            let login = try arriveByHand(bus)
            try login.expectCall("module/ping")
            let hung = try cast.launcher.expectCall("launcher/hung")
            try login.expect(["kind": "cancel"])
            try pass(250, cast)
            try login.expectNothing()
            if ends { cast.launcher.close() } else { try cast.launcher.reply(to: hung) }
            try login.reply(to: try login.expectCall("module/ping"))
            if ends {
                // What changes without a launcher is in `bus/modules` alone.
                try login.expectCall("module/ping")
                #expect(try self.login(bus)["hungSince"] == nil)
            } else {
                try cast.launcher.expectCall("launcher/hung", ["hung": false])
            }
        }
    }

    @Test(.promise("11.21")) func aReloadEndsOrChangesTheReport() throws {
        for change: (inout AppTable.Row) -> Void in [{ $0.ping = nil }, { $0.pingRestarts = true }] {
            try run({ onlyReported(&$0) }) { bus, cast in
                let login = try arriveByHand(bus)
                try login.expectCall("module/ping")
                try cast.launcher.reply(to: try cast.launcher.expectCall("launcher/hung"))
                let next = table { row in
                    onlyReported(&row)
                    change(&row)
                }
                // The ping that is open now isn't answered, either.
                try login.find(["kind": "call", "to": "module/ping"])
                _ = try bus.reload(next)
                if next.modules[0].ping == nil {
                    #expect(try self.login(bus)["hungSince"] == nil)
                    try pass(200, cast)
                    try cast.launcher.expectNothing()
                } else {
                    try cast.launcher.expectCall("launcher/restart", ["module": "Login"])
                    login.close()
                    try bus.waitUntil("Login", is: "absent")
                    #expect(try self.login(bus)["hungSince"] == nil)
                }
            }
        }
    }

    @Test(.promise("11.21")) func aHangPassesToTheNextProgram() throws {
        let table = table { onlyReported(&$0) }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let launcher = try bus.launcher()
            let login = try arriveByHand(bus)
            try login.expectCall("module/ping")
            let hung = try launcher.expectCall("launcher/hung", ["hung": true])
            let before = try self.login(bus)
            try bus.operator().asked("bus/handOver")
            let after = try self.login(bus)
            #expect(after["hungSince"] == before["hungSince"] && after["reason"] == before["reason"], "\(after)")
            try launcher.reply(to: hung)
            try login.reply(to: try login.find(["kind": "call", "to": "module/ping"]))
            try launcher.expectCall("launcher/hung", ["hung": false])
        }
    }
}
