import Glibc
import StrataCore
import Testing

@testable import StrataLauncher

/// A manifest that is reloaded while a module's place is lent to a person's process, or promised
/// to it.
@Suite(.timeLimit(.hang))
struct LoanReloadTests {
    /// A process from outside the app: the one that runs these tests.
    private let borrower = Int64(getppid())

    private var asked: JSON { ["module": "A", "pid": .integer(borrower)] }

    /// Starts an app whose module A is ready in a launched process.
    private func started() throws -> (LauncherFixture, launched: Int) {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        return (app, try #require(app.broker.pid(of: "A")))
    }

    /// Returns the processes that were vouched for as A, in order.
    private func vouched(_ app: LauncherFixture) -> [Int64] {
        app.broker.calls.filter { $0.action == "vouch" }.compactMap { $0.body["pid"]?.integer }
    }

    @Test func aChangedRowLeavesThePlaceAndWaitsForTheNextStart() throws {
        let (app, launched) = try started()
        let place = try app.ask("lend", asked).get()
        let seen = app.broker.calls.count
        app.change("A") { _, process in process.env = ["MODE": "new"] }
        _ = try app.ask("reload").get()
        let calls = app.broker.calls.dropFirst(seen).filter { !["emit", "reloaded"].contains($0.action) }
        try #require(calls.map(\.action) == ["vouch"])
        #expect(calls[calls.startIndex].body["pid"] == .integer(borrower))
        #expect(calls[calls.startIndex].body["token"] == place["token"])
        #expect(calls[calls.startIndex].body["pending"] == ["env"])
        #expect(kill(Int32(launched), 0) != 0)
        try app.end()
    }

    @Test func aRowThatGoesAndIsBackBeforeTheTearDownIsLaunchedAgain() throws {
        let (app, launched) = try started()
        _ = try app.ask("lend", asked).get()
        app.broker.held.insert("retire")
        app.remove("A")
        _ = try app.ask("reload").get()
        try app.until { app.broker.calls.contains { $0.action == "retire" } }
        app.bringBack("A")
        _ = try app.ask("reload").get()
        app.broker.held.remove("retire")
        try app.until { vouched(app).count == 4 }
        let pids = vouched(app)
        #expect(pids.prefix(3) == [Int64(launched), borrower, 0])
        #expect(app.broker.reports(of: "A").suffix(2) == ["restarting", "starting"])
        try app.getReady("A")
        // Its place can be lent again.
        #expect(throws: Never.self) { try app.ask("lend", asked).get() }
        try app.end()
    }

    @Test func aRowThatGoesBreaksThePromiseAtOnce() throws {
        let (app, launched) = try started()
        app.broker.held.insert("retire")
        var answer: Result<JSON, BusError>?
        app.broker.ask("lend", asked) { answer = $0 }
        try app.until { app.broker.calls.contains { $0.action == "retire" } }
        app.remove("A")
        _ = try app.ask("reload").get()
        app.bringBack("A")
        _ = try app.ask("reload").get()
        #expect(kill(Int32(launched), 0) == 0)
        guard case .failure(let error) = answer else {
            Issue.record("no error: \(String(describing: answer))")
            return
        }
        #expect(
            error.code == .unavailable && error.message.contains("its row was removed from the manifest"), "\(error)")
        app.broker.held.remove("retire")
        try app.until { vouched(app).count == 2 }
        #expect(!vouched(app).contains(borrower) && kill(Int32(launched), 0) != 0)
        try app.end()
    }
}
