import StrataCore
import StrataTesting
import Testing

/// The manifest's `manages`: a module starts, stops and restarts the rows that its row names.
@Suite(.timeLimit(.hang))
struct ManagingTests {
    private func table(_ manages: [String] = ["Music", "Finder"]) -> AppTable {
        .testing(
            .manual("Desk", rank: 1) { $0.manages = manages }, .manual("Music", rank: 2), .eager("Finder"),
            .manual("Other", rank: 2), .manual("Plain", rank: 1))
    }

    /// Neither the level nor `calls` matters.
    @Test(
        .promise("5.37"), arguments: ["start", "stop", "restart"],
        [AppTable.CallPolicy.any, .layered, .declared])
    func managedRowIsSteered(action: String, calls: AppTable.CallPolicy) throws {
        var table = table()
        table.calls = calls
        try MemoryBus.run(table) { bus in
            let (launcher, desk) = (try bus.launcher(), try bus.module("Desk"))
            for name in ["Music", "Finder"] {
                let body: JSON = ["module": .string(name), "reason": "a click"]
                let id = try desk.call("launcher/\(action)", body, ["deadline": 700])
                let asked = try launcher.expectCall("launcher/\(action)", body, ["from": "Desk"])
                #expect(asked["deadline"] == 700)
                try launcher.reply(to: asked, .object([]))
                try desk.expectReply(to: id, body: .object([]))
            }
            let failing = try desk.call("launcher/\(action)", ["module": "Music"])
            try launcher.fail(try launcher.expectCall("launcher/\(action)"), "failed", "no such file")
            try desk.expectError(to: failing, "failed", ran: "yes")
            let cancelled = try desk.call("launcher/\(action)", ["module": "Music"])
            let open = try launcher.expectCall("launcher/\(action)")
            try desk.cancel(cancelled)
            try desk.expectError(to: cancelled, "cancelled", ran: "maybe")
            try launcher.expect(["kind": "cancel", "id": open["id"] ?? 0])
        }
    }

    @Test(.promise("5.37", "10.33"), arguments: ["start", "stop", "restart"])
    func anythingElseIsForbidden(action: String) throws {
        try MemoryBus.run(table()) { bus in
            let (launcher, desk, plain) = (try bus.launcher(), try bus.module("Desk"), try bus.module("Plain"))
            for name in ["Other", "Desk", "None", "music", "Music "] {
                try desk.refused("launcher/\(action)", ["module": .string(name)], with: "forbidden")
            }
            try plain.refused("launcher/\(action)", ["module": "Music"], with: "forbidden")
            for other in ["why", "logs", "lend", "reload", "down", "none"] {
                try desk.refused("launcher/\(other)", ["module": "Music"], with: "forbidden")
            }
            try launcher.expectNothing()
        }
    }

    /// What the broker reads is what the launcher reads: no name may be there twice.
    @Test(.promise("5.37", "13.30"))
    func bodyIsReadWithinBounds() throws {
        try MemoryBus.run(table()) { bus in
            let (launcher, desk) = (try bus.launcher(), try bus.module("Desk"))
            for body in ["", "null", "[]", "{}", "{\"module\":1}", "{", "{\"module\":\"Other\",\"module\":\"Music\"}"] {
                try desk.send(header: #"{"kind":"call","id":77,"to":"launcher/stop"}"#, body: body)
                try desk.expectError(to: 77, "bad-params", ran: "no")
            }
            let long = JSON.string(String(repeating: "x", count: 65_536))
            try desk.refused("launcher/stop", ["module": "Music", "reason": long], with: "too-large")
            let many = JSON.array(Array(repeating: .null, count: 4_096))
            try desk.refused("launcher/stop", ["module": "Music", "reason": many], with: "too-large")
            try desk.refused("launcher#1/stop", ["module": "Music"], with: "unknown-instance")
            try desk.refused("launcher/stop", ["module": "Music"], ["parent": 99], with: "cancelled")
            try launcher.expectNothing()
            launcher.close()
            try bus.operator().settle()
            try desk.refused("launcher/stop", ["module": "Music"], with: "unavailable")
        }
    }

    @Test(.promise("5.37", "M.33")) func reloadTakesEffectAtOnce() throws {
        try MemoryBus.run(table()) { bus in
            let desk = try bus.module("Desk")
            _ = try bus.reload(table(["Other"]))
            let launcher = try bus.launcher()
            try desk.refused("launcher/start", ["module": "Music"], with: "forbidden")
            try desk.call("launcher/start", ["module": "Other"])
            try launcher.expectCall("launcher/start", ["module": "Other"])
        }
    }

    /// A start that waits for a start that comes later would wait for itself.
    @Test(.promise("5.37", "11.7")) func startDoesNotWaitInASetUp() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let desk = try bus.connect("Desk")
            try desk.hello("Desk")
            let setUp = try desk.expectCall("module/setUp")
            for action in ["start", "restart"] {
                let error = try desk.refused(
                    "launcher/\(action)", ["module": "Finder"], ["parent": setUp["id"] ?? 0], with: "unavailable")
                #expect(error.message.contains("Finder isn't ready, and the request was made in setUp of Desk"))
            }
            try desk.call("launcher/stop", ["module": "Finder"], ["parent": setUp["id"] ?? 0])
            try launcher.expectCall("launcher/stop", ["module": "Finder"])
        }
    }
}
