import Glibc
import StrataCore
import StrataTesting
import Testing

/// Nobody in a whole app gets a secret of a module by asking for it.
@Suite(.timeLimit(.hang))
struct SecretAppTests {
    private static let (first, second, word) = ("hunter2-of-the-file", "hunter3-of-the-file", "hunter4-of-the-shell")

    /// A module that has two secrets by the protocol's page, and that is careless with them.
    private static let vault = """
        import json, os, socket, struct
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(os.environ["STRATA_SOCKET"])
        stream = bus.makefile("rb")
        def send(header, body=None):
            head, data = json.dumps(header).encode(), json.dumps(body).encode()
            bus.sendall(struct.pack(">II", 4 + len(head) + len(data), len(head)) + head + data)
        def fail(id, message):
            send({"kind": "error", "id": id, "code": "failed", "message": message}, {"said": message})
        send({"kind": "call", "id": 1, "to": "bus/hello"},
             {"protocol": 1, "module": "Vault", "token": os.environ["STRATA_TOKEN"], "interfaces": {"Vault": {}},
              "settings": ["page", {"name": "key", "secret": True}, {"name": "word", "secret": True}]})
        settings = {}
        while lengths := stream.read(8):
            length, head = struct.unpack(">II", lengths)
            header, body = json.loads(stream.read(head)), stream.read(length - 4 - head)
            if header["kind"] == "reply":
                settings = json.loads(body)["settings"]
                print("got", settings["key"], settings["word"], "API_WORD" in os.environ, flush=True)
            elif header["kind"] == "call" and header["to"] == "Vault/hint":
                send({"kind": "reply", "id": header["id"]}, (settings["key"] + settings["word"])[::-1])
            elif header["kind"] == "call" and header["to"] == "module/settings":
                settings = json.loads(body)["settings"]
                fail(header["id"], "I don't take " + settings["key"])
            elif header["kind"] == "call" and header["to"] == "module/setUp" and os.path.exists("broken"):
                fail(header["id"], "no login with " + settings["key"] + " and " + settings["word"])
            elif header["kind"] == "call":
                send({"kind": "reply", "id": header["id"]})
        """

    private static let rows = """
        app: fixture
        guests: {level: topout, most: 1}
        settings: {page: 1}
        modules:
          Vault:
            run: [/usr/bin/env, python3, vault.py]
            provides: [Vault]
            stop: 100ms
            backoff: {first: 1ms, most: 1ms}
            secrets: {key: {file: key}, word: {env: API_WORD}}
          Nosy: {level: middle, run: [MODULE], provides: [Nosy]}
          Bee: {level: middle, start: manual}
        """

    private func start() throws -> UpProcess {
        let module = try BuiltExecutable.path("StrataFixture")
        let app = try UpProcess(Self.rows.replacing("MODULE", with: module))
        try app.write("vault.py", Self.vault, mode: 0o644)
        try app.write("key", Self.first + "\n", mode: 0o600)
        try app.start(environment: ["API_WORD=\(Self.word)"])
        try app.until { app.said("modules are ready") }
        return app
    }

    private func tool(_ app: UpProcess) throws -> RawPeer {
        let tool = try RawPeer(path: app.socket, label: "tool")
        try tool.hello(role: "operator")
        return tool
    }

    /// Whether a text has none of the secrets.
    private func hides(_ text: String) -> Bool { !text.contains("hunter") }

    /// Returns what the tool's monitor got until now.
    private func seen(_ tool: RawPeer) throws -> String {
        try tool.broadcast("the end", nil, ["level": "basic"])
        var frames: [JSON] = []
        while !frames.contains(where: { $0["name"] == "the end" }) {
            frames += try tool.drain().filter(\.isPartial).map(\.json)
        }
        return "\(frames)"
    }

    private func hint(_ key: String) -> JSON { .string(String((key + Self.word).reversed())) }

    @Test(.promise("5.61", "10.60", "M.122")) func noWayLeadsToASecret() throws {
        let app = try start()
        defer { app.cleanUp() }
        let tool = try tool(app)
        try tool.call("bus/monitor", ["bodies": true], ["credit": 10_000])
        #expect(try app.strata("restart", "Vault").end == .exit(0))
        // Its module has them.
        #expect(try tool.asked("Vault/hint") == hint(Self.first))

        // 1. A monitor sees hello's answer and setUp.
        let frames = try seen(tool)
        #expect(frames.contains("module/setUp") && frames.contains("‹secret›") && hides(frames), "\(frames)")
        // 2. The command that shows settings.
        for words in [["settings"], ["settings", "--json"], ["settings", "Vault", "--json"]] {
            let shown = try app.strata(words: words, environment: ["API_WORD": Self.word, "PATH": "/usr/bin:/bin"])
            #expect(shown.end == .exit(0) && shown.output.contains("‹secret›") && hides(shown.output), "\(shown)")
        }
        // 3. The lines that the module writes, where people see them and where they are kept.
        let logs = try app.strata("logs", "Vault").output
        #expect(logs.contains("got ‹secret› ‹secret› False") && hides(logs), "\(logs)")
        #expect(app.said("got ‹secret› ‹secret› False") && hides("\(app.lines)"), "\(app.lines)")
        // 4. Reports of the bus and of the launcher.
        for question in ["bus/modules", "bus/timeline", "bus/interfaces", "bus/requests"] {
            #expect(hides("\(try tool.asked(question))"), "\(question)")
        }
        #expect(hides("\(try tool.asked("launcher/why", ["module": "Vault"]))"))
        // 5. Modules that declare the same keys: one with a row, a guest, one that takes the name.
        let secrets = ["key", "word"].map { ["name": .string($0), "secret": true] as JSON }
        let declared: JSON = ["settings": .array(["page"] + secrets)]
        for (name, settings) in [("Bee", ["page": 1]), ("Guest", [:])] as [(String, JSON)] {
            let peer = try RawPeer(path: app.socket, label: name)
            #expect(try peer.hello(name, declared)["settings"] == settings)
            #expect(try peer.expectCall("module/setUp").json["settings"] == settings)
            peer.close()
        }
        let claimed = ["settings": .array(["page"] + secrets), "interfaces": ["Vault": [:]]] as JSON
        let forger = try RawPeer(path: app.socket, label: "forger")
        #expect(hides(try forger.expectRefusal(of: try forger.sendHello("Vault", claimed), "forbidden").message))
        // 6. The processes of other modules, and of the broker.
        let nosy = try pid(of: "Nosy", tool)
        for pid in [nosy, try app.broker()] {
            let shown = "\(UpProcess.text(of: "/proc/\(pid)/environ")) \(UpProcess.text(of: "/proc/\(pid)/cmdline"))"
            #expect(shown.count > 10 && !shown.contains("API_WORD") && hides(shown), "\(shown)")
        }
        #expect(!files(of: nosy).contains { $0.contains("memfd") }, "\(files(of: nosy))")

        try replaceTheBroker(app, tool)
        try failTheStart(app, tool)
        tool.close()
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    /// 7. The broker's next program knows which values are secrets, those of before a reload too.
    private func replaceTheBroker(_ app: UpProcess, _ tool: RawPeer) throws {
        #expect(try app.strata("restart", "--broker").end == .exit(0))
        _ = try seen(tool)
        try app.write("key", Self.second, mode: 0o600)
        #expect(try app.strata("reload").end == .exit(0))
        try app.until { (try? tool.asked("Vault/hint")) == hint(Self.second) }
        let frames = try seen(tool)
        #expect(frames.contains("module/settings") && frames.contains("I don't take ‹secret›"), "\(frames)")
        #expect(hides(frames), "\(frames)")
        let rows = "\(try tool.asked("bus/modules"))"
        #expect(rows.contains("settings.key") && hides(rows), "\(rows)")
    }

    /// 8. A start fails with a text that quotes the secrets.
    private func failTheStart(_ app: UpProcess, _ tool: RawPeer) throws {
        try app.write("broken", "", mode: 0o600)
        let failed = try app.strata("restart", "Vault")
        #expect(failed.end == .exit(1) && hides(failed.output), "\(failed)")
        try app.until { app.said("no login with ‹secret› and ‹secret›") }
        let why = "\(try app.why("Vault")) \(try tool.asked("bus/modules")) \(try tool.asked("bus/timeline"))"
        #expect(why.contains("no login with ‹secret› and ‹secret›") && hides(why), "\(why)")
        let (frames, lines) = (try seen(tool), "\(app.lines)")
        #expect(hides(lines) && hides(frames), "\(lines) \(frames)")
    }

    private func pid(of module: String, _ tool: RawPeer) throws -> Int32 {
        let rows = try tool.asked("bus/modules")["modules"]?.array ?? []
        let row = try #require(rows.first { $0["name"]?.string == module })
        return Int32(try #require(row["pid"]?.integer))
    }

    /// Returns the names of a process's open files.
    private func files(of pid: Int32) -> [String] {
        (0..<64).compactMap { descriptor in
            var name = [CChar](repeating: 0, count: 256)
            let count = readlink("/proc/\(pid)/fd/\(descriptor)", &name, name.count)
            return count < 0 ? nil : String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
