import StrataCore
import StrataManifest
import Testing

/// What `strata why` and `strata check` say of an app with nodes.
@Suite(.timeLimit(.hang))
struct JudgeNodeTests {
    private static let app = """
        schemes: [m]
        nodes: {berlin: , tokyo: , osaka: }
        authorizer: Guard
        modules:
          Storage:
            level: basic
            node: berlin
            provides: [Storage, Guard]
            urls: {s/dump: Storage/dump}
            broadcasts: [changed]
          Index:
            level: middle
            node: tokyo
            provides: [Index]
            requires: [Storage, Near]
            observes: [changed, seen]
            reports: {Storage: [full]}
            emits: [tidy]
          Thumbs:
            level: topout
            node: [berlin, osaka]
            provides: [Thumbs]
            requires: [Storage, Log, Thumbs]
            observes: [seen]
          Log: {level: basic, node: all, provides: [Log], observes: [changed]}
          Near: {level: basic, node: tokyo, provides: [Near]}
        adapters:
          Store: {to: Storage, notices: {changed: seen}}
        """

    private func node(_ judgement: Judgement) -> String? {
        judgement.checks.first { $0.name == "node" }.map { "\($0.result) \($0.reason)" }
    }

    @Test(.promise("M.145")) func whySaysWhetherARequestLeavesItsNode() throws {
        let judge = try ReviewedApp(Self.app).judge
        let leaves = "passed Index on tokyo → Storage on berlin: goes over the link"
        #expect(node(judge.call("Storage/load", from: "Index")) == leaves)
        #expect(node(judge.call("Store/load", from: "Index")) == leaves)
        #expect(node(judge.open("m://s/dump", from: "Index")) == leaves)
        #expect(node(judge.report("full", to: "Storage", from: "Index")) == leaves)
        #expect(
            node(judge.call("Near/x", from: "Index"))
                == "free Near is on tokyo, so the request stays on its node")
        #expect(
            node(judge.call("Storage/x", from: "Thumbs"))
                == "passed Thumbs on osaka → Storage on berlin: goes over the link; on berlin it stays on its node")
        #expect(
            node(judge.call("Index/x", from: "Log"))
                == "passed Log on berlin, osaka → Index on tokyo: goes over the link; on tokyo it stays on its node")
        for to in ["Log/x", "Thumbs/x"] {
            #expect(node(judge.call(to, from: "Thumbs"))?.hasPrefix("free ") == true)
        }
        #expect(judge.call("Storage/load", from: "Index").isAllowed)
    }

    @Test(.promise("M.145")) func checkStandsAfterTheDeclarationAndBeforeTheOwner() throws {
        let checks = try ReviewedApp(Self.app).judge.call("Storage/load", from: "Index").checks.map(\.name)
        let place = try #require(checks.firstIndex(of: "node"))
        #expect(checks[place - 1] == "declaration" && checks[place + 1] == "owner")
    }

    @Test(.promise("M.145")) func oneMachineHasNoSuchCheck() throws {
        let judge = try ReviewedApp("modules: {A: {provides: [A]}, B: }").judge
        #expect(node(judge.call("A/x", from: "B")) == nil && node(judge.report("n", to: "A", from: "B")) == nil)
    }

    @Test func broadcastSaysWhichObserversAreElsewhereAndAnEventStays() throws {
        let judge = try ReviewedApp(Self.app, hellos: ["Log": #""events":["tidy"]"#, "Storage": #""events":["tidy"]"#])
            .judge
        let reasons = judge.broadcast("changed", from: "Storage").recipients.map { "\($0.module) \($0.reason)" }
        #expect(
            reasons.contains(
                "Index it observes changed; Storage on berlin → Index on tokyo: goes over the link"))
        let own = judge.emit("tidy", from: "Index").recipients.map { "\($0.module) \($0.gets) \($0.reason)" }
        #expect(
            own == [
                "Storage false it is on berlin, and an event stays on its node",
                "Log true it declares tidy, and is called once it is ready",
            ])
    }

    @Test(.promise("M.144")) func checkListsWhatLeavesItsNode() throws {
        let notes = try ReviewedApp(Self.app).findings.filter { $0.contains(" note ") }
        #expect(
            notes == [
                "4:13 note authorizer: leaves its node: actions with auth: true on tokyo, osaka ask Storage (basic) on "
                    + "berlin",
                "10:20 note modules.Storage.urls.s/dump: leaves its node: s/dump, if it is opened on tokyo, osaka, leads "
                    + "to Storage (basic) on berlin",
                "11:18 note modules.Storage.broadcasts[0]: leaves its node: Storage (basic) on berlin broadcasts changed "
                    + "to Index (middle) on tokyo",
                "11:18 note modules.Storage.broadcasts[0]: leaves its node: Storage (basic) on berlin broadcasts changed "
                    + "(as seen) to Index (middle) on tokyo",
                "11:18 note modules.Storage.broadcasts[0]: leaves its node: Storage (basic) on berlin broadcasts changed "
                    + "(as seen) to Thumbs (topout) on berlin, osaka",
                "16:16 note modules.Index.requires[0]: leaves its node: Index (middle) on tokyo calls Storage (basic) on "
                    + "berlin",
                "18:15 note modules.Index.reports.Storage: leaves its node: Index (middle) on tokyo reports full to "
                    + "Storage (basic) on berlin",
                "24:16 note modules.Thumbs.requires[0]: leaves its node: Thumbs (topout) on osaka calls Storage (basic) "
                    + "on berlin",
            ])
    }

    /// A note is no reason to refuse the app, and one node has none.
    @Test(.promise("M.144")) func noteIsNeitherErrorNorAdvice() throws {
        let app = try ReviewedApp(
            "nodes: {a: , b: }\nmodules: {A: {node: a, provides: [A]}, B: {level: topout, node: b, requires: [A]}}")
        #expect(AppReview(app.manifest).findings.map(\.severity) == [.note])
        #expect(ManifestReview(app.manifest).errors.isEmpty)
        #expect(
            try ReviewedApp("nodes: {a: }\nmodules: {A: {node: a, provides: [A]}, B: {node: a, requires: [A]}}")
                .findings.isEmpty)
    }
}
