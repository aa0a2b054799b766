import Foundation
import StrataTesting
import Testing

extension SharedFolderTests {
    /// Which bus a command speaks to, and what it says if there is none.
    @Suite(.timeLimit(.hang))
    struct CommandBusChoiceTests {
        static let user = geteuid()

        /// Whether nothing of this user runs on a socket in `/tmp`, which is always searched.
        static var isAlone: Bool {
            let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
            return folders.allSatisfy { folder in
                guard folder == "strata-\(user)" || folder.hasPrefix("strata-\(user)-") else { return true }
                let names = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp/\(folder)")) ?? []
                return !names.contains { $0.hasSuffix(".sock") }
            }
        }

        /// Makes a runtime folder, so that the user's own buses don't matter. `/tmp` is still
        /// searched.
        private func runtimeFolder() throws -> (TemporaryFolder, [String: String]) {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(atPath: "\(folder.path)/strata", withIntermediateDirectories: false)
            return (folder, ["XDG_RUNTIME_DIR": folder.path])
        }

        @Test(.promise("M.41", "M.86"), .enabled(if: isAlone, "an app of this user's runs in /tmp"))
        func nothingFoundNamesEachPlace() async throws {
            let (folder, environment) = try runtimeFolder()
            let run = try await CommandRun.of(["ps"], environment: environment)
            #expect(run.status == 3)
            #expect(run.error.contains("  \(folder.path)/strata: no socket\n"))
            #expect(run.error.contains("  /tmp/strata-\(Self.user)"))
            let unset = try await CommandRun.of(["ps"])
            #expect(unset.status == 3)
            #expect(unset.error.contains("XDG_RUNTIME_DIR is not set"))
        }

        @Test(.enabled(if: isAlone, "an app of this user's runs in /tmp"))
        func aDeadSocketIsNoBusAndIsNamed() async throws {
            let (folder, environment) = try runtimeFolder()
            let path = "\(folder.path)/strata/dead.sock"
            try leaveDeadSocket(at: path)
            let searched = try await CommandRun.of(["ps"], environment: environment)
            #expect(searched.status == 3)
            #expect(searched.error.contains("\(path): a dead socket"))
            let named = try await CommandRun.of(["ps", "--socket", path])
            #expect(named.status == 3)
            #expect(named.error.contains("a dead socket"))
        }

        @Test(.promise("M.86"), .enabled(if: isAlone, "an app of this user's runs in /tmp"))
        func theOnlyLiveOneIsTaken() async throws {
            let (folder, environment) = try runtimeFolder()
            try leaveDeadSocket(at: "\(folder.path)/strata/dead.sock")
            let bus = FakeBus(at: "\(folder.path)/strata/app.sock") { _ in [.reply(#"{"levels":[]}"#)] }
            defer { bus.close() }
            let run = try await CommandRun.of(["levels"], environment: environment)
            #expect(run.status == 0)
            #expect(bus.asked.map(\.to) == ["bus/levels"])
        }

        @Test(.promise("M.83")) func severalAreListedAndOpenFindsTheScheme() async throws {
            let (folder, environment) = try runtimeFolder()
            let script: FakeBus.Script = { [.reply("\"\($0.url)\"")] }
            let one = FakeBus(at: "\(folder.path)/strata/one.sock", schemes: ["one", "both"], script: script)
            let two = FakeBus(at: "\(folder.path)/strata/two.sock", schemes: ["two", "both"], script: script)
            defer {
                one.close()
                two.close()
            }
            let unclear = try await CommandRun.of(["ps"], environment: environment)
            #expect(unclear.status == 2)
            #expect(unclear.error.contains("--app or --socket"))
            #expect(unclear.error.contains("  one: \(one.path)\n  two: \(two.path)\n"))

            let opened = try await CommandRun.of(["open", "TWO://host/x"], environment: environment)
            #expect(opened.output == "\"TWO://host/x\"\n")
            #expect(one.asked.isEmpty)
            #expect(two.asked.map(\.kind) == [.open])

            let both = try await CommandRun.of(["open", "both://host/x"], environment: environment)
            #expect(both.status == 2)
            let neither = try await CommandRun.of(["open", "three://host/x"], environment: environment)
            #expect(neither.status == 1)
            #expect(neither.error.hasPrefix("strata: unknown-scheme: "))
        }

        @Test(.promise("M.94")) func anAppIsFoundByItsName() async throws {
            let (folder, environment) = try runtimeFolder()
            let one = FakeBus(at: "\(folder.path)/strata/one.sock") { _ in [.reply(#"{"levels":[]}"#)] }
            let two = FakeBus(at: "\(folder.path)/strata/two.sock") { _ in [.reply(#"{"levels":[]}"#)] }
            defer {
                one.close()
                two.close()
            }
            // The option beats the variable, too.
            let variables = environment.merging(["STRATA_SOCKET": one.path]) { given, _ in given }
            let run = try await CommandRun.of(["levels", "--app", "two"], environment: variables)
            #expect(run.status == 0 && one.asked.isEmpty && two.asked.map(\.to) == ["bus/levels"], "\(run)")
            let opened = try await CommandRun.of(["can-open", "app://x/y", "--app=one"], environment: environment)
            #expect(one.asked.first?.to == "bus/canOpen" && two.asked.count == 1, "\(opened)")
            let unknown = try await CommandRun.of(["levels", "--app", "twoo"], environment: environment)
            #expect(unknown.status == 3)
            #expect(
                unknown.error == """
                    strata: no bus of the app twoo is in the default folders; these are running:
                      one: \(one.path)
                      two: \(two.path)
                    Did you mean two?

                    """)
            let both = try await CommandRun.of(["levels", "--app", "one", "--socket", one.path])
            #expect(both.status == 2 && both.error.contains("Use only one of --socket and --app."), "\(both)")
        }

        /// The name counts, even if the manifest has errors that `strata reload` would report.
        @Test(
            .promise("M.94"),
            arguments: [
                ("app: two\n", true), ("app: two\nmoduls: 3\nmodules: {A: {level: x}}\n", true),
                ("app: three\n", false),
                ("app: 2\n", false), ("app: [two]\n", false), ("app: {two\n", false), ("", false),
            ])
        func ofSeveralTheManifestHereChooses(text: String, isClear: Bool) throws {
            let (folder, environment) = try runtimeFolder()
            let one = FakeBus(at: "\(folder.path)/strata/one.sock", schemes: ["x"]) { _ in [.reply("{}")] }
            let two = FakeBus(at: "\(folder.path)/strata/two.sock", schemes: ["x"]) { _ in [.reply("{}")] }
            defer {
                one.close()
                two.close()
            }
            _ = try folder.file("strata.yaml", text)
            for words in [["levels"], ["open", "x://a/b"]] {
                let run = try ChildProgram(
                    try BuiltExecutable.path("strata"), words, environment: environment, folder: folder.path)
                #expect(try run.wait() == .exit(isClear ? 0 : 2), "\(run.outputText)")
                if !isClear { #expect(run.outputText.contains("  two: \(two.path)")) }
            }
            #expect(one.asked.isEmpty && two.asked.count == (isClear ? 2 : 0))
        }

        /// Of an app with nodes its only node here is meant; of several, one has to be named.
        @Test(.promise("M.151")) func nodeIsFoundByItsApp() async throws {
            let (folder, environment) = try runtimeFolder()
            let script: FakeBus.Script = { _ in [.reply(#"{"levels":[]}"#)] }
            let shop = FakeBus(at: "\(folder.path)/strata/shop.sock", script: script)
            let berlin = FakeBus(at: "\(folder.path)/strata/moments@berlin.sock", script: script)
            defer {
                shop.close()
                berlin.close()
            }
            _ = try folder.file("strata.yaml", "app: moments\nnodes: {berlin: , tokyo: }\n")
            func run(_ words: String...) throws -> String {
                let run = try ChildProgram(
                    try BuiltExecutable.path("strata"), ["levels"] + words, environment: environment,
                    folder: folder.path)
                let exit = try run.wait()
                return exit == .exit(0) ? "ok" : "\(exit) \(run.outputText)"
            }
            for words in [["--app", "moments"], ["--app", "moments@berlin"], []] {
                #expect(try run(words.first ?? "--json", words.last ?? "--json") == "ok")
            }
            #expect(berlin.asked.count == 3 && shop.asked.isEmpty)
            #expect(try run("--app", "moments@berln").contains("Did you mean moments@berlin?"))
            let bad = try run("--app", "moments@Berlin")
            #expect(bad.contains("--app takes 1 to 32 of a-z, 0-9 and -, perhaps with a node as in app@node"))

            let tokyo = FakeBus(at: "\(folder.path)/strata/moments@tokyo.sock", script: script)
            defer { tokyo.close() }
            let lines = "  moments@berlin: \(berlin.path)\n  moments@tokyo: \(tokyo.path)\n"
            let several = try run("--app", "moments")
            #expect(several.contains("there are several nodes of moments here; choose one with --app"), "\(several)")
            #expect(several.contains(lines))
            #expect(try run("--json").contains(lines))
            #expect(try run("--app", "moments@tokyo") == "ok" && tokyo.asked.count == 1)
        }

        @Test(.promise("M.86")) func theOptionBeatsTheVariable() async throws {
            let folder = try TemporaryFolder()
            let bus = FakeBus(at: "\(folder.path)/b.sock") { _ in [.reply(#"{"levels":[]}"#)] }
            defer { bus.close() }
            let run = try await CommandRun.of(
                ["levels", "--socket", bus.path], environment: ["STRATA_SOCKET": "/tmp/strata-test-nowhere.sock"])
            #expect(run.status == 0)
        }

        @Test func pathsThatCanNotBeASocketAreBadUsage() async throws {
            let folder = try TemporaryFolder()
            let file = try folder.file("plain")
            #expect(try await CommandRun.of(["ps", "--socket", file]).status == 2)
            let long = try await CommandRun.of(["ps", "--socket", "/tmp/" + String(repeating: "x", count: 103)])
            #expect(long.status == 2)
            #expect(long.error.contains("108 bytes"))
            let absent = try await CommandRun.of(["ps", "--socket", "/tmp/" + String(repeating: "x", count: 102)])
            #expect(absent.status == 3)
        }

        @Test func garbageInsteadOfABusIsNoBus() async throws {
            let folder = try TemporaryFolder()
            let path = "\(folder.path)/x.sock"
            let listener = try #require(socketListening(at: path))
            // A shutdown, because a close alone doesn't wake a thread from accept.
            defer {
                shutdown(listener, Int32(SHUT_RDWR))
                close(listener)
            }
            Thread.detachNewThread {
                let text = "HTTP/1.1 400 Bad Request\r\n\r\n"
                let peer = accept(listener, nil, nil)
                send(peer, text, text.utf8.count, Int32(MSG_NOSIGNAL))
                close(peer)
            }
            let run = try await CommandRun.of(["ps", "--socket", path])
            #expect(run.status == 3)
        }

        private func leaveDeadSocket(at path: String) throws {
            close(try #require(socketListening(at: path)))
        }

        private func socketListening(at path: String) -> Int32? {
            // If another test's child inherited the socket, it would stay live as long as the
            // child.
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            return status == 0 && listen(descriptor, 1) == 0 ? descriptor : nil
        }
    }
}
