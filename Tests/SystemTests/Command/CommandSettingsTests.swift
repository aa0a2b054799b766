import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata settings`, and what `strata check` says of settings, for a program that declares some.
@Suite(.timeLimit(.hang))
struct CommandSettingsTests {
    private let folder: TemporaryFolder

    private static let manifest = """
        app: test
        settings: {catalog.page: 50, other: 1, key: hunter2}
        modules:
          Catalog: {run: [catalog], settings: {catalog.pgae: 1}, secrets: {word: {env: WORD}}}
          Silent: {run: [silent], settings: {own: 2}}
          Hand: {start: manual}
        """

    private static let hello = #"""
        {"protocol":1,"module":"Catalog","settings":["catalog.page","catalog.size","need",{"name":"word","secret":true},\#
        {"name":"key","secret":true}],"contracts":{"module":{"contract":1,"module":"Catalog","settings":{"type":"object",\#
        "properties":{"catalog.page":{"type":"integer","minimum":1,"description":"Rows of a page."},\#
        "catalog.size":{"anyOf":[{"type":"string"},{"type":"null"}],"default":"big"},"need":{"type":"boolean"},\#
        "word":{"type":"string","writeOnly":true},"key":{"type":"string","writeOnly":true}},\#
        "required":["catalog.page","need"]}}}}
        """#

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.file("strata.yaml", Self.manifest)
        try program("catalog", "[ \"$1\" = --describe ] && cat <<'END'\n\(Self.hello)\nEND")
        try program("silent", "echo no such option >&2; exit 64")
    }

    private func program(_ name: String, _ script: String) throws {
        let path = try folder.file(name, "#!/bin/sh\n\(script)\n")
        #expect(chmod(path, 0o755) == 0)
    }

    private func strata(_ words: [String], output: CommandRun.Output = .pipe) async throws -> CommandRun {
        try await CommandRun.of(
            words, environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1", "STRATA_SET_catalog__page": "70"],
            output: output)
    }

    private var path: String { folder.path + "/strata.yaml" }

    @Test(.promise("M.128")) func eachSettingHasItsValueAndWhereItIsFrom() async throws {
        let run = try await strata(["settings", "--manifest", path])
        #expect(run.status == 0, "\(run)")
        let file = #""file":"\#(path)","line""#
        #expect(
            run.lines == [
                #"{"module":"Catalog","key":"catalog.page","value":70,"layer":"environment","variable":"#
                    + #""STRATA_SET_catalog__page","declared":true,"required":true,"type":"integer (1 or more)","#
                    + #""description":"Rows of a page."}"#,
                #"{"module":"Catalog","key":"catalog.size","value":"big","layer":"default","declared":true,"#
                    + #""type":"string"}"#,
                #"{"module":"Catalog","key":"need","declared":true,"required":true,"type":"boolean"}"#,
                #"{"module":"Catalog","key":"word","value":"‹secret›","layer":"secrets",\#(file):4,"declared":true,"#
                    + #""secret":true,"type":"string"}"#,
                #"{"module":"Catalog","key":"key","value":"‹secret›","layer":"app",\#(file):2,"declared":true,"#
                    + #""secret":true,"type":"string"}"#,
                #"{"module":"Catalog","key":"catalog.pgae","value":1,"layer":"row",\#(file):4,"declared":false}"#,
                #"{"module":"Silent","key":"catalog.page","value":70,"layer":"environment","variable":"#
                    + #""STRATA_SET_catalog__page"}"#,
                #"{"module":"Silent","key":"other","value":1,"layer":"app",\#(file):2}"#,
                #"{"module":"Silent","key":"key","value":"‹secret›","layer":"app",\#(file):2}"#,
                #"{"module":"Silent","key":"own","value":2,"layer":"row",\#(file):5}"#,
                #"{"module":"Hand","key":"catalog.page","value":70,"layer":"environment","variable":"#
                    + #""STRATA_SET_catalog__page"}"#,
                #"{"module":"Hand","key":"other","value":1,"layer":"app",\#(file):2}"#,
                #"{"module":"Hand","key":"key","value":"‹secret›","layer":"app",\#(file):2}"#,
            ], "\(run.output)")
        // It says what it couldn't ask.
        #expect(run.error.contains("strata: Silent: it did not describe itself (--describe): it ended with"), "\(run)")
        #expect(run.error.contains("strata: Hand: its row has no program (run), so it can't be asked"), "\(run)")
        #expect(!run.output.contains("hunter2") && !run.error.contains("hunter2"))
    }

    @Test(.promise("M.128")) func oneModulesSettingsAreATableForAPerson() async throws {
        var run = try await strata(["settings", "Catalog", "--manifest", path], output: .terminal(columns: 200))
        run.output.replace("\r\n", with: "\n")
        let lines = run.lines
        #expect(run.status == 0 && lines.count == 7, "\(run)")
        #expect(lines[0].split(separator: " ") == ["MODULE", "KEY", "VALUE", "FROM", "TYPE", "MEANING"])
        #expect(
            lines[1].split(separator: "  ", omittingEmptySubsequences: true).map { $0.drop { $0 == " " } } == [
                "Catalog", "catalog.page", "70", "STRATA_SET_catalog__page", "integer (1 or more)", "Rows of a page.",
            ], "\(run)")
        #expect(lines[2].contains("\"big\"") && lines[2].contains("default"))
        #expect(lines[3].contains("need") && lines[3].contains("missing"))
        #expect(lines[4].contains("‹secret›") && lines[4].contains("secrets \(path):4"))
        #expect(lines[6].contains("catalog.pgae"))
        #expect(lines[6].contains("row \(path):4 ") && lines[6].hasSuffix(" undeclared"), "\(run)")
        #expect(!run.output.contains("hunter2") && run.error == "", "\(run)")
    }

    /// A key that one module declares as a secret, or one row has a secret for, is hidden everywhere.
    @Test(.promise("M.128")) func aSecretsKeyIsHiddenInAllRows() async throws {
        let run = try await strata(["settings", "Silent", "--manifest", path])
        #expect(run.lines.contains { $0.contains(#""key":"key","value":"‹secret›""#) }, "\(run)")
        #expect(!run.output.contains("hunter2"), "\(run)")
        // What it says is about this module.
        #expect(run.error.contains("strata: Silent: it did not") && !run.error.contains("Hand"), "\(run)")
        _ = try folder.file(
            "strata.yaml",
            """
            app: test
            modules:
              Silent: {run: [silent], secrets: {word: {env: WORD}}}
              Hand: {start: manual, settings: {word: hunter2}}
            """)
        let other = try await strata(["settings", "Hand", "--manifest", path])
        #expect(other.lines.contains { $0.contains(#""key":"word","value":"‹secret›""#) }, "\(other)")
    }

    /// If all modules have said what they declare, what is left is nobody's.
    @Test(.promise("M.128")) func valuesThatNoModuleGetsAreMarked() async throws {
        _ = try folder.file(
            "strata.yaml", "app: a\nsettings: {need: true, other: 1}\nmodules: {Catalog: {run: [catalog]}}")
        let run = try await strata(["settings", "--manifest", path])
        #expect(
            run.lines.last
                == #"{"module":null,"key":"other","value":1,"layer":"app","file":"\#(path)","line":2,"declared":false}"#
        )
        #expect(run.lines.count == 6 && run.error == "", "\(run)")
        // The last layer counts.
        #expect(mkdir(folder.path + "/settings.d", 0o700) == 0)
        let layer = try folder.file("settings.d/a.yaml", "other: 2")
        #expect(
            try await strata(["settings", "--manifest", path]).lines.last
                == #"{"module":null,"key":"other","value":2,"layer":"settings.d","file":"\#(layer)","line":1,"#
                + #""declared":false}"#)
        let unknown = try await strata(["settings", "Catlog", "--manifest", path])
        #expect(unknown.status == 1 && unknown.error.contains("has no module Catlog"), "\(unknown)")
        #expect(unknown.error.contains("Did you mean Catalog?"), "\(unknown)")
        _ = try folder.file("strata.yaml", "app: a\nsettings: [1\n")
        let bad = try await strata(["settings", "--manifest", path])
        #expect(bad.status == 2 && bad.error.contains("\(path):"), "\(bad)")
    }

    // MARK: A running app

    private static let contracts = #"""
        {"module":{"contract":1,"module":"Catalog","settings":{"type":"object","properties":{"catalog.page":\#
        {"type":"integer","default":20},"word":{"type":"string","writeOnly":true}}}},"provides":[],"requires":[],\#
        "types":{"/module/settings":"Shop.Settings","/module/settings/properties/catalog.page":"Shop.Settings.page"}}
        """#

    /// Runs the command beside a bus whose modules are ready, and say this of their types.
    private func settings(
        _ words: String..., features: [String] = ["contracts"],
        contracts: @escaping @Sendable (String) -> [FakeBus.Said]
    ) async throws -> (run: CommandRun, asked: [String]) {
        _ = try folder.file("strata.yaml", Self.manifest.replacing("app: test", with: "app: fake"))
        let bus = FakeBus(at: folder.path + "/bus.sock", features: features) { asked in
            switch asked.to {
            case "bus/modules":
                [.reply(#"{"modules":[{"name":"Catalog","state":"ready"},{"name":"Silent","state":"starting"}]}"#)]
            case "bus/contracts": contracts(asked.body)
            default: [.error("unknown-action", "")]
            }
        }
        defer { bus.close() }
        let run = try await strata(["settings", "--manifest", path, "--socket", bus.path] + words)
        return (run, bus.asked.filter { $0.to == "bus/contracts" }.map(\.body))
    }

    @Test(.promise("M.129")) func aRunningModuleIsAskedInsteadOfItsProgram() async throws {
        try program("catalog", "echo >\(folder.path)/started")
        let (run, asked) = try await settings { _ in [.reply(Self.contracts)] }
        #expect(run.status == 0 && asked == [#"{"module":"Catalog"}"#], "\(run) \(asked)")
        #expect(run.lines[0].hasSuffix(#""declared":true,"type":"integer"}"#), "\(run.output)")
        #expect(run.lines.contains { $0.contains(#""key":"catalog.pgae""#) && $0.hasSuffix(#""declared":false}"#) })
        #expect(access(folder.path + "/started", F_OK) != 0)
        // One that doesn't run is asked by its program.
        #expect(run.error.contains("strata: Silent: it did not describe itself"), "\(run)")
        #expect(!run.error.contains("Catalog"), "\(run)")
    }

    /// A bus is found as by the other commands: here the only one of this app in the default folders.
    @Test(.promise("M.129")) func theAppOfThisFolderIsAskedIfItRuns() async throws {
        try program("catalog", "echo >\(folder.path)/started")
        _ = try folder.file("strata.yaml", Self.manifest.replacing("app: test", with: "app: fake"))
        #expect(mkdir(folder.path + "/strata", 0o700) == 0)
        let bus = FakeBus(at: folder.path + "/strata/fake.sock", features: ["contracts"]) { asked in
            asked.to == "bus/modules"
                ? [.reply(#"{"modules":[{"name":"Catalog","state":"ready"}]}"#)] : [.reply(Self.contracts)]
        }
        func lines(_ words: String...) throws -> [Substring] {
            let run = try ChildProgram(
                BuiltExecutable.path("strata"), ["settings", "Catalog"] + words,
                environment: ["XDG_RUNTIME_DIR": folder.path], folder: folder.path)
            #expect(try run.wait() == .exit(0), "\(run.outputText)")
            return run.outputText.split(separator: "\n")
        }
        #expect(try lines()[0].hasSuffix(#""declared":true,"type":"integer"}"#))
        #expect(access(folder.path + "/started", F_OK) != 0)
        // A manifest that is named is another app's, for all that is known.
        #expect(try lines("--manifest", "strata.yaml").first?.contains("did not describe itself") == true)
        #expect(access(folder.path + "/started", F_OK) == 0)
        bus.close()
        // Without a bus no one is missed.
        #expect(try lines().first?.contains("did not describe itself") == true)
    }

    /// Only hello, which a program prints, says that a module declares no settings.
    @Test(.promise("M.129")) func aProgramIsAskedIfItsModuleSaysNothing() async throws {
        let answers: [[FakeBus.Said]] = [
            [.error("unknown-action", "no such action")], [.error("deadline-exceeded", "too late")], [.reply("[]")],
            [.reply(#"{"module":{"contract":1,"module":"Catalog"},"provides":[],"requires":[]}"#)],
        ]
        for answer in answers {
            let (run, asked) = try await settings { _ in answer }
            #expect(asked.count == 1)
            #expect(run.lines.first?.hasSuffix(#""description":"Rows of a page."}"#) == true, "\(answer) \(run)")
        }
        // A bus of an earlier version.
        let (run, asked) = try await settings(features: []) { _ in [.reply(Self.contracts)] }
        #expect(asked.isEmpty && run.lines.first?.hasSuffix(#""description":"Rows of a page."}"#) == true, "\(run)")
    }

    @Test(.promise("M.129")) func aBusThatIsNamedMustBeTheManifests() async throws {
        let other = FakeBus(at: folder.path + "/bus.sock") { _ in [.error("unknown-action", "")] }
        defer { other.close() }
        let run = try await strata(["settings", "--manifest", path, "--socket", other.path])
        #expect(run.status == 2 && run.error.contains("bus.sock is the bus of fake, and \(path) is the"), "\(run)")
        #expect(run.error.contains("manifest of test"), "\(run)")
        let gone = try await strata(["settings", "--manifest", path, "--socket", folder.path + "/gone.sock"])
        #expect(gone.status == 3, "\(gone)")
    }

    @Test func docCommentsComeFromSymbolGraphs() async throws {
        _ = try folder.file(
            "Shop.symbols.json",
            #"""
            {"module":{"name":"Shop"},"symbols":[{"pathComponents":["Settings","page"],"location":{},\#
            "docComment":{"lines":[{"text":"How many rows."}]}}],"relationships":[]}
            """#)
        let (run, _) = try await settings("Catalog", "--symbols", folder.path) { _ in [.reply(Self.contracts)] }
        #expect(run.lines.first?.hasSuffix(#""type":"integer","description":"How many rows."}"#) == true, "\(run)")
    }

    @Test(.promise("M.126", "M.127")) func checkSaysWhatIsWrongWithSettings() async throws {
        let run = try await strata(["check", path])
        #expect(run.status == 2)
        for text in [
            "\(path):2: settings.key: Catalog (\(path):4) declares key as a secret",
            "\(path):4: modules.Catalog: Catalog requires the setting need, which has no value",
            "\(path):4: modules.Catalog.settings.catalog.pgae: Catalog (\(path):4) declares no setting catalog.pgae; did "
                + "you mean catalog.page?",
            // Whoever runs the app may have the variable.
            "\(path):4: modules.Catalog.secrets.word: advice: expected the variable WORD in the launcher's environment",
        ] { #expect(run.error.contains(text), "\(run.error)") }
        #expect(!run.output.contains("hunter2") && !run.error.contains("hunter2"))
    }
}
