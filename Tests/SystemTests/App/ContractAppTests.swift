import Glibc
import StrataCore
import StrataTesting
import Testing

/// `contracts: enforced` in a whole app: what people see of a refusal, and a reload that is refused.
@Suite(.timeLimit(.hang))
struct ContractAppTests {
    /// A module that provides Data in version 1.4, by the protocol's page.
    private static let store = """
        import json, os, socket, struct, sys
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(os.environ["STRATA_SOCKET"])
        stream = bus.makefile("rb")
        def send(header, body=None):
            head, data = json.dumps(header).encode(), json.dumps(body).encode()
            bus.sendall(struct.pack(">II", 4 + len(head) + len(data), len(head)) + head + data)
        send({"kind": "call", "id": 1, "to": "bus/hello"},
             {"protocol": 1, "module": "Store", "token": os.environ["STRATA_TOKEN"],
              "interfaces": {"Data": {"version": "1.4"}}})
        while lengths := stream.read(8):
            length, head = struct.unpack(">II", lengths)
            header, _ = json.loads(stream.read(head)), stream.read(length - 4 - head)
            if header["kind"] == "call":
                send({"kind": "reply", "id": header["id"]})
        """

    /// - Parameter rows: further rows; MODULE is the fixture's program.
    private func app(_ contracts: String, _ rows: String) throws -> UpProcess {
        let app = try UpProcess(try manifest(contracts, rows))
        try app.write("store.py", Self.store, mode: 0o644)
        return app
    }

    private func manifest(_ contracts: String, _ rows: String) throws -> String {
        """
        app: fixture
        contracts: \(contracts)
        modules:
          Store: {run: [/usr/bin/env, python3, store.py], provides: [Data], stop: 100ms}
        \(rows.replacing("MODULE", with: try BuiltExecutable.path("StrataFixture")))
        """
    }

    @Test(.promise("M.100", "5.52")) func aRefusedModuleSaysWhy() throws {
        let app = try app(
            "enforced",
            "  Shop: {level: middle, run: [MODULE], requires: [Data@2.1], backoff: {first: 1ms, most: 1ms}}")
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.lines.contains { $0.hasPrefix("Shop") && $0.contains(" failed: ") } }
        let why = try app.why("Shop")
        #expect(why["state"] == "failed" && why["code"] == 1 && why["restarts"] == 9, "\(why)")
        let words = (why["lines"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
        #expect(words.contains("incompatible") && words.contains("Store serves version 1.4 of Data"), "\(why)")
        #expect(words.contains("Shop requires 2.1"), "\(why)")
        let shown = try app.strata("ps", "--why").output
        #expect(shown.contains("Store serves version 1.4 of Data"), "\(shown)")
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    private static let rows = """
          Shop: {level: middle, run: [MODULE], provides: [Shop], requires: [Data@2.1]}
          Goes: {level: middle, run: [MODULE], provides: [Goes]}
        """

    @Test(.promise("10.52", "M.33")) func aReloadThatTheBusRefusesChangesNothing() throws {
        let app = try app("off", Self.rows)
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("modules are ready") }
        let tool = try RawPeer(path: app.socket, label: "tool")
        try tool.hello(role: "operator")
        func row(_ name: String) throws -> JSON? {
            try tool.asked("bus/modules")["modules"]?.array?.first { $0["name"]?.string == name }
        }
        let goes = try row("Goes")?["pid"]
        // A row comes, one goes, one changes, and the versions don't fit.
        let new = """
              Shop: {level: middle, run: [MODULE, x], provides: [Shop], requires: [Data@2.1]}
              Comes: {level: middle, run: [MODULE], provides: [Comes]}
            """
        try app.write("strata.yaml", try manifest("enforced", new), mode: 0o644)
        let error = try tool.refused("bus/reload", with: "incompatible")
        #expect(error.message.contains("Store serves version 1.4 of Data, and Shop requires 2.1"), "\(error)")
        try tool.refused("launcher/why", ["module": "Comes"], with: "unknown-module")
        #expect(try tool.asked("launcher/why", ["module": "Goes"])["pid"] == goes)
        #expect(try row("Goes")?["pid"] == goes && row("Goes")?["state"] == "ready")
        #expect(try row("Shop")?["pending"] == nil && row("Comes") == nil)
        // A broker that is started again gets the old manifest too.
        kill(try app.broker(), SIGKILL)
        try app.until { app.said("the broker is back after") }
        let again = try RawPeer(path: app.socket, label: "tool")
        try again.hello(role: "operator")
        #expect(try again.asked("Goes/echo", 1) == 1)
        // Only modules that are back are compared.
        try again.asked("Data/echo", 1)
        #expect(try again.asked("Shop/call", ["to": "Goes/echo", "body": 2]) == 2)
        // Two at once: both are refused, and what fits takes effect afterwards.
        let ids = try (0..<2).map { _ in try again.call("bus/reload") }
        for id in ids { try again.expectError(to: id, "incompatible") }
        try app.write("strata.yaml", try manifest("off", new), mode: 0o644)
        try again.asked("bus/reload")
        #expect(try again.asked("Comes/echo", 1) == 1)
        try again.refused("Goes/echo", 1, with: "unknown-interface")
        again.close()
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }
}
