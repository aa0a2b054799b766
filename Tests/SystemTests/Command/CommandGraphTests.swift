import Foundation
import StrataCore
import TestSupport
import Testing

/// `strata graph`.
@Suite(.timeLimit(.hang))
struct CommandGraphTests {
    static let manifest = """
        app: fake
        modules:
          Store: {provides: [Store], broadcasts: [store.changed]}
          Notes: {level: topout, requires: [Store], observes: [store.changed], reports: {Store: [note.added]}}
        """

    @Test(.promise("M.66")) func theManifestIsDrawnInThreeLanguages() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("app.yaml", Self.manifest)
        let svg = try await CommandRun.of(["graph", path])
        #expect(svg.status == 0 && svg.output.hasPrefix("<svg "))
        for sentence in [
            "Notes calls Store", "Store broadcasts store.changed to Notes", "Notes reports note.added to Store",
        ] {
            #expect(svg.output.contains("<title>\(sentence)</title>"))
        }
        let dot = try await CommandRun.of(["graph", path, "--dot"])
        #expect(dot.output.hasPrefix("digraph \"fake\" {\n"))
        let mermaid = try await CommandRun.of(["graph", path, "--mermaid"])
        #expect(mermaid.output.hasPrefix("flowchart TB\n"))
        let file = "\(folder.path)/app.svg"
        let written = try await CommandRun.of(["graph", path, "--svg", file])
        #expect(written.status == 0 && written.output.isEmpty)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == svg.output)
        let dark = try await CommandRun.of(["graph", path, "--theme", "dark"])
        #expect(!dark.output.contains("prefers-color-scheme") && dark.output != svg.output)
    }

    @Test func thePagesShowTheExampleAsItIs() async throws {
        let example = Repository.path("Examples/Catalog/strata.yaml")
        let run = try await CommandRun.of(["graph", example])
        let shown = try Repository.text("docs/pictures/catalog.svg")
        let renew = "strata graph Examples/Catalog/strata.yaml --svg docs/pictures/catalog.svg"
        #expect(run.output == shown, "docs/pictures/catalog.svg is of another manifest: \(renew)")
    }

    @Test func aPictureIsNotPouredOverATerminal() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("app.yaml", Self.manifest)
        let run = try await CommandRun.of(["graph", path], output: .terminal(columns: 80))
        #expect(run.status == 2 && run.output.isEmpty && run.error.contains("--svg FILE"))
        let forced = try await CommandRun.of(["graph", path, "--svg", "-"], output: .terminal(columns: 80))
        #expect(forced.output.hasPrefix("<svg "))
    }

    @Test func badUsageAndBadManifestsAreExitCode2() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("bad.yaml", "app: Fake!\n")
        let bad = try await CommandRun.of(["graph", path])
        #expect(bad.status == 2 && bad.error.hasPrefix("\(path):1: app: "))
        for arguments in [["--dot", "--mermaid"], ["--dot", "--svg", "x"], ["--seen", "0"], ["--theme", "pink"]] {
            let good = try folder.file("good.yaml", Self.manifest)
            let run = try await CommandRun.of(["graph", good] + arguments)
            #expect(run.status == 2 && run.output.isEmpty, "\(arguments)")
        }
    }

    /// The programs are shell scripts: one describes itself, and one doesn't.
    @Test(.promise("M.66")) func programsThatDescribeThemselvesAreDrawnAsIfItStoodInTheirRows() async throws {
        let folder = try TemporaryFolder()
        let hello = """
            {"protocol": 1, "module": "Notes", "interfaces": {"Notes": {}}, "requires": ["Store"], \
            "urls": [{"host": "note", "path": "/:id", "to": "Notes/show"}], "observes": ["store.changed"]}
            """
        for (name, text) in [("notes", "echo '\(hello)'"), ("store", "exit 3")] {
            try WrittenProgram.write("#!/bin/sh\n\(text)\n", to: "\(folder.path)/\(name)")
        }
        let path = try folder.file(
            "app.yaml",
            """
            app: fake
            modules:
              Store: {run: [store], provides: [Store], broadcasts: [store.changed]}
              Notes: {run: [notes], level: topout}
            """)
        let plain = try await CommandRun.of(["graph", path]).output
        #expect(!plain.contains("Notes calls Store") && plain.contains("store.changed (unheard)"))
        let run = try await CommandRun.of(["graph", path, "--describe"])
        #expect(run.status == 0 && run.error == "", "\(run.error)")
        for text in [
            "<title>Notes calls Store</title>", "<title>Store broadcasts store.changed to Notes</title>",
            ">note/:id</text>", ">URLs that can be opened</text>",
            ">Store: it did not describe itself (--describe): it ended ",
        ] { #expect(run.output.contains(text), "\(text)") }
    }

    private static let levels = #"{"levels":[{"modules":["Store"]},{"modules":[]},{"modules":["Notes"]}]}"#
    private static let interfaces = #"{"interfaces":[{"name":"Store","module":"Store"}]}"#

    /// The frames that a fake bus has seen.
    private static func say(_ asked: FakeBus.Asked) -> [FakeBus.Said] {
        switch asked.to {
        case "bus/levels": return [.reply(levels)]
        case "bus/interfaces": return [.reply(interfaces)]
        case "bus/monitor":
            let call = #"{"at":1,"kind":"call","from":"Notes","to":"Store/get","bytes":0}"#
            let notice = #"{"at":1,"kind":"notice","from":"Store","to":"Notes","name":"store.gone","bytes":0}"#
            return [.partial(call), .partial(call), .partial(notice)]
        // The cancel, when its time is over.
        case _ where asked.kind == .cancel: return [.error("cancelled", "")]
        default: return [.error("unknown-action", "")]
        }
    }

    @Test(.promise("M.66")) func whatARunningBusPassesIsAdded() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("app.yaml", Self.manifest)
        let (run, asked) = try await strata("graph", path, "--seen", "300ms") { Self.say($0) }
        #expect(run.status == 0, "\(run.error)")
        #expect(asked.map(\.to) == ["bus/levels", "bus/interfaces", "bus/monitor", ""])
        for sentence in [
            "Notes calls Store; seen 2 times", "Store broadcasts store.changed to Notes; not seen",
            "Store broadcasts store.gone to Notes, undeclared; seen 1 time",
        ] { #expect(run.output.contains("<title>\(sentence)</title>"), "\(sentence)") }
        #expect(run.output.contains("watched for "))
    }

    @Test func anotherAppsBusIsNotWatched() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("app.yaml", Self.manifest.replacing("fake", with: "other"))
        let (run, asked) = try await strata("graph", path, "--seen", "1s") { Self.say($0) }
        #expect(run.status == 2 && asked.isEmpty)
        #expect(run.error.contains("belongs to the app other, and the bus at") && run.error.contains("to fake"))
    }
}
