import StrataCore
import StrataManifest
import Testing

/// The verdicts of `strata why`, with the lines that decide them.
@Suite(.timeLimit(.hang))
struct JudgeTests {
    /// `CALLS` stands for the policy.
    static let text = """
        calls: CALLS
        schemes: [test]
        authorizer: Session
        modules:
          Storage: {run: [x],
            provides: [Storage],
            broadcasts: [storage.changed],
            observes: [note.changed]}
          Session: {level: middle, run: [x], provides: [Session], broadcasts: [session.ended]}
          Log: {level: middle, start: manual, provides: [Log], observes: [log.line]}
          Notes: {run: [x],
            level: topout,
            provides: [Notes],
            requires: [NoteLogin],
            observes: [storage.changed, {name: note.left, object: me, keep: latest}],
            broadcasts: [note.changed],
            reports: {Log: [log.line]},
            urls: {"note/:item": Notes/add}}
          Export: {level: topout, start: on-demand, run: [x], provides: [Export], trusted: true}
        adapters:
          NoteLogin:
            to: Session
            actions:
              writer: {to: who, params: {ticket: token}, result: {writer: user}}
            notices: {session.ended: note.left}
        """

    static let hellos = [
        "Storage": #""interfaces":{"Storage":{"actions":{"load":{},"wipe":{"auth":true}}}}"#,
        "Session": #""interfaces":{"Session":{"actions":{"who":{},"authorize":{"auth":true}}}}"#,
        "Notes": #""interfaces":{"Notes":{"actions":{"add":{"auth":true}}},"Cart":{"instances":"multiple"}}"#,
    ]

    private func judge(_ calls: String = "declared", described: Bool = true, _ more: String = "") throws -> Judge {
        let text = Self.text.replacing("CALLS", with: calls) + more
        return try ReviewedApp(text, hellos: described ? Self.hellos : [:]).judge
    }

    /// Returns each check with its line, as in `existence passed 7`.
    private func checks(_ judgement: Judgement) -> [String] {
        judgement.checks.map { check in
            "\(check.name) \(check.result.rawValue)" + (check.place?.line.map { " \($0)" } ?? "")
        }
    }

    // MARK: Calls

    @Test(.promise("M.58")) func checksComeInTheProtocolsOrderEachWithItsLine() throws {
        let judgement = try judge().call("NoteLogin/writer", from: "Notes")
        #expect(judgement.isAllowed && !judgement.depends && judgement.changes.isEmpty)
        #expect(
            checks(judgement) == [
                "adapter passed 25", "existence passed 10", "level passed 13", "declaration passed 15",
                "owner passed 10",
                "actions passed", "instance free", "authorization free 4",
            ])
        #expect(
            judgement.checks[0].reason
                == "NoteLogin/writer leads to Session/who; params ticket → token; result writer ← user")
    }

    @Test(
        .promise("M.58"),
        arguments: [
            ("any", "Storage", nil, ["level free 2", "declaration free 2"]),
            ("layered", "Storage", .levelViolation, ["level refused 6", "declaration free 2"]),
            ("declared", "Storage", .levelViolation, ["level refused 6", "declaration refused 6"]),
            ("layered", "Notes", nil, ["level passed 13", "declaration free 2"]),
            ("declared", "Notes", .undeclared, ["level passed 13", "declaration refused 15"]),
            ("declared", "Session", nil, ["level free", "declaration free"]),
        ] as [(String, String, ErrorCode?, [String])])
    func policyDecidesAsTheBusDoes(_ calls: String, _ caller: String, _ code: ErrorCode?, _ middle: [String]) throws {
        let judgement = try judge(calls).call("Session/who", from: caller)
        #expect(judgement.code == code)
        #expect(Array(checks(judgement)[1...2]) == middle)
        #expect(judgement.changes.isEmpty == judgement.isAllowed)
    }

    @Test(.promise("M.59")) func whatWouldChangeARefusedCallIsSaid() throws {
        let judgement = try judge().call("NotesRouter/add", from: "Storage")
        #expect(
            judgement.changes == [
                [
                    "move Storage to topout or a later level, and add Notes to requires of Storage",
                    "move Notes to basic or an earlier level, and add Notes to requires of Storage", "set calls: any",
                    "open a URL, which is free: test://note/:item leads to Notes/add",
                    "let Storage broadcast, and Notes observe",
                ]
            ])
        // If the row declares the call, only its level must change.
        let layered = try judge("layered").call("NotesRouter/add", from: "Storage")
        #expect(layered.changes.count == 1 && layered.changes[0][0] == "move Storage to topout or a later level")
    }

    /// A change is needed for each of two checks that refuse.
    @Test(.promise("M.59")) func whatIsNecessaryIsApartFromAlternatives() throws {
        let app = try ReviewedApp(
            """
            calls: layered
            modules:
              A: {provides: [A]}
              B: {level: middle, provides: [B]}
            """, hellos: ["B": #""interfaces":{"B":{"actions":{"wipe":{"auth":true}}}}"#])
        let changes = app.judge.call("B/wipe", from: "A").changes
        #expect(changes.map(\.count) == [5, 1], "\(changes)")
        #expect(changes.last == ["name an interface that decides in authorizer"])
    }

    @Test(
        .promise("M.59"),
        arguments: [
            ("Storrage/load", "unknown-interface", "no row provides Storrage; did you mean Storage?"),
            ("nonsense//x", "unknown-interface", #""nonsense//x" names no action"#),
            ("Storage/laod", "unknown-action", "Storage's module has no action Storage/laod; did you mean load?"),
            ("Storage/dump", "unknown-action", "Storage's module has no action Storage/dump; it has load, wipe"),
            ("Storage#4/load", "unknown-instance", "Storage has instances: single"),
            ("Cart/add", "unknown-instance", "Cart has instances: multiple, and the call names none"),
            ("module/setUp", "forbidden", "module/… is for the broker alone"),
            ("launcher/stop", "forbidden", "launcher/… is for operators and the broker"),
            ("operator/x", "unknown-interface", "operators provide nothing"),
        ])
    func refusedCallNamesItsCodeAndItsReason(_ to: String, _ code: String, _ reason: String) throws {
        // Log may bring more than its row says, but without a program it can't be asked.
        let judgement = try judge("any").call(to, from: "Notes")
        #expect(judgement.code?.rawValue == code)
        let refused = judgement.checks.first { $0.result == .refused }
        #expect(refused?.reason.hasPrefix("\(code): \(reason)") == true, "\(judgement)")
        #expect(judgement.checks.last == refused, "nothing is judged of what isn't there")
    }

    @Test(.promise("M.59", "5.37"), arguments: [("start", true), ("stop", true), ("restart", true), ("why", false)])
    func managedRowsMayBeSteered(action: String, isAllowed: Bool) throws {
        let app = try ReviewedApp("modules: {Desk: {manages: [Music]}, Music: }")
        let judgement = Judge(app.manifest, [:]).call("launcher/\(action)", from: "Desk")
        #expect(judgement.isAllowed == isAllowed)
        guard isAllowed else { return }
        #expect(judgement.checks.first?.reason.hasPrefix("Desk may start, stop and restart Music; for other") == true)
    }

    @Test func whatIsKnownOnlyAtRunTimeDepends() throws {
        func last(_ to: String, _ from: String = "Notes", described: Bool = true, _ more: String = "") throws -> String
        {
            let judgement = try judge("any", described: described, more).call(to, from: from)
            #expect(judgement.isAllowed && judgement.depends)
            return judgement.checks.filter { $0.result == .depends }.map { "\($0.name): \($0.reason)" }.joined(
                separator: "\n")
        }
        #expect(try last("Storage/load", described: false).hasPrefix("actions: only Storage's program knows"))
        #expect(try last("Log/x").hasPrefix("owner: Log is started by hand (it has no run)"))
        #expect(try last("Cart#4/add").contains("instance: an instance belongs to its creator alone"))
        #expect(try last("bus/emit").hasPrefix("existence: bus is the broker's own"))
        #expect(
            try last("Storage/wipe")
                == "authorization: Storage/wipe has auth: true: Session/authorize, of Session, is asked "
                + "each time")
        #expect(try last("Storage/wipe", "Export").hasSuffix("; Export is trusted, and may say auth: skip"))
        #expect(try last("Storage").hasPrefix("actions: Storage has load, wipe\nauthorization: Storage/wipe has"))
        let guests = try last("Stroage/x", "Notes", "\nguests: {level: topout, most: 1}")
        #expect(
            guests == "existence: no row provides Stroage; a guest may; did you mean Storage?; "
                + "Export may, whose program has not described itself")
    }

    @Test func ownersStartIsSaid() throws {
        func owner(_ to: String) throws -> String? {
            try judge("any").call(to, from: "Notes").checks.first { $0.name == "owner" }?.reason
        }
        #expect(try owner("Export/x")?.hasPrefix("Export is started by the request (start: on-demand)") == true)
        #expect(try owner("Storage/load")?.hasPrefix("Storage starts with the app (start: eager)") == true)
        #expect(try owner("Notes/add") == "Notes is the caller itself")
    }

    @Test func withoutAnAuthorizerNobodyCanAllow() throws {
        let app = try ReviewedApp(
            "modules:\n  A: {provides: [I]}\n  B:",
            hellos: ["A": #""interfaces":{"I":{"actions":{"x":{"auth":true}}}}"#])
        let judgement = app.judge.call("I/x", from: "B")
        #expect(judgement.code == .unauthorized)
        #expect(judgement.changes == [["name an interface that decides in authorizer"]])
    }

    // MARK: URLs

    @Test func openedURLIsFreeOfLevelsAndDeclarations() throws {
        let judgement = try judge().open("TEST://Note/a%20b?x=1", from: "Storage")
        #expect(judgement.isAllowed)
        #expect(
            checks(judgement) == [
                "existence passed 19", "level free", "declaration free", "owner passed 12", "actions passed",
                "instance free", "authorization depends 4",
            ])
    }

    @Test(
        .promise("M.59"),
        arguments: [
            ("test:/x", "bad-url"), ("tset://note/x", "unknown-scheme"), ("test://noet/x", "unknown-host"),
            ("test://note/x/y", "unknown-path"),
        ])
    func urlThatLeadsNowhereIsRefused(_ url: String, _ code: String) throws {
        let judgement = try judge().open(url, from: "Storage")
        #expect(judgement.code?.rawValue == code)
        #expect(checks(judgement) == ["existence refused\(code == "unknown-scheme" ? " 3" : "")"])
    }

    /// An app of which Shop opens another app's URLs, and Desk doesn't.
    private static let opening = """
        schemes: [test]
        modules:
          Shop: {run: [x],
            opens: {Catalog: {app: catalog, user: root}}}
          Desk: {run: [x]}
        """

    @Test(.promise("M.112")) func anotherAppsURLIsItsRowsToOpen() throws {
        let judgement = try ReviewedApp(Self.opening, hellos: [:]).judge.open("CATALOG://item/7", from: "Shop")
        #expect(judgement.isAllowed && judgement.depends && judgement.changes.isEmpty)
        #expect(
            checks(judgement) == ["existence passed 5", "level free", "declaration free", "owner depends"],
            "\(judgement)")
        #expect(judgement.checks[0].reason == "Shop opens catalog at app:catalog of user 0")
        #expect(
            judgement.checks[3].reason.contains("openableBy") && judgement.checks[3].reason.contains("public: true"))
    }

    @Test(
        .promise("M.112"),
        arguments: [
            (
                "catalog://item/7", "existence refused 5",
                "unknown-scheme: catalog is a scheme of app:catalog, which Shop opens; the row of Desk doesn't list it in "
                    + "opens", ["add catalog to opens of Desk, as the row of Shop has it"]
            ),
            (
                "maps://x", "existence refused 2",
                "unknown-scheme: a URL of the scheme \"maps\" was asked for; the app has \"test\": list it in the manifest's "
                    + "schemes, or if it is another app's, in opens of the row that opens it, like opens: {catalog: {app: "
                    + "catalog}}",
                [
                    "list maps in schemes, if this app maps its URLs",
                    "add maps: {app: NAME} to opens of Desk, if it is another app's",
                ]
            ),
        ] as [(String, String, String, [String])])
    func aSchemeThatARowDoesNotOpenIsUnknown(_ url: String, _ check: String, _ reason: String, _ changes: [String])
        throws
    {
        let judgement = try ReviewedApp(Self.opening, hellos: [:]).judge.open(url, from: "Desk")
        #expect(judgement.code == .unknownScheme && checks(judgement) == [check])
        #expect(judgement.checks[0].reason == reason)
        #expect(judgement.changes == [changes])
    }

    @Test func hostStarTakesWhatIsLeft() throws {
        let text = "schemes: [test]\nmodules:\n  A: {run: [x], provides: [I], urls: {'h/a': I/a, '*/f/*rest': I/b}}\n"
        let judge = try ReviewedApp(text, hellos: [:]).judge
        #expect(judge.open("test://h/f/1/2", from: "A").checks.first?.reason.contains("*/f/*rest of A") == true)
        #expect(judge.open("test://other/f", from: "A").code?.rawValue == "unknown-path")
    }

    // MARK: Events

    @Test(.promise("M.60")) func eventIsItsEmittersRowsToAllow() throws {
        let app = try ReviewedApp(
            "modules:\n  A: {emits: [tidy, clean]}\n  B: {run: [x]}\n  C: {run: [x]}",
            hellos: ["A": #""events":["tidy"]"#, "B": #""events":["tidy"]"#, "C": #""events":["claen"]"#])
        let good = app.judge.emit("tidy", from: "A")
        #expect(good.isAllowed && checks(good) == ["declaration passed 3"])
        #expect(good.recipients.map(\.module) == ["A", "B"] && good.recipients.allSatisfy(\.gets))
        let bad = app.judge.emit("tidy", from: "B")
        #expect(bad.code == .forbidden && bad.changes == [["add tidy to emits of B"]])
        #expect(bad.recipients.allSatisfy { !$0.gets })
        #expect(
            app.judge.emit("clean", from: "A").changes == [
                ["let a module declare the event clean; did you mean claen?"]
            ])
        let unasked = try ReviewedApp("modules:\n  A: {emits: [x]}\n  B: {run: [x]}").judge.emit("x", from: "A")
        #expect(
            unasked.changes == [["let a module declare the event x; B may, whose program has not described itself"]])
    }

    // MARK: Notifications

    private func recipients(_ judgement: Judgement) -> [String] {
        judgement.recipients.map { "\($0.module) \($0.gets) \($0.place?.line ?? 0): \($0.reason)" }
    }

    @Test(.promise("M.60")) func broadcastNamesThoseThatGetItAndThoseThatDoNot() throws {
        let storage = try judge().broadcast("storage.changed", from: "Storage")
        #expect(checks(storage) == ["declaration passed 8", "level passed 6"])
        #expect(recipients(storage) == ["Notes true 16: it observes storage.changed"])
        let session = try judge().broadcast("session.ended", from: "Session")
        #expect(
            recipients(session) == ["Notes true 16: it observes note.left, of the object me only, and keeps the latest"]
        )
        let notes = try judge("any").broadcast("note.changed", from: "Notes")
        #expect(notes.isAllowed)
        #expect(
            recipients(notes) == [
                "Storage false 9: it is in an earlier level than the sender's, and broadcasts reach only later levels"
            ])
        #expect(notes.changes.first?.first == "move Notes to an earlier level than its observers")
        let mistyped = try judge().broadcast("storage.chagned", from: "Storage")
        #expect(mistyped.code == .undeclared)
        #expect(mistyped.checks[0].reason.hasSuffix("; did you mean storage.changed?"))
        #expect(mistyped.changes.first == ["add storage.chagned to broadcasts of Storage"])
    }

    /// Observations of one name in the row and in hello are one, and hello's decides.
    @Test func observationOfRowAndModuleIsOne() throws {
        let app = try ReviewedApp(
            "modules:\n  A: {broadcasts: [x]}\n  B: {level: middle, observes: [x, {name: x, object: o}]}",
            hellos: ["B": #""observes":[{"name":"x","keep":"latest"},{"name":"x","object":"p"}]"#])
        #expect(
            recipients(app.judge.broadcast("x", from: "A")) == [
                "B true 4: it observes x, and keeps the latest", "B true 4: it observes x, of the object o only",
                "B true 4: it observes x, of the object p only",
            ])
    }

    @Test(.promise("M.60")) func reportIsJudgedByLevelThenDeclaration() throws {
        let good = try judge().report("log.line", to: "Log", from: "Notes")
        #expect(
            checks(good) == ["existence passed 11", "level passed 13", "declaration passed 18", "owner depends 11"])
        #expect(recipients(good) == ["Log true 11: it observes log.line"])
        let late = try judge("any").report("x", to: "Notes", from: "Log")
        #expect(late.code == .levelViolation)
        #expect(late.changes.first?.first == "broadcast it, and let Notes observe it")
        let undeclared = try judge().report("log.lien", to: "Log", from: "Notes")
        #expect(undeclared.code == .undeclared)
        #expect(undeclared.checks[2].reason.hasSuffix("in reports of Notes's row; did you mean log.line?"))
        let unheard = try judge("any").report("x", to: "Session", from: "Session")
        #expect(unheard.isAllowed && unheard.changes == [["add x to observes of Session"]])
        #expect(recipients(unheard) == ["Session false 10: it doesn't observe x, and the answer is 0 observers"])
        #expect(try judge().report("x", to: "Lgo", from: "Notes").code == .unknownModule)
    }

    /// If a row reports a name and doesn't broadcast it, the report is meant.
    @Test func notificationIsWhatTheRowSaysItIs() throws {
        #expect(
            try judge().notification("log.line", from: "Notes").map(\.subject) == ["Notes reports log.line to Log"])
        #expect(
            try judge().notification("note.changed", from: "Notes").map(\.subject) == ["Notes broadcasts note.changed"])
        #expect(try judge().notification("log.line", from: "Storage").map(\.subject) == ["Storage broadcasts log.line"])
    }
}
