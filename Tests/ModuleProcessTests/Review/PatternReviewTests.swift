import StrataCore
import TestSupport
import Testing

@testable import StrataManifest

/// Observed patterns in manifests: how they are read, what `check` says of them, and how `why` judges them.
struct PatternReviewTests {
    private func findings(_ text: String, _ hellos: [String: String] = [:]) throws -> [String] {
        try ReviewedApp(text, hellos: hellos).findings
    }

    @Test(.promise("M.168")) func aNameWithAWildcardSegmentIsAPattern() throws {
        let row = try ReviewedApp(
            "modules: {A: {observes: [a.*, a.b*, {name: a.>, object: o, keep: latest}, {name: x}]}}"
        ).manifest.table.modules[0]
        #expect(row.observes.map(\.name) == ["a.*", "a.b*", "a.>", "x"])
        #expect(row.observes.map(\.isPattern) == [true, false, true, false])
        #expect(row.observes[2].object == "o" && row.observes[2].keep == .latest)
        var table = AppTable(app: "test")
        table.modules = [row]
        #expect(try AppTable(json: table.json()).modules[0].observes == row.observes)
        let long = try #require(throws: ManifestErrors.self) {
            try ReviewedApp("modules: {A: {observes: [a.b.c.d.e.f.g.h.*]}}")
        }
        #expect(
            "\(long)".contains("modules.A.observes[0]") && "\(long)".contains("has 9 segments: give at most 8"),
            "\(long)")
    }

    @Test(.promise("M.168")) func whatAPatternMatchesReachesItsObserver() throws {
        let text = """
            modules:
              A: {provides: [Store], broadcasts: [disk.full, disk.ok]}
              B: {level: middle, observes: [disk.*], reports: {A: [log.line]}}
            """
        let described = ["A": #""interfaces":{"Store":{}}"#]
        let found = try findings(text.replacing("broadcasts:", with: "observes: [log.>], broadcasts:"), described)
        #expect(found.isEmpty, "\(found)")
        // A report to a module that observes nothing like it.
        let unheard = try findings(text, described)
        #expect(unheard.count == 1 && unheard[0].contains("A doesn't observe log.line"), "\(unheard)")
    }

    @Test(.promise("M.168")) func whatNeverComesIsFound() throws {
        let found = try findings(
            """
            modules:
              A: {observes: [b.*, none.>, a*.done], broadcasts: [a.done]}
              B: {level: middle, broadcasts: [b.done], observes: [">"]}
            """)
        try #require(found.count == 3, "\(found)")
        #expect(found[0].contains(" advice modules.A.observes[0]"))
        #expect(
            found[0].contains(
                "what b.* matches is broadcast by B in the later level middle, and broadcasts reach only later levels: A in "
                    + "basic never gets it"))
        #expect(found[1].contains("no row broadcasts what none.> matches, or reports it to A"))
        #expect(found[2].contains("no row broadcasts a*.done") && found[2].contains("; * stands for a whole segment"))
    }

    @Test(.promise("M.168")) func aNameInWakesThatOnlyAPatternMatchesIsAdvice() throws {
        let text = """
            modules:
              A: {broadcasts: [a.b, a.c]}
              B: {level: middle, start: on-demand, observes: [a.*, a.c], wakes: [a.b, a.*, a.c], run: [/bin/true]}
            """
        let found = try findings(text)
        #expect(found.count == 1 && found[0].contains("modules.B.wakes[0]: a.b means an event here"), "\(found)")
    }

    @Test(.promise("M.168")) func whyTellsThePattern() throws {
        let app = try ReviewedApp(
            """
            modules:
              A: {provides: [Store], broadcasts: [saved.now], observes: [log.*]}
              B: {level: middle, observes: [saved.*, ">"]}
              C: {level: topout, observes: [{name: "*.now", object: o}], reports: {A: [log.line]}}
            adapters: {Old: {to: Store, notices: {saved.now: old.now}}}
            """)
        func recipients(_ judgement: Judgement) -> [String] {
            judgement.recipients.map { "\($0.module) \($0.gets) \($0.reason)" }
        }
        // An adapter's name is matched only by patterns that don't match the own one.
        #expect(
            recipients(app.judge.broadcast("saved.now", from: "A")) == [
                "B true it observes saved.*", "B true it observes >", "C true it observes *.now, of the object o only",
            ])
        #expect(recipients(app.judge.report("log.line", to: "A", from: "C")) == ["A true it observes log.*"])
        #expect(
            recipients(app.judge.report("other", to: "A", from: "C"))[0].hasPrefix("A false it doesn't observe other"))
    }

    @Test(.promise("M.168")) func aDescribedPatternIsThatOfTheRow() throws {
        let text = "modules:\n  A: {broadcasts: [a.b]}\n  B: {level: middle, observes: [a.*]}"
        let app = try ReviewedApp(
            text, hellos: ["B": #""observes":[{"pattern":"a.*","keep":"latest"},{"pattern":"a.>"},{"name":"a.*"}]"#])
        let observed = try #require(app.manifest.completed(by: app.descriptions).table.modules.last).observes
        #expect(observed.map(\.name) == ["a.*", "a.>", "a.*"] && observed.map(\.isPattern) == [true, true, false])
        #expect(observed[0].keep == .latest)
        #expect(throws: ModuleDescription.Malformed.self) {
            try ReviewedApp(text, hellos: ["B": #""observes":[{"pattern":"a"}]"#])
        }
    }
}
