import Glibc
import StrataCore
import StrataTesting
import Testing

/// The rows' `restart` and `backoff`, with real processes.
@Suite(.timeLimit(.hang))
struct RestartTests {
    @Test(.promise("M.12", "R.7")) func eachPolicyJudgesEachEnd() throws {
        let policies = ["Always": "always", "Failure": "on-failure", "Never": "never"]
        let ends = ["Zero", "One", "Signal"]
        let rows = policies.flatMap { name, policy in
            ends.map { "  \(name)\($0): {run: [MODULE], provides: [\(name)\($0)], restart: \(policy)}" }
        }
        let app = try FixtureApp(rows.joined(separator: "\n"))
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for policy in policies.keys {
            for end in ends {
                let module = policy + end
                let id =
                    end == "Signal"
                    ? try tool.call("\(module)/crash") : try tool.call("\(module)/exit", ["code": end == "One" ? 1 : 0])
                try tool.expectError(to: id, "died", ran: "maybe")
            }
        }
        let expected = [
            "AlwaysZero": "ready", "AlwaysOne": "ready", "AlwaysSignal": "ready", "FailureZero": "absent",
            "FailureOne": "ready", "FailureSignal": "ready", "NeverZero": "absent", "NeverOne": "failed",
            "NeverSignal": "failed",
        ]
        // Each has reached its final state, and has reported how it ended.
        try app.running.until {
            expected.allSatisfy { module, state in
                let line = state == "ready" ? "ready after" : state == "absent" ? "stopped: " : "failed: "
                return app.running.lines.count { $0.hasPrefix("\(module) ") && $0.contains(line) }
                    == (state == "ready" ? 2 : 1)
            }
        }
        for (module, state) in expected {
            let why = try app.running.why(module)
            #expect(why["state"] == .string(state), "\(why)")
            #expect(why["restarts"] == (state == "ready" ? 1 : 0), "\(why)")
            let end =
                module.hasSuffix("Zero") ? "exit code 0" : module.hasSuffix("One") ? "exit code 1" : "signal 9 (Killed)"
            #expect(why["reason"] == .string("it ended with \(end)"), "\(why)")
        }
        try app.end()
    }

    /// The machine's tests check the exact delays; here a process costs time.
    @Test(.promise("M.13", "R.8")) func delaysGrowToTheirMost() throws {
        let app = try UpProcess(
            "{app: test, modules: {Quick: {run: [quick.sh], backoff: {first: 50ms, most: 400ms, reset: 60s}}}}",
            scripts: ["quick.sh": "exit 1"])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("Quick    failed") }
        let delays = app.lines.compactMap { line in
            line.firstMatch(of: /starts again in (\d+) ms/).flatMap { UInt64($0.1) }
        }
        #expect(delays.count == 9)
        for (delay, most) in zip(delays, [50, 100, 200] + Array(repeating: 400, count: 6)) {
            #expect((50...UInt64(most)).contains(delay), "\(delays)")
        }
        #expect(delays.contains { $0 > 200 }, "\(delays)")
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }
}
