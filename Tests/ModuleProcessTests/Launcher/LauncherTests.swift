import Glibc
import StrataCore
import Testing

@testable import StrataLauncher

/// The launcher with real processes, and a fake broker.
@Suite(.timeLimit(.hang))
struct LauncherTests {
    @Test(.promise("M.10")) func nextLevelStartsWhenTheOneBeforeDidSetUp() throws {
        let app = try LauncherFixture()
        try app.module("Store")
        try app.module("Shop", rank: 2)
        try app.start()
        try app.until { app.broker.pid(of: "Store") != nil }
        #expect(app.broker.calls.first?.action == "hello")
        #expect(app.broker.reports(of: "Store") == ["starting"])
        #expect(app.broker.pid(of: "Shop") == nil)
        app.broker.tell("Store", "setUp", pid: app.broker.pid(of: "Store"))
        try app.until { app.broker.pid(of: "Shop") != nil }
        try app.end()
    }

    @Test(.promise("M.147")) func onlyRowsOfItsNodeAreStarted() throws {
        let app = try LauncherFixture()
        app.runs(on: "berlin", of: "berlin", "tokyo")
        try app.module("Near") { row, _ in row.placement = .on(["berlin"]) }
        try app.module("Away", "echo away") { row, _ in row.placement = .on(["tokyo"]) }
        try app.module("Each", rank: 1) { row, _ in row.placement = .everywhere }
        try app.start()
        try app.getReady("Near")
        try app.getReady("Each")
        try app.until { app.said("all 2 modules are ready") }
        #expect(app.broker.pid(of: "Away") == nil && !app.said("away"))
        #expect(
            try throwing(app.ask("start", ["module": "Away"])).message
                == "Away is on tokyo, and this is berlin: ask there")
        try app.end()
    }

    @Test(.promise("M.149")) func rowThatMovesIsStoppedHereAndStartedWhenItIsBack() throws {
        let app = try LauncherFixture()
        app.runs(on: "berlin", of: "berlin", "tokyo")
        try app.module("Moves") { row, _ in row.placement = .on(["berlin"]) }
        try app.start()
        try app.getReady("Moves")
        let first = app.broker.pid(of: "Moves")
        app.change("Moves") { row, _ in row.placement = .on(["tokyo"]) }
        _ = try app.ask("reload").get()
        try app.until { app.said("Moves    stopped: its row moved to tokyo") }
        #expect(try throwing(app.ask("why", ["module": "Moves"])).code == .unavailable)
        app.change("Moves") { row, _ in row.placement = .everywhere }
        _ = try app.ask("reload").get()
        try app.until { app.broker.pid(of: "Moves") != first }
        try app.end()
    }

    private func throwing(_ answer: Result<JSON, BusError>) throws -> BusError {
        try #require(#expect(throws: BusError.self) { try answer.get() })
    }

    @Test(.promise("5.13", "M.9")) func processHasWhatItNeedsAndNothingOfAnotherBus() throws {
        let app = try LauncherFixture()
        try app.module("Env", "env; pwd; test -p /proc/self/fd/3 && echo lifeline-$STRATA_LIFELINE") { _, process in
            process.env["MINE"] = "yes"
        }
        try app.start()
        try app.until { app.said("lifeline-3") }
        #expect(app.said("| STRATA_MODULE=Env") && app.said("| STRATA_SOCKET=\(app.broker.path)"))
        #expect(app.said("| STRATA_ENV=release") && app.said("| MINE=yes") && app.said("| \(app.folder)"))
        #expect(!app.said("STRATA_OLD"))
        let token = app.broker.calls.first { $0.action == "vouch" }?.body["token"]?.string
        #expect(app.said("| STRATA_TOKEN=\(token ?? "?")"))
        try app.end()
    }

    @Test func limitOnFilesHoldsFromTheStart() throws {
        let app = try LauncherFixture()
        // It may run for a moment before the limit is set.
        try app.module("Small", "while [ $(ulimit -n) -ne 77 ]; do :; done; echo limit $(ulimit -n)") { _, process in
            process.limits.files = 77
        }
        try app.start()
        try app.until { app.said("limit 77") }
        try app.end()
    }

    @Test(.promise("M.12")) func killedModuleIsBackAndVouchedForAnew() throws {
        let app = try LauncherFixture()
        try app.module("Shop", "echo here")
        try app.start()
        try app.getReady("Shop")
        let first = try #require(app.broker.pid(of: "Shop"))
        kill(Int32(first), SIGKILL)
        try app.until { app.broker.pid(of: "Shop") != first }
        let restarts = app.broker.calls.filter { ["vouch", "moduleState"].contains($0.action) }
            .compactMap { $0.body["restarts"]?.integer }
        #expect(restarts.first == 0 && restarts.last == 1 && restarts == restarts.sorted(), "\(restarts)")
        // If the bus came late, the first start was reported to it twice.
        #expect(app.broker.reports(of: "Shop").suffix(3) == ["starting", "restarting", "starting"])
        try app.end()
    }

    @Test func lastWordsComeBeforeTheNewsOfTheEnd() throws {
        let app = try LauncherFixture()
        try app.module(
            "Dead", "head -c 60000 /dev/zero | tr '\\0' x >&2; printf '\\nlast words' >&2; exit 5", stays: false
        ) { row, _ in row.restart = .never }
        try app.start()
        try app.until { app.said("failed") }
        let words = try #require(app.lines.firstIndex { $0.contains("| last words") })
        let end = try #require(app.lines.firstIndex { $0.contains("failed: it ended with exit code 5") })
        #expect(words < end)
        #expect(app.lines[end].contains("its last lines:"))
        try app.end()
    }

    @Test(.promise("10.24")) func whatAModuleWroteIsToldToOperatorsAlone() throws {
        let app = try LauncherFixture()
        try app.module("Quits", "echo 'my secret' >&2; exit 3", stays: false) { row, _ in
            row.start = .onDemand
            row.restart = .never
        }
        try app.start()
        try app.until { app.broker.calls.contains { $0.action == "watch" } }
        for (asker, isTold) in [("bus", false), ("operator", true)] {
            var answer: Result<JSON, BusError>?
            app.broker.ask("start", ["module": "Quits"], from: asker) { answer = $0 }
            try app.until { answer != nil }
            let error = #expect(throws: BusError.self) { try answer?.get() }
            #expect(error?.message.contains("exit code 3") == true, "\(asker): \(error?.message ?? "")")
            #expect(error?.message.contains("my secret") == isTold, "\(asker): \(error?.message ?? "")")
        }
        let report = app.broker.calls.last { $0.action == "moduleState" && $0.body["state"] == "failed" }?.body
        #expect(report?["reason"] == "it ended with exit code 3 before it was ready")
        #expect(report?["lines"] == ["my secret"])
        try app.end()
    }

    @Test func programThatCannotRunHarmsNobodyElse() throws {
        let app = try LauncherFixture()
        try app.module("Broken") { _, process in process.executable = "/nowhere/x" }
        try app.module("NoRight") { _, process in chmod(process.executable ?? "", 0o644) }
        try app.module("Good", rank: 1)
        try app.start()
        try app.until { app.broker.pid(of: "Good") != nil }
        #expect(app.said("/nowhere/x isn't there; build it, or fix `run`"))
        #expect(app.said("is not executable; run chmod +x"))
        #expect(app.broker.reports(of: "Broken") == ["failed"])
        try app.end()
    }

    @Test(.promise("11.6")) func theOthersStartAtTheFirstFailure() throws {
        let app = try LauncherFixture()
        try app.module("Bad", "exit 5", stays: false) { _, process in process.backoff.first = 60_000 }
        try app.module("Good", rank: 1)
        try app.start()
        try app.getReady("Good")
        #expect(app.said("1 of 2 modules are ready after"))
        try app.end()
    }

    @Test(.promise("M.97")) func theAppEndsIfARequiredModuleCannotStart() throws {
        let app = try LauncherFixture()
        try app.module("Bad", "echo no disk >&2; exit 5", stays: false) { row, _ in row.required = true }
        try app.module("Good", rank: 1)
        try app.start()
        try app.until { app.ending != nil }
        #expect(app.ending?.code == 1)
        let reason = "it ended with exit code 5 before it was ready"
        #expect(app.ending?.message == "Bad is required, and failed: \(reason)")
        #expect(app.said("failed: \(reason); its last lines: no disk"))
        #expect(app.broker.pid(of: "Good") == nil && !app.said("it starts again"))
        try app.end()
    }

    @Test(.promise("M.97")) func theAppEndsIfARequiredModuleFailsForGood() throws {
        let app = try LauncherFixture()
        try app.module("Once") { row, _ in (row.required, row.restart) = (true, .never) }
        try app.module("Other") { row, _ in row.restart = .never }
        try app.start()
        try app.getReady("Once")
        try app.getReady("Other")
        kill(Int32(try #require(app.broker.pid(of: "Other"))), SIGKILL)
        try app.until { app.said("failed: it ended with signal 9") }
        #expect(app.ending == nil)
        kill(Int32(try #require(app.broker.pid(of: "Once"))), SIGKILL)
        try app.until { app.ending != nil }
        #expect(app.ending?.code == 1 && app.ending?.message.contains("Once is required") == true)
        try app.end()
    }

    @Test(.promise("M.97")) func aRequiredModuleThatWasReadyRestartsAndMayBeStopped() throws {
        let app = try LauncherFixture()
        try app.module("Store") { row, _ in row.required = true }
        try app.start()
        try app.getReady("Store")
        let first = try #require(app.broker.pid(of: "Store"))
        kill(Int32(first), SIGKILL)
        try app.until { app.broker.pid(of: "Store") != first }
        #expect(try app.ask("stop", ["module": "Store"]).get() == [:])
        #expect(app.ending == nil)
        try app.end()
    }

    @Test func floodOfOutputHoldsUpNothing() throws {
        let app = try LauncherFixture()
        try app.module(
            "Flood", "i=0; while [ $i -lt 3000 ]; do echo $i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done"
        )
        try app.start()
        try app.until { app.said("| 2999 ") }
        try app.end()
    }

    @Test(arguments: [false, true]) func onlyAPersonIsToldWhatToTry(isForPerson: Bool) throws {
        let app = try LauncherFixture()
        app.isForPerson = isForPerson
        app.broker.told["interfaces"] = [
            "interfaces": [
                [
                    "name": "Shop", "module": "Shop",
                    "actions": [["name": "buy", "auth": true], ["name": "wipe", "auth": true], ["name": "look"]],
                ], ["name": "Log", "module": "Shop", "actions": []],
            ]
        ]
        try app.module("Shop")
        try app.start()
        try app.getReady("Shop")
        // Readers of a journal need this, too.
        let problem = "Shop/buy and 1 more have auth: true, and the app has no authorizer, so each call is refused"
        try app.until { app.said(problem) }
        #expect(app.lines.contains { $0.hasPrefix("Shop     \(problem)") }, "\(app.lines)")
        let hints = ["try, in another terminal:", "    strata call Shop", "there, first:", "ctrl-C ends the app"]
        #expect(hints.allSatisfy { app.said($0) == isForPerson }, "\(app.lines)")
        try app.end()
    }

    @Test(.promise("M.10")) func startOnDemandIsAnsweredWhenReady() throws {
        let app = try LauncherFixture()
        try app.module("Export") { row, _ in row.start = .onDemand }
        try app.start()
        try app.until { app.broker.calls.contains { $0.action == "watch" } }
        #expect(app.broker.pid(of: "Export") == nil)
        var answer: Result<JSON, BusError>?
        app.broker.ask("start", ["module": "Export"], from: "bus") { answer = $0 }
        try app.until { app.broker.pid(of: "Export") != nil }
        #expect(answer == nil)
        try app.getReady("Export")
        try app.until { answer != nil }
        #expect(throws: Never.self) { try answer?.get() }
        #expect(throws: Never.self) { try app.ask("stop", ["module": "Export"]).get() }
        #expect(app.broker.calls.contains { $0.action == "retire" })
        #expect(app.broker.reports(of: "Export") == ["starting", "absent"])
        try app.end()
    }

    /// A request from the bus comes between the stop and the process's end.
    @Test(.promise("M.14")) func stopIsAnsweredThoughTheModuleIsWantedMeanwhile() throws {
        let app = try LauncherFixture()
        try app.module("Export") { row, _ in row.start = .onDemand }
        try app.start()
        try app.until { app.broker.calls.contains { $0.action == "watch" } }
        var (stopped, started): (Result<JSON, BusError>?, Result<JSON, BusError>?)
        app.broker.ask("start", ["module": "Export"], from: "bus") { _ in }
        try app.getReady("Export")
        let first = app.broker.pid(of: "Export")
        app.broker.held.insert("retire")
        app.broker.ask("stop", ["module": "Export"]) { stopped = $0 }
        try app.until { app.broker.calls.contains { $0.action == "retire" } }
        app.broker.ask("start", ["module": "Export"], from: "bus") { started = $0 }
        #expect(throws: Never.self) { try app.ask("why", ["module": "Export"]).get() }
        #expect(stopped == nil && started == nil)
        app.broker.held.remove("retire")
        try app.until { stopped != nil }
        #expect(throws: Never.self) { try stopped?.get() }
        #expect(kill(Int32(first ?? 0), 0) != 0)
        try app.until { app.broker.pid(of: "Export") != first }
        try app.getReady("Export")
        try app.until { started != nil }
        #expect(throws: Never.self) { try started?.get() }
        try app.end()
    }

    @Test(.promise("10.33", "M.30")) func restartEndsTheOldProcessFirst() throws {
        let app = try LauncherFixture()
        try app.module("Store")
        try app.start()
        try app.getReady("Store")
        let first = app.broker.pid(of: "Store")
        var answer: Result<JSON, BusError>?
        app.broker.ask("restart", ["module": "Store"]) { answer = $0 }
        try app.until { app.broker.pid(of: "Store") != first }
        #expect(kill(Int32(first ?? 0), 0) != 0)
        app.broker.tell("Store", "ready", pid: app.broker.pid(of: "Store"))
        try app.until { answer != nil }
        #expect(throws: Never.self) { try answer?.get() }
        try app.end()
    }

    @Test func mistypedModuleGetsTheNearestName() throws {
        let app = try LauncherFixture()
        try app.module("Storage")
        try app.start()
        try app.until { app.broker.pid(of: "Storage") != nil }
        guard case .failure(let error) = try app.ask("stop", ["module": "Storge"]) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .unknownModule && error.message.contains("did you mean Storage?"))
        guard case .failure(let other) = try app.ask("start", ["name": 3]) else {
            Issue.record("no error")
            return
        }
        #expect(other.code == .badParams)
        try app.end()
    }

    @Test func newBrokerHearsOfTheProcessesBeforeAnythingElse() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.module("B", "exit 1", stays: false) { row, _ in row.restart = .never }
        try app.start()
        try app.getReady("A")
        try app.until { app.broker.reports(of: "B").last == "failed" }
        let (pid, seen) = (app.broker.pid(of: "A"), app.broker.calls.count)
        app.broker.die()
        try app.until { app.said("no connection to the broker") }
        try app.broker.listen()
        try app.until { app.broker.calls.dropFirst(seen).contains { $0.action == "watch" } }
        let actions = app.broker.calls.dropFirst(seen).map(\.action)
        #expect(actions == ["hello", "vouch", "moduleState", "moduleState", "watch"])
        #expect(app.broker.pid(of: "A") == pid)
        #expect(app.broker.reports(of: "B").last == "failed")
        try app.end()
    }

    @Test func reloadStartsNewRowsAndStopsThoseThatWent() throws {
        let app = try LauncherFixture()
        try app.module("Stays")
        try app.module("Goes")
        try app.start()
        try app.getReady("Stays")
        try app.getReady("Goes")
        let (stays, goes) = (app.broker.pid(of: "Stays"), app.broker.pid(of: "Goes"))
        app.remove("Goes")
        try app.module("Comes", rank: 2)
        let table = try app.ask("reload").get()
        #expect(table["modules"]?.array?.compactMap { $0["name"]?.string } == ["Stays", "Comes"])
        try app.until { app.broker.pid(of: "Comes") != nil && app.said("stopped: its row was removed") }
        #expect(app.broker.pid(of: "Stays") == stays)
        #expect(kill(Int32(goes ?? 0), 0) != 0)
        #expect(throws: BusError.self) { try app.ask("start", ["module": "Goes"]).get() }
        try app.end()
    }

    @Test func badManifestChangesNothing() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        app.reloadFails = LaunchError(2, "strata.yaml:3: one\nstrata.yaml:4: two")
        guard case .failure(let error) = try app.ask("reload") else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .badParams && error.message == "strata.yaml:3: one\nstrata.yaml:4: two")
        app.reloadFails = nil
        app.rename("other")
        guard case .failure(let fixed) = try app.ask("reload") else {
            Issue.record("no error")
            return
        }
        #expect(fixed.code == .badParams && fixed.message.contains("app can't change"))
        try app.end()
    }

    @Test(.promise("M.39")) func endIsInReverseOrderAndLeavesNothing() throws {
        let app = try LauncherFixture()
        try app.module("Store")
        try app.module("Shop", rank: 1)
        try app.start()
        try app.getReady("Store")
        try app.getReady("Shop")
        let pids = [app.broker.pid(of: "Store"), app.broker.pid(of: "Shop")].compactMap { $0 }
        try app.end()
        #expect(app.ending == Launcher.Ending(code: 0, message: "test"))
        let retired = app.broker.calls.filter { $0.action == "retire" }.compactMap { $0.body["module"]?.string }
        #expect(retired == ["Shop", "Store"])
        for pid in pids { #expect(kill(Int32(pid), 0) != 0) }
    }

    @Test(.promise("M.16")) func aHangThatTheBrokerTellsIsALineAndNoRestart() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        let pid = app.broker.pid(of: "A")
        func tell(_ body: JSON, from: String = "bus") throws -> Result<JSON, BusError> {
            var answer: Result<JSON, BusError>?
            app.broker.ask("hung", body, from: from) { answer = $0 }
            try app.until { answer != nil }
            return answer!
        }
        #expect(throws: Never.self) {
            try tell(["module": "A", "hung": true, "reason": "it did not\u{1B} answer"]).get()
        }
        let hangs = #"hangs: it did not\u001b answer; it isn't restarted (ping.restart: false)"#
        #expect(app.lines.last?.hasSuffix(hangs) == true, "\(app.lines)")
        #expect(throws: Never.self) { try tell(["module": "A", "hung": false]).get() }
        #expect(app.lines.last?.hasSuffix("answers its pings again") == true, "\(app.lines)")
        let count = app.lines.count
        for (body, from, code) in [
            (["module": "A", "hung": true], "operator", ErrorCode.unknownAction),
            (["module": "B", "hung": true], "bus", .unknownModule), (["hung": true], "bus", .badParams),
        ] as [(JSON, String, ErrorCode)] {
            let error = #expect(throws: BusError.self) { try tell(body, from: from).get() }
            #expect(error?.code == code)
        }
        #expect(app.lines.count == count && app.broker.pid(of: "A") == pid)
        try app.end()
    }

    /// The broker ends when it has read the last messages, and not before.
    @Test(.promise("M.73")) func theBrokerIsLeftWhenItHasReadTheLastWords() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        var end: Result<JSON, BusError>?
        app.broker.ask("logs", ["follow": true, "lines": 0]) { end = $0 }
        #expect(throws: Never.self) { try app.ask("why", ["module": "A"]).get() }
        app.broker.held.insert("ping")
        app.order("test")
        try app.until { end != nil && app.broker.calls.last?.action == "ping" }
        #expect(try end?.get()["ended"] == "the app ends: test")
        #expect(app.ending == nil)
        app.broker.held.remove("ping")
        try app.until { app.ending != nil }
        try app.end()
    }

    @Test(arguments: [false, true]) func aBrokerThatReadsNothingIsLeftInTime(isAgain: Bool) throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        app.broker.held.insert("ping")
        app.order("once")
        try app.until { app.broker.calls.last?.action == "ping" }
        let begin = app.loop.now
        if isAgain { app.order("twice") }
        try app.until { app.ending != nil }
        if !isAgain { #expect(app.loop.now - begin >= 400) }
        try app.end()
    }

    @Test(.promise("M.39")) func secondOrderKillsWhatHangs() throws {
        let app = try LauncherFixture()
        try app.module("Hang", "trap '' TERM; echo trapped; while :; do read x <&3; done", stays: false) { row, _ in
            row.stop = 60_000
        }
        try app.start()
        try app.until { app.said("trapped") }
        app.order("once")
        #expect(app.ending == nil)
        app.order("twice")
        try app.until { app.ending != nil }
        try app.end()
    }

    @Test(.promise("10.33")) func downIsAnsweredBeforeTheEnd() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        #expect(throws: Never.self) { try app.ask("down").get() }
        try app.until { app.ending != nil }
        #expect(app.ending?.code == 0)
        try app.end()
    }
}
