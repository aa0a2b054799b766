import StrataCore
import StrataManifest
import Testing

@Suite(.timeLimit(.hang))
struct ManifestNodeTests {
    static let whole = """
        app: moments
        group: nogroup
        nodes:
          berlin: {operates: true, key: berlin.nk}
          tokyo:
        federation:
          servers: [tls://n1.example:4222, "nats://127.0.0.1:4222", "tls://[::2]", nats://localhost]
          key: /etc/strata/moments.nk
          ca: ca.pem
          window: 64KiB
          lost: 60s
          join: 0s
          unguarded: true
          user: nobody
        modules:
          Storage: {level: basic, node: berlin, provides: [Storage]}
          Thumbs: {node: [tokyo, berlin]}
          Log: {node: all}
        """

    @Test(.promise("M.140")) func everyKeyIsRead() throws {
        let manifest = try TemporaryManifest.load(Array(Self.whole.utf8))
        #expect(manifest.table.nodes == [.init("berlin", operates: true), .init("tokyo")])
        #expect(manifest.table.node == nil)
        #expect(manifest.table.modules.map(\.placement) == [.on(["berlin"]), .on(["tokyo", "berlin"]), .everywhere])
        let federation = try #require(manifest.federation)
        #expect(
            federation.servers == [
                "tls://n1.example:4222", "nats://127.0.0.1:4222", "tls://[::2]", "nats://localhost",
            ])
        let (own, ca) = (manifest.folder + "/berlin.nk", manifest.folder + "/ca.pem")
        #expect(federation.files(of: "berlin") == .init(key: own, ca: ca))
        #expect(federation.files(of: "tokyo") == .init(key: "/etc/strata/moments.nk", ca: ca))
        #expect((federation.window, federation.lost, federation.join) == (65_536, 60_000, 0))
        #expect(manifest.table.join == 0)
        #expect(federation.unguarded && federation.user != nil)
        #expect(AppReview(manifest).findings.isEmpty)
    }

    @Test func federationHasDefaults() throws {
        let manifest = try TemporaryManifest.load(Array("app: a\nnodes: {x: }\n".utf8))
        var wanted = Federation()
        wanted.ownFiles = ["x": .init()]
        #expect(manifest.federation == wanted)
        #expect(manifest.table.join == 10_000)
        #expect(try TemporaryManifest.load(Array("app: a\n".utf8)).federation == nil)
    }

    private static let many = (0...32).map { "n\($0): " }.joined(separator: ", ")

    /// Lines of the app, and the beginning of its only error after the file's name.
    @Test(
        .promise("M.141"),
        arguments: [
            ("nodes: [a]", ":2: nodes: expected a mapping such as {berlin: {operates: true}, tokyo: }; found a list"),
            ("nodes: {}", ":2: nodes: expected 1 to 32 nodes; found 0"),
            ("nodes: {\(many)}", ":2: nodes: expected 1 to 32 nodes; found 33"),
            ("nodes: {a: , a: }", ":2: nodes.a: expected each key once"),
            ("nodes: {Berlin: }", ":2: nodes.Berlin: expected a node's name ([a-z0-9][a-z0-9-]{0,31}, not all)"),
            ("nodes: {-a: }", ":2: nodes.-a: expected a node's name"),
            ("nodes: {all: }", ":2: nodes.all: expected a node's name"),
            ("nodes: {a: {operate: true}}", ":2: nodes.a.operate: unknown key; did you mean operates?"),
            ("nodes: {a: {operates: 1}}", ":2: nodes.a.operates: expected true or false; found 1"),
            (
                "nodes: {berlin: , tokyo: }\nmodules: {A: {}}",
                ":3: modules.A: expected the key node, because the app has nodes: berlin, tokyo, a list of them, or all; found none"
            ),
            (
                "nodes: {berlin: , tokyo: }\nmodules: {A: {node: tokio}}",
                ":3: modules.A.node: expected berlin, tokyo, a list of them, or all; found \"tokio\"; did you mean tokyo?"
            ),
            (
                "nodes: {berlin: , tokyo: }\nmodules: {A: {node: [berlin, berlin]}}",
                ":3: modules.A.node[1]: expected each name once; \"berlin\" is in the list already"
            ),
            (
                "nodes: {berlin: , tokyo: }\nmodules: {A: {node: [berlin, osaka]}}",
                ":3: modules.A.node[1]: expected berlin or tokyo; found \"osaka\""
            ),
            ("nodes: {a: }\nmodules: {A: {node: []}}", ":3: modules.A.node: expected at least one node; found"),
            ("nodes: {a: }\nmodules: {A: {node: {a: }}}", ":3: modules.A.node: expected a"),
            (
                "modules: {A: {node: berlin}}",
                ":2: modules.A.node: expected the key nodes in the manifest beside a row's node; found none"
            ),
            ("federation: {}", ":2: federation: expected the key nodes beside federation; found none"),
            (
                "nodes: {a: }\nfederation: {window: 63KiB}",
                ":3: federation.window: expected a size from 65536 to 33554432 bytes; found \"63KiB\""
            ),
            ("nodes: {a: }\nfederation: {window: 33MiB}", ":3: federation.window: expected a size"),
            (
                "nodes: {a: }\nfederation: {lost: 1s}",
                ":3: federation.lost: expected a time from 2s to 60s; found \"1s\""
            ),
            ("nodes: {a: }\nfederation: {lost: 61s}", ":3: federation.lost: expected a time from 2s to 60s"),
            ("nodes: {a: }\nfederation: {join: 11m}", ":3: federation.join: expected a time from 0s to 10m"),
            ("nodes: {a: }\nfederation: {user: root}", ":3: federation.user: expected the key group"),
            ("nodes: {a: }\nfederation: {servers: []}", ":3: federation.servers: expected 1 to 16 servers; found 0"),
            (
                "nodes: {a: }\nfederation: {server: [tls://a]}",
                ":3: federation.server: unknown key; did you mean servers?"
            ),
            (
                "nodes: {a: }\nfederation: {servers: [tls://a, tls://a]}",
                ":3: federation.servers[1]: expected each name once"
            ),
            (
                "nodes: {a: }\nfederation: {servers: [nats://n1.example]}",
                ":3: federation.servers[0]: expected tls:// for a server that isn't on this machine; found \"nats://n1.example\""
            ),
        ])
    func wrongNodeIsAnError(_ lines: String, _ error: String) {
        let found = TemporaryManifest.errors(Array("app: a\n\(lines)\n".utf8))
        #expect(found.count == 1 && found[0].hasPrefix(error), "\(found)")
    }

    @Test(
        .promise("M.141"),
        arguments: [
            "n1.example", "http://a", "tls://", "tls://a/b", "tls://u:p@a", "tls://a:0", "tls://a:65536", "tls://a:",
            "tls://[]", "tls://a b", "tls://é", "tls://:4222",
        ])
    func whatIsNoServerIsAnError(_ server: String) {
        let found = TemporaryManifest.errors(Array("app: a\nnodes: {a: }\nfederation: {servers: [\"\(server)\"]}".utf8))
        #expect(found.count == 1 && found[0].contains("expected a server such as tls://n1.example:4222"), "\(found)")
    }

    /// The file of a secret may exist only where the module runs.
    @Test(.promise("M.147")) func secretsOfOtherNodesAreNotRead() throws {
        let rows = "{A: {node: a, secrets: {k: {env: HERE}}}, B: {node: b, secrets: {k: {file: nowhere}}}}"
        let files = try ManifestFiles(["strata.yaml": "app: a\nnodes: {a: , b: }\nmodules: \(rows)"])
        func load(_ node: String?) throws -> Manifest {
            try Manifest.load(
                path: "\(files.folder.path)/strata.yaml", environment: ["HERE": "s"], readsSecrets: true, node: node)
        }
        let manifest = try load("a")
        #expect(manifest.table.node == "a" && manifest.here.map(\.row.name) == ["A"])
        #expect(manifest.table.modules.map(\.secrets) == [[.init("k", "s")], []])
        #expect(throws: ManifestErrors.self) { try load("b") }
        // Which node it is, is asked first.
        #expect(try load(nil).table.node == nil && load("c").table.node == nil)
    }

    @Test(.promise("M.151")) func otherAppMayBeANode() throws {
        let text = "app: a\nmodules: {A: {opens: {c: {app: catalog@tokyo}}}}\n"
        let manifest = try TemporaryManifest.load(Array(text.utf8))
        #expect(manifest.table.modules[0].opens.map(\.app.place) == [.name("catalog@tokyo")])
        for app in ["catalog@", "catalog@all", "a@tokyo"] {
            #expect(TemporaryManifest.errors(Array(text.replacing("catalog@tokyo", with: app).utf8)).count == 1)
        }
    }

    /// Returns the errors about rows, from line 5 on, of an app with two nodes.
    private func errors(_ modules: String, _ more: String = "") throws -> [String] {
        try ReviewedApp("nodes: {berlin: , tokyo: }\n\(more)\nmodules:\n\(modules)").findings.filter {
            $0.contains(" error ")
        }
    }

    @Test(.promise("M.142")) func managedRowIsOnANodeOfItsManager() throws {
        #expect(
            try errors("  A: {node: berlin, manages: [B]}\n  B: {node: tokyo}") == [
                "5:31 error modules.A.manages[0]: a module manages rows of its own node alone; A is on berlin, B on "
                    + "tokyo: place both on one node, or leave B out"
            ])
        for (manager, managed) in [("all", "tokyo"), ("berlin", "all"), ("[berlin, tokyo]", "tokyo")] {
            #expect(try errors("  A: {node: \(manager), manages: [B]}\n  B: {node: \(managed)}").isEmpty)
        }
    }

    @Test(.promise("M.142")) func whatWakesIsSentOnItsNode() throws {
        let woken = "  B: {node: tokyo, level: topout, start: on-demand, observes: [x], wakes: [x, tidy]}"
        let sender = "  A: {node: berlin, broadcasts: [x], emits: [tidy]}"
        let wanted = [(0, "6:76", "x"), (1, "6:79", "tidy")].map { index, place, name in
            "\(place) error modules.B.wakes[\(index)]: only what its own node sends starts a module; B is on tokyo, "
                + "and \(name) comes from A on berlin: place both on one node, or leave \(name) out"
        }
        #expect(try errors("\(sender)\n\(woken)") == wanted)
        #expect(try errors("\(sender)\n\(woken)\n  C: {node: tokyo, broadcasts: [x], emits: [tidy]}").isEmpty)
        #expect(try errors("\(sender)\n\(woken)", "guests: {level: basic, most: 1}").isEmpty)
        // A sender that isn't known sends it perhaps.
        #expect(try errors("  A: {node: berlin}\n\(woken)").isEmpty)
    }
}
