import Glibc
import StrataCore
import StrataTesting
import Testing

/// A row with `replicas`, with real processes: `strata scale`, a death, and restarts one after another.
@Suite(.timeLimit(.hang))
struct ReplicatedModuleTests {
    private static let row = "Shop: {level: middle, run: [MODULE], provides: [Shop], replicas: {least: 2, most: 4}}"

    private func run(_ row: String = Self.row, _ test: (FixtureApp, RawPeer) throws -> Void) throws {
        try FixtureApp.run(row, test)
    }

    /// Returns the processes that answer, each once.
    private func pids(_ tool: RawPeer, calls: Int = 12) throws -> Set<Int64> {
        let ids = try (0..<calls).map { _ in try tool.call("Shop/facts") }
        return Set(try ids.map { try #require(try tool.expectReply(to: $0).json["pid"]?.integer) })
    }

    private func names(_ tool: RawPeer) throws -> [String] {
        (try tool.asked("bus/modules")["modules"]?.array ?? []).compactMap { $0["name"]?.string }
            .filter { $0.hasPrefix("Shop") }
    }

    @Test(.promise("M.169", "6.51")) func scaleStartsAndEndsReplicas() throws {
        try run { app, tool in
            #expect(try names(tool) == ["Shop~1", "Shop~2"])
            #expect(try pids(tool).count == 2)
            try tool.asked("launcher/scale", ["module": "Shop", "replicas": 4])
            #expect(try names(tool) == ["Shop~1", "Shop~2", "Shop~3", "Shop~4"])
            let four = try pids(tool)
            #expect(four.count == 4)
            // A reload by a person keeps the number.
            try tool.asked("bus/reload")
            #expect(try pids(tool) == four)
            try tool.asked("launcher/scale", ["module": "Shop", "replicas": 2])
            let two = try pids(tool)
            #expect(two.count == 2 && two.isSubset(of: four))
            for pid in four.subtracting(two) { #expect(!UpProcess.lives(Int32(pid))) }
            #expect(try names(tool) == ["Shop~1", "Shop~2"])
            for wrong in [0, 1, 5, -1] as [Int64] {
                try tool.refused(
                    "launcher/scale", ["module": "Shop", "replicas": .integer(wrong)], with: "bad-params", ran: nil)
            }
            for module in ["Base", "Shop~1"] as [JSON] {
                try tool.refused("launcher/scale", ["module": module, "replicas": 2], with: "bad-params", ran: nil)
            }
            try tool.refused("launcher/scale", ["module": "Nobody", "replicas": 2], with: "unknown-module", ran: nil)
            try tool.refused("launcher/scale", ["module": "Shop"], with: "bad-params", ran: nil)
        }
    }

    @Test(.promise("M.170"), arguments: ["wait", "overlap"]) func noCallFailsWhileTheyAreRestarted(replace: String)
        throws
    {
        try run(Self.row.replacing("replicas:", with: "replace: \(replace), replicas:")) { app, tool in
            let before = try pids(tool)
            let restart = try tool.call("launcher/restart", ["module": "Shop"])
            repeat {
                let ids = try (0..<20).map { try tool.call("Shop/echo", .integer(Int64($0))) }
                for (index, id) in ids.enumerated() { try tool.expectReply(to: id, body: .integer(Int64(index))) }
                try tool.settle()
            } while !tool.inbox.contains { $0.id == restart }
            try tool.expectReply(to: restart)
            let after = try pids(tool)
            #expect(after.count == 2 && after.isDisjoint(with: before))
        }
    }

    @Test(.promise("M.170")) func ordersAreForAllOrForOne() throws {
        try run { app, tool in
            let (one, two) = (try app.pid(of: "Shop~1", tool), try app.pid(of: "Shop~2", tool))
            try tool.asked("launcher/stop", ["module": "Shop~1"])
            #expect(!UpProcess.lives(one) && UpProcess.lives(two))
            #expect(try pids(tool) == [Int64(two)])
            // One that a person has stopped stays so, and nobody waits for it.
            try tool.asked("launcher/scale", ["module": "Shop", "replicas": 3])
            #expect(try pids(tool).count == 2)
            try tool.asked("launcher/scale", ["module": "Shop", "replicas": 2])
            try tool.asked("launcher/start", ["module": "Shop"])
            #expect(try pids(tool).count == 2)
            try tool.asked("launcher/stop", ["module": "Shop"])
            #expect(!UpProcess.lives(two))
            try tool.refused("Shop/echo", with: "unavailable")
            try tool.refused("launcher/why", ["module": "Shop"], with: "bad-params", ran: nil)
            #expect(try tool.asked("launcher/why", ["module": "Shop~2"])["module"] == "Shop~2")
            try tool.refused("launcher/start", ["module": "Shop~3"], with: "unknown-module", ran: nil)
            let lines = try tool.call("launcher/logs", ["modules": ["Shop"]], ["credit": 1_000])
            try tool.find(["kind": "reply", "id": .integer(Int64(lines))])
        }
    }

    @Test(.promise("6.53")) func aKilledReplicaComesBackAndTheOtherServesMeanwhile() throws {
        try run { app, tool in
            let victim = try app.pid(of: "Shop~1", tool)
            let open = try (0..<2).map { _ in try tool.call("Shop/wait") }
            try tool.settle()
            kill(victim, SIGKILL)
            let ended = try tool.find(["kind": "error", "code": "died"])
            #expect(open.contains(ended.id))
            for _ in 1...5 { try tool.asked("Shop/echo") }
            kill(try app.pid(of: "Shop~2", tool), SIGUSR1)
            try tool.expectReply(to: try #require(open.first { $0 != ended.id }))
            try app.running.until { (try? pids(tool, calls: 4).count) == 2 }
        }
    }
}
