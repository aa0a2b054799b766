import Glibc
import StrataCore
import StrataTesting
import Testing

/// A module that dies of one of its actions, as a real process.
@Suite(.timeLimit(.hang))
struct PoisonTests {
    @Test(.promise("6.7", "R.12"), arguments: ["crash", "block"])
    func actionThatKillsItsModuleIsQuarantinedUntilAPersonRestartsIt(action: String) throws {
        let ping = action == "block" ? "ping: 1s, " : ""
        let app = try FixtureApp(
            """
              Store: {run: [MODULE], provides: [Store], \(ping)stop: 100ms, backoff: {first: 1ms, most: 10ms, reset: 60s}}
            """)
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for _ in 0..<3 {
            try tool.expectError(to: try tool.call("Store/\(action)"), "died", ran: "maybe")
            // It is back, and does its other work.
            #expect(try tool.asked("Store/echo", 1) == 1)
        }
        let refusal = try tool.refused("Store/\(action)", with: "unavailable")
        #expect(refusal["ran"] == "no")
        #expect(refusal.message.contains("Store/\(action) is quarantined: Store died 3 times"), "\(refusal.message)")
        #expect(try tool.asked("Store/echo", 2) == 2)
        let why = try app.running.why("Store")
        #expect(why["setAside"]?.array?.first?["action"] == .string("Store/\(action)"), "\(why)")
        #expect(why["lastDeath"]?["actions"] == [.string("Store/\(action)")])
        #expect(why["state"] == "ready" && why["signal"] == 9 && why["restarts"] == 3, "\(why)")
        if action == "block" { #expect(why["reason"] == "it did not answer a ping within 1000 ms") }
        try app.running.until { app.line(of: "Store", "Store/\(action) is quarantined for 60 s") != nil }
        #expect(try app.running.strata("restart", "Store").end == .exit(0))
        try tool.expectError(to: try tool.call("Store/\(action)"), "died", ran: "maybe")
        #expect(try tool.asked("Store/echo", 3) == 3)
        #expect(try app.running.why("Store")["setAside"] == nil)
        try app.end()
    }
}
