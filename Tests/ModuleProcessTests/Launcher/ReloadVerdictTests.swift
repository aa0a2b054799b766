import Glibc
import StrataCore
import Testing

@testable import StrataLauncher

/// The launcher answers a reload with the new table, and starts and stops processes once the broker has
/// put it in force: a new module's hello would find no row before.
@Suite(.timeLimit(.hang))
struct ReloadVerdictTests {
    /// Reloads a manifest in which B is new and C is gone, up to the broker's verdict.
    private func reloaded() throws -> LauncherFixture {
        let app = try LauncherFixture()
        try app.module("A")
        try app.module("C")
        try app.start()
        for name in ["A", "C"] { try app.getReady(name) }
        app.broker.held.insert("reloaded")
        app.remove("C")
        try app.module("B")
        _ = try app.ask("reload").get()
        try app.until { app.broker.calls.contains { $0.action == "reloaded" } }
        // The launcher has done what it was to do for the reload when it answers the next question.
        _ = try app.ask("why", ["module": "A"]).get()
        #expect(app.broker.pid(of: "B") == nil && app.broker.reports(of: "B") == [])
        #expect(!app.broker.calls.contains { $0.action == "retire" } && !app.said("was read again"))
        return app
    }

    @Test(.promise("M.34")) func aNewRowIsStartedOnceTheBrokerKnowsIt() throws {
        let app = try reloaded()
        app.broker.held.remove("reloaded")
        try app.until { app.broker.pid(of: "B") != nil && app.broker.calls.contains { $0.action == "retire" } }
        let actions = app.broker.calls.map { "\($0.action) \($0.body["module"]?.string ?? "")" }
        let verdict = try #require(actions.firstIndex(of: "reloaded "))
        for later in ["vouch B", "retire C"] {
            #expect(try #require(actions.firstIndex(of: later)) > verdict, "\(actions)")
        }
        try app.until { app.said("stopped: its row was removed") }
        try app.end()
    }

    @Test(.promise("M.34")) func aBrokerThatEndsBeforeItsVerdictStartsAgainWithTheNewTable() throws {
        let app = try reloaded()
        app.broker.die()
        try app.until { app.said("was read again") }
        #expect(app.broker.pid(of: "B") == nil)
        try app.broker.listen()
        try app.until { app.broker.pid(of: "B") != nil }
        try app.end()
    }
}
