import Glibc
import StrataTesting
import Testing

/// `strata node`: keys, and the NATS server's configuration.
@Suite(.timeLimit(.hang))
struct CommandNodeSetupTests {
    private static let keys = (
        berlin: "U" + String(repeating: "A", count: 55), tokyo: "U" + String(repeating: "B", count: 55)
    )

    private func config(_ words: String...) async throws -> CommandRun {
        let folder = try TemporaryFolder()
        let manifest = try folder.file(
            "strata.yaml",
            """
            app: moments
            nodes: {berlin: , tokyo: }
            modules:
              Near: {node: berlin, provides: [Near]}
            """)
        return try await CommandRun.of(["node", "config", manifest] + words)
    }

    @Test(.promise("M.155")) func theConfigurationKeepsEachNodeToItsName() async throws {
        let run = try await config("tokyo=\(Self.keys.tokyo)", "berlin=\(Self.keys.berlin)")
        #expect(run.status == 0, "\(run.error)")
        #expect(
            run.output == """
                accounts {
                  "moments" {
                    users: [
                      {nkey: \(Self.keys.berlin), permissions: {publish: ["strata.moments.*.berlin.>"], subscribe: ["strata.moments.berlin.>"]}}
                      {nkey: \(Self.keys.tokyo), permissions: {publish: ["strata.moments.*.tokyo.>"], subscribe: ["strata.moments.tokyo.>"]}}
                    ]
                  }
                }

                """)
    }

    @Test(.promise("M.155")) func aWrongListOfKeysIsRefused() async throws {
        let (berlin, tokyo) = ("berlin=\(Self.keys.berlin)", "tokyo=\(Self.keys.tokyo)")
        let cases: [([String], String)] = [
            (
                [berlin],
                "the public key of tokyo is missing: make it there with strata node key PATH, and add tokyo=KEY"
            ),
            ([berlin, tokyo, "osaka=\(Self.keys.tokyo)"], "one of the nodes berlin, tokyo; found osaka="),
            ([berlin, "tokyo"], "expected NODE=KEY"),
            ([berlin, "tokyo=SUAGOODKEY"], "expected the public key of tokyo, 56 characters that begin with U"),
            ([berlin, berlin, tokyo], "berlin has two keys"),
            ([berlin, "tokyo=\(Self.keys.berlin)"], "two nodes have one key"),
        ]
        for (words, message) in cases {
            let folder = try TemporaryFolder()
            let manifest = try folder.file("a.yaml", "app: moments\nnodes: {berlin: , tokyo: }\nmodules: {}\n")
            let run = try await CommandRun.of(["node", "config", manifest] + words)
            #expect(run.status == 2 && run.output.isEmpty && run.error.contains(message), "\(run.error)")
        }
    }

    @Test(.promise("M.155")) func anAppOfOneMachineNeedsNone() async throws {
        let folder = try TemporaryFolder()
        let manifest = try folder.file("a.yaml", "app: moments\nmodules: {}\n")
        let run = try await CommandRun.of(["node", "config", manifest])
        #expect(run.status == 2 && run.error.contains("the app moments has no nodes"), "\(run.error)")
    }

    #if STRATA_LINK
        @Test(.promise("M.155")) func aKeyIsMadeOnceForItsUserAlone() async throws {
            let folder = try TemporaryFolder()
            let path = "\(folder.path)/berlin.nk"
            let run = try await CommandRun.of(["node", "key", path])
            #expect(run.status == 0 && run.output.count == 57 && run.output.first == "U", "\(run.error)")
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let again = try await CommandRun.of(["node", "key", path])
            #expect(again.status == 2 && again.output.isEmpty)
            #expect(again.error.hasPrefix("strata: \(path) exists: move it away first"), "\(again.error)")
            unlink(path)
        }
    #endif
}
