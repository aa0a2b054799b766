import StrataManifest
import Testing

/// The findings of `strata check`, with line and column. Line 1 is the app's name.
@Suite(.timeLimit(.hang))
struct AppReviewTests {
    private func findings(_ text: String, _ hellos: [String: String] = [:]) throws -> [String] {
        try ReviewedApp(text, hellos: hellos).findings
    }

    @Test(.promise("M.45")) func appThatIsWholeHasNoFindings() throws {
        let text = """
            schemes: [test]
            calls: declared
            authorizer: Session
            modules:
              Storage: {provides: [Storage], broadcasts: [storage.changed]}
              Session: {level: middle, provides: [Session], broadcasts: [session.ended], emits: [app.tidy]}
              Log: {provides: [Log], observes: [log.line]}
              Notes:
                level: topout
                provides: [Notes]
                requires: [Storage, NoteLogin]
                observes: [storage.changed, note.left]
                reports: {Log: [log.line]}
                urls: {"note/:item": Notes/add}
            adapters:
              NoteLogin: {to: Session, actions: {writer: {to: who}}, notices: {session.ended: note.left}}
            """
        #expect(try findings(text) == [])
        let hellos = [
            "Storage": #""interfaces":{"Storage":{"actions":{"load":{}}}},"broadcasts":["storage.changed"]"#,
            "Session": #""level":"middle","interfaces":{"Session":{"actions":{"who":{},"authorize":{}}}}"#,
            "Log": #""interfaces":{"Log":{}},"observes":["log.line"],"events":["app.tidy"]"#,
            "Notes": """
            "interfaces":{"Notes":{"actions":{"add":{"auth":true}}}},"requires":["NoteLogin","Storage"],
            "observes":[{"name":"storage.changed","keep":"latest"},"note.left"],"reports":{"Log":["log.line"]},
            "events":["app.reload"]
            """,
        ]
        #expect(try findings(text, hellos) == [])
    }

    // MARK: Between the rows

    @Test(.promise("M.46")) func unmetRequirementIsAnErrorAndAdviceWhereAGuestMayMeetIt() throws {
        let rows = "modules:\n  A: {provides: [Storage]}\n  B:\n    requires:\n      - Storage\n      - Storrage"
        #expect(
            try findings(rows) == [
                "7:9 error modules.B.requires[1]: no row provides Storrage, and there are no guests; did you mean Storage?"
            ])
        #expect(
            try findings("guests: {level: topout, most: 1}\n\(rows)") == [
                "8:9 advice modules.B.requires[1]: no row provides Storrage, so only a guest can; did you mean Storage?"
            ])
    }

    @Test(.promise("M.46"), arguments: ["any", "layered", "declared"])
    func callToALaterLevelIsAnErrorWhereThePolicyRefusesIt(_ calls: String) throws {
        let found = try findings(
            "calls: \(calls)\nmodules:\n  A: {requires: [Need]}\n  B: {level: middle, provides: [Late]}\n"
                + "adapters: {Need: {to: Late}}")
        let start =
            calls == "any"
            ? "4:18 advice modules.A.requires[0]: Need belongs to B in the later level middle, and A in basic depends on it"
            : "4:18 error modules.A.requires[0]: Need belongs to B in the later level middle, and calls: \(calls) keeps A"
        #expect(found.count == 1 && found[0].hasPrefix(start), "\(found)")
    }

    @Test(.promise("M.46")) func reportToALaterLevelIsAnErrorUnderAnyPolicy() throws {
        #expect(
            try findings(
                "modules:\n  A:\n    reports:\n      A: [x]\n      B: [x]\n  B: {level: middle, observes: [x]}") == [
                    "6:7 error modules.A.reports.B: B is in the later level middle, and A in basic; reports go to the same or "
                        + "an earlier level: broadcast, or move one of them"
                ])
    }

    @Test(.promise("M.47")) func reportToAGuestIsAdviceAndAnErrorWhereGuestsAreLater() throws {
        func reported(by level: String) throws -> [String] {
            try findings(
                "guests: {level: middle, most: 2}\nmodules:\n  Pen: {level: \(level), reports: {Ben: [x]}}")
        }
        #expect(
            try reported(by: "topout") == [
                "4:34 advice modules.Pen.reports.Ben: no row is named Ben, so only a guest gets these; did you mean "
                    + "Pen?"
            ])
        #expect(
            try reported(by: "basic") == [
                "4:33 error modules.Pen.reports.Ben: Ben is a guest, in the later level middle, and Pen in basic; reports "
                    + "go to the same or an earlier level: broadcast, or move one of them; did you mean Pen?"
            ])
        // A guest of that name may be in the level of one user, and not in another's.
        let users = "guests: {level: topout, most: 2, users: {root: basic}, names: {Ben: middle}}"
        func found(_ level: String) throws -> String? {
            try findings("\(users)\nmodules:\n  Pen: {level: \(level), reports: {Ben: [x]}}").first
        }
        #expect(try found("middle")?.contains("advice modules.Pen.reports.Ben") == true)
        #expect(
            try found("basic")?.contains("error modules.Pen.reports.Ben: Ben is a guest, in the later level middle")
                == true)
    }

    @Test func adapterThatAModuleBeatsAndURLsWithoutASchemeAreAdvice() throws {
        #expect(
            try findings("modules:\n  A: {provides: [I, J], urls: {h/x: I/x}}\nadapters:\n  I: {to: J}") == [
                "3:25 advice modules.A.urls: the app has no URL scheme, so none of its URLs can be opened: list one "
                    + "in schemes",
                "5:3 advice adapters.I: A provides I itself, so the adapter is never used",
            ])
    }

    @Test(.promise("M.111")) func publicURLsWithoutOpenableByAndTheReverseAreAdvice() throws {
        let row = "modules:\n  A: {provides: [I], urls: {h/x: {to: I/x, public: true}}}"
        #expect(
            try findings("schemes: [a]\n\(row)") == [
                "4:22 advice modules.A.urls: a URL is public, and no other app may open it: name their users in "
                    + "openableBy, or leave public out"
            ])
        #expect(try findings("schemes: [a]\nopenableBy: {users: [root], level: topout}\n\(row)").isEmpty)
        #expect(
            try findings("openableBy: {users: [root], level: topout}\nmodules: {A: {}}") == [
                "2:1 advice openableBy: no URL is public, so other apps can open none: write {to: Interface/action, "
                    + "public: true} at one in urls"
            ])
    }

    // MARK: Notifications

    @Test(.promise("M.48")) func observedNameThatNoDeclaredSenderReachesIsFound() throws {
        let text = """
            modules:
              A: {observes: [b.done], broadcasts: [a.done]}
              B: {level: middle, broadcasts: [b.done], observes: [a.dnoe, b.done, a.done, asked], reports: {A: [asked]}}
            """
        let found = try findings(text)
        #expect(
            found == [
                "3:18 error modules.A.observes[0]: b.done is broadcast by B in the later level middle, and broadcasts "
                    + "reach only later levels: A in basic never gets it; report it, or move one of them",
                "4:55 advice modules.B.observes[0]: no row broadcasts a.dnoe, or reports it to B, so only an operator sends it (strata notify), or a module that doesn't declare it; broadcasts reach middle from earlier "
                    + "levels only; did you mean a.done?",
                "4:63 error modules.B.observes[1]: b.done is broadcast by B itself, and broadcasts reach only later "
                    + "levels: B in middle never gets it; report it, or move one of them",
                "4:79 advice modules.B.observes[3]: no row broadcasts asked, or reports it to B, so only an operator sends it (strata notify), or a module that doesn't declare it; broadcasts reach middle from earlier "
                    + "levels only; B reports it to A",
            ])
        // A guest may send it, except under `declared`. What the row broadcasts still reaches no
        // module.
        #expect(
            try findings("guests: {level: basic, most: 1}\n\(text)") == [
                "5:35 advice modules.B.broadcasts[0]: A in basic observes b.done, and broadcasts reach only later levels: it "
                    + "never gets the one of B in middle; report it, or move one of them"
            ])
        #expect(try findings("guests: {level: basic, most: 1}\ncalls: declared\n\(text)").count == 4)
        // No broadcast at all reaches the first level.
        let first = try findings("modules:\n  A: {observes: [x]}")
        #expect(first.first?.hasSuffix("; no broadcast reaches basic, the first level") == true, "\(first)")
    }

    /// Observers of the name get it from elsewhere, which hid that this broadcast reaches no
    /// module.
    @Test(.promise("M.55")) func broadcastThatGoesUpwardsIsAdvice() throws {
        let text = """
            modules:
              A: {broadcasts: [x]}
              B: {level: middle, observes: [x, y], reports: {B: [y]}}
              C: {level: topout, broadcasts: [x, y]}
            """
        #expect(
            try findings(text).map { $0.prefix { $0 != ";" } } == [
                "5:35 advice modules.C.broadcasts[0]: B in middle observes x, and broadcasts reach only later levels: it "
                    + "never gets the one of C in topout",
                "5:38 advice modules.C.broadcasts[1]: B in middle observes y, and broadcasts reach only later levels: it "
                    + "never gets the one of C in topout",
            ])
        // One observer that it reaches is enough.
        #expect(try findings(text.replacing("topout, broadcasts", with: "basic, broadcasts")) == [])
    }

    // MARK: Processes

    @Test(.promise("M.55")) func idleOfAModuleThatIsNotStartedOnDemandIsAdvice() throws {
        #expect(
            try findings(
                "modules:\n  A: {run: [a], idle: 5s}\n  B: {run: [b], provides: [B], start: on-demand, idle: 5s}") == [
                    "3:23 advice modules.A.idle: idle has no effect with start: eager: only a module that starts on demand is stopped when it is idle; set start: on-demand, or leave idle out"
                ])
    }

    /// A URL that the row maps, too, starts the module.
    @Test(.promise("M.55")) func urlThatOnlyAModuleOnDemandMapsIsAdvice() throws {
        let text = """
            schemes: [x]
            modules:
              A: {run: [a], start: on-demand, provides: [A]}
              B: {run: [b], provides: [B]}
              C: {run: [c], start: on-demand, provides: [C], urls: {c/one: C/one}}
            """
        func hello(_ name: String) -> String {
            let urls = ["one", "two/:n"].map {
                #"{"host":"\#(name.lowercased())","path":"/\#($0)","to":"\#(name)/one"}"#
            }
            return #""interfaces":{"\#(name)":{}},"urls":[\#(urls.joined(separator: ","))]"#
        }
        let found = try findings(text, ["A": hello("A"), "B": hello("B"), "C": hello("C")])
        #expect(
            found.map { $0.prefix { $0 != "," } } == [
                "4:3 advice modules.A.urls: only the module maps a/one",
                "4:3 advice modules.A.urls: only the module maps a/two/:n",
                "6:50 advice modules.C.urls: only the module maps c/two/:n",
            ])
        #expect(found[0].hasSuffix(#"(start: on-demand); add to the row: urls: {"a/one": A/one}"#), "\(found[0])")
        #expect(found[2].hasSuffix(#"(start: on-demand); add to the row's urls: "c/two/:n": C/one"#), "\(found[2])")
    }

    @Test func urlWithoutAValidPathSaysHowToWriteIt() throws {
        let hello = #""interfaces":{"A":{}},"urls":[{"host":"a","path":"one","to":"A/x"}]"#
        #expect(
            try findings("schemes: [x]\nmodules:\n  A: {provides: [A]}", ["A": hello]) == [
                #"4:3 error modules.A.urls: the module has a URL of the host a that nothing can match: the URL pattern "one" "#
                    + #"does not start with "/"; write /segment/segment, or / for the host alone"#
            ])
    }

    /// The other row broadcasts under its own name what an adapter renames.
    @Test(.promise("M.48")) func adaptersNoticesReachTheirObservers() throws {
        func text(_ level: String) -> String {
            """
            modules:
              P: {level: middle, provides: [I], broadcasts: [i.done]}
              O: {level: \(level), observes: [a.done]}
            adapters: {A: {to: B, notices: {b.done: a.done}}, B: {to: I, notices: {i.done: b.done}}}
            """
        }
        #expect(try findings(text("topout")) == [])
        // An adapter that a module's interface replaces renames nothing.
        let beaten = try findings(text("topout").replacing("[I]", with: "[I, A]"))
        #expect(beaten.first?.contains("no row broadcasts a.done") == true && beaten.count == 2, "\(beaten)")
        #expect(
            try findings(text("basic")).first?.hasPrefix(
                "4:32 error modules.O.observes[0]: a.done is broadcast by P in the later level middle (as i.done, which "
                    + "the adapter A renames)") == true)
    }

    @Test(.promise("M.48")) func broadcastThatNobodyHearsIsAdviceWhereThatIsKnown() throws {
        let text = "modules:\n  A: {broadcasts: [x.done, y]}\n  B: {level: middle, observes: [y, x.doen]}"
        let unsent = "4:36 advice modules.B.observes[1]: no row broadcasts x.doen"
        // B's program may observe more than its row says.
        let unknown = try findings(text)
        #expect(unknown.count == 1 && unknown[0].hasPrefix(unsent))
        let known = try findings(text, ["B": ""])
        #expect(
            known.first
                == "3:20 advice modules.A.broadcasts[0]: no module of a level after basic observes x.done; did you "
                + "mean x.doen?")
        #expect(known.count == 2)
        // A guest may.
        #expect(try findings("guests: {level: topout, most: 1}\n\(text)", ["B": ""]) == [])
        #expect(try findings(text, ["B": #""observes":["x.done","x.doen","y"]"#]).count == 1)
        #expect(
            try findings("modules:\n  A: {level: topout, broadcasts: [x]}") == [
                "3:35 advice modules.A.broadcasts[0]: A is in the last level, topout, from where a broadcast reaches no module: report it, or move A to an earlier one"
            ])
    }

    @Test(.promise("M.48")) func reportThatNobodyHearsIsAdviceWhereThatIsKnown() throws {
        let text = "modules:\n  A: {observes: [log.line]}\n  B: {reports: {A: [log.line, log.lien]}}"
        #expect(try findings(text) == [])
        #expect(
            try findings(text, ["A": #""observes":["log.line"]"#]) == [
                "4:31 advice modules.B.reports.A[1]: A doesn't observe log.lien, so no observer gets the report; did you "
                    + "mean log.line?"
            ])
    }

    /// Three are many and two aren't. Modules of other levels don't count.
    @Test(.promise("M.49", "M.81")) func moduleThatReportsToManyOfItsLevelBelongsInAnEarlierOne() throws {
        func found(_ level: String, _ targets: String) throws -> [String] {
            try findings(
                "modules:\n  A:\n    level: \(level)\n    reports: {\(targets)}\n"
                    + "  F:\n  B: {level: \(level)}\n  C: {level: \(level)}\n  D: {level: \(level)}")
        }
        #expect(try found("middle", "B: [x], C: [x], F: [x], A: [x]") == [])
        #expect(
            try found("middle", "B: [x], C: [x], D: [y]") == [
                "5:5 advice modules.A.reports: A reports to 3 modules of its own level, middle (B, C, D): move A to an "
                    + "earlier level, and one broadcast reaches all"
            ])
        #expect(try found("basic", "B: [x], C: [x], D: [y]").first?.contains("move those to a later level") == true)
    }

    // MARK: Events

    @Test(.promise("M.50")) func eventsThatNobodyHearsOrEmitsAreAdvice() throws {
        let text = "modules:\n  A:\n    emits: [app.tidy, app.clean]\n  B:"
        // B may be called for it.
        #expect(try findings(text, ["A": ""]) == [])
        #expect(
            try findings(text, ["A": "", "B": #""events":["app.clean","app.tidyy","app.moduleLost"]"#]) == [
                "4:13 advice modules.A.emits[0]: no module declares the event app.tidy; did you mean app.tidyy?",
                "5:3 advice modules.B: the module declares the event app.tidyy, which no row emits, so only an operator does (strata emit); did you mean app.tidy?",
            ])
    }

    // MARK: Actions

    @Test(.promise("M.51")) func actionsThatAdaptersAndURLsNameAndNobodyHasAreErrors() throws {
        let text = """
            schemes: [x]
            modules:
              P: {provides: [I], urls: {h/a: I/show, h/b: I/shwo}}
            adapters:
              A: {to: B, actions: {one: {to: two}, else: {to: gone}}}
              B: {to: I, actions: {two: {to: shwo}, three: {}}}
            """
        #expect(try findings(text) == [])
        #expect(
            try findings(text, ["P": #""interfaces":{"I":{"actions":{"show":{}}}}"#]) == [
                "4:47 error modules.P.urls.h/b: h/b leads to I/shwo, and the module has no such action; did you mean show?",
                "6:51 error adapters.A.actions.else.to: A/else leads to I/gone, and P has no such action",
                "7:34 error adapters.B.actions.two.to: B/two leads to I/shwo, and P has no such action; did you mean show?",
                "7:41 error adapters.B.actions.three.to: B/three leads to I/three, and P has no such action",
            ])
        // An interface that lists no actions accepts all.
        #expect(try findings(text, ["P": #""interfaces":{"I":{}}"#]) == [])
    }

    @Test(
        .promise("M.51", "S.4"),
        arguments: [
            (
                #"{"actions":{"authorize":{"stream":true}}}"#,
                "Auth/authorize, of P, answers in a stream, and the bus waits for one answer"
            ),
            (#"{"actions":{"autorize":{}}}"#, "P has no action Auth/authorize, which the bus asks before each action"),
            (
                #"{"instances":"multiple"}"#,
                "Auth, of P, has instances: multiple, and the bus calls it without an instance"
            ),
        ])
    func authorizerMustHaveWhatItIsAsked(_ interface: String, _ message: String) throws {
        let found = try findings(
            "authorizer: Auth\nmodules:\n  P: {provides: [Auth]}", ["P": #""interfaces":{"Auth":\#(interface)}"#])
        #expect(found.count == 1 && found[0].hasPrefix("2:13 error authorizer: \(message)"), "\(found)")
    }

    @Test(.promise("M.51")) func actionThatNobodyCanAllowIsAnError() throws {
        let hello = #""interfaces":{"I":{"actions":{"a":{"auth":true},"b":{},"c":{"auth":true}}}}"#
        #expect(
            try findings("modules:\n  P: {provides: [I]}", ["P": hello]) == [
                "3:18 error modules.P.provides[0]: I/a and 1 more have auth: true, and the app has no authorizer, so each call is refused (unauthorized): name one in authorizer"
            ])
    }

    // MARK: Descriptions

    @Test(.promise("M.52")) func rowsAndDescriptionsThatDifferAreFound() throws {
        let text = """
            modules:
              A:
                level: middle
                provides: [A]
                requires: [B, C]
                observes: [b.done]
                broadcasts: [a.done]
                reports:
                  B: [x]
              B: {provides: [B, C], broadcasts: [b.done, c.done], observes: [x]}
              D: {level: topout, observes: [a.done, a.doen, c.done]}
            """
        let hello = """
            "level":"topout","interfaces":{"Aa":{},"B":{}},"requires":["B"],"observes":["c.done"],"broadcasts":["a.doen"],
            "reports":{"B":["y"]}
            """
        #expect(
            try findings(text, ["A": hello]).map { $0.prefix { $0 != ";" } } == [
                "4:12 error modules.A.level: the row says middle, and the module topout: fix one of them",
                "5:5 error modules.A.provides: the module provides the interface B, which belongs to B",
                "5:5 advice modules.A.provides: the module provides the interface Aa, and its row doesn't list it: requests "
                    + "don't wait for it, and another module may take it",
                "5:16 error modules.A.provides[0]: the module lacks the interface A",
                "6:19 advice modules.A.requires[1]: the row says that A requires C, and the module doesn't",
                "7:16 advice modules.A.observes[0]: the row says that A observes b.done, and the module doesn't",
                "8:18 advice modules.A.broadcasts[0]: the row says that A broadcasts a.done, and the module doesn't",
                "10:11 advice modules.A.reports.B[0]: the row says that A reports x to B, and the module doesn't",
            ])
        // If a program says nothing of a kind, its row decides.
        let silent = try findings(text.replacing(", a.doen", with: ""), ["A": #""interfaces":{"A":{}}"#])
        #expect(silent == [], "\(silent)")
    }

    /// Under `declared`, a module sends nothing that its row doesn't allow.
    @Test(.promise("M.52")) func whatOnlyAModuleSaysItSendsDoesNotCountUnderDeclared() throws {
        let text = "calls: CALLS\nmodules:\n  A:\n  B: {level: middle, observes: [x, y], reports: {A: [z]}}"
        let hellos = ["A": #""broadcasts":["x","y"],"observes":["z"]"#, "B": #""observes":["x","y"]"#]
        #expect(try findings(text.replacing("CALLS", with: "any"), hellos) == [])
        #expect(
            try findings(text.replacing("CALLS", with: "declared"), hellos).map { $0.prefix { $0 != "," } } == [
                "4:3 error modules.A.broadcasts: the module declares x",
                "4:3 error modules.A.broadcasts: the module declares y",
                "5:33 advice modules.B.observes[0]: no row broadcasts x",
                "5:36 advice modules.B.observes[1]: no row broadcasts y",
            ])
    }

    @Test func whatOnlyTheModuleSaysHasItsRowsPlace() throws {
        #expect(
            try findings("modules:\n  A:\n  B: {level: middle}", ["A": #""requires":["X"],"reports":{"B":["x"]}"#]).map
            {
                $0.prefix { $0 != "," }
            } == [
                "3:3 error modules.A.reports.B: B is in the later level middle",
                "3:3 error modules.A.requires: no row provides X",
            ])
    }
}
