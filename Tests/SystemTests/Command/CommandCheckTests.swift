import Testing

/// `strata check`, which needs no bus.
@Suite(.timeLimit(.hang))
struct CommandCheckTests {
    @Test(.promise("M.44")) func checkNamesFileLineAndKeyOfEachError() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("bad.yaml", "app: Moments!\nmodules:\n  X:\n    restart: sometimes\n    what: 1\n")
        let run = try await CommandRun.of(["check", path])
        #expect(run.status == 2)
        for place in ["\(path):1: app: ", "\(path):4: modules.X.restart: ", "\(path):5: modules.X.what: "] {
            #expect(run.error.contains(place))
        }
        #expect(run.lines.count == 3)
        #expect(run.lines.allSatisfy { $0.hasPrefix(#"{"file":""#) })
    }

    @Test(.promise("M.52")) func checkLooksAtExecutablesUnlessItIsStatic() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("app.yaml", "app: moments\nmodules:\n  X:\n    run: [absent]\n")
        let whole = try await CommandRun.of(["check", path])
        #expect(whole.status == 2)
        #expect(whole.error.contains("modules.X.run"))
        let still = try await CommandRun.of(["check", path, "--static"])
        #expect(still.status == 0)
        #expect(still.output == "{\"file\":\"\(path)\",\"app\":\"moments\",\"modules\":1,\"errors\":0,\"advice\":0}\n")
        let missing = try await CommandRun.of(["check", "\(folder.path)/none.yaml"])
        #expect(missing.status == 2)
    }

    /// Through an adapter, Storage requires what Notes of a later level provides.
    static let rows = """
        app: moments
        calls: CALLS
        modules:
          Storage: {level: basic, provides: [Storage], requires: [NoteLogin], reports: {Log: [x], Notes: [y]}}
          Log: {level: basic, provides: [Log], requires: [Storrage]}
          Notes: {level: middle, provides: [Login], requires: [Storage, Log], reports: {Storage: [x]}}
        adapters:
          NoteLogin: {to: Login}
        """

    @Test(.promise("I.15")) func checkFindsWhatIsWrongBetweenRows() async throws {
        let folder = try TemporaryFolder()
        let any = try folder.file("any.yaml", Self.rows.replacing("CALLS", with: "any"))
        let layered = try folder.file("layered.yaml", Self.rows.replacing("CALLS", with: "layered"))
        let free = try await CommandRun.of(["check", any, "--static"])
        #expect(
            free.error == """
                \(any):4: modules.Storage.requires[0]: advice: NoteLogin belongs to Notes in the later level middle, and Storage \
                in basic depends on it; calls: any allows that, and layered would not: open a URL, or move one of them
                \(any):4: modules.Storage.reports.Notes: Notes is in the later level middle, and Storage in basic; \
                reports go to the same or an earlier level: broadcast, or move one of them
                \(any):5: modules.Log.requires[0]: no row provides Storrage, and there are no guests; did you mean Storage?

                """)
        #expect(free.status == 2)
        let strict = try await CommandRun.of(["check", layered, "--static"])
        #expect(
            strict.error.contains("modules.Storage.requires[0]: NoteLogin belongs to Notes in the later level middle"))
        #expect(strict.lines.count == 4)
        let guests = Self.rows.replacing("CALLS", with: "any\nguests: {level: topout, most: 1}")
        let open = try await CommandRun.of(["check", try folder.file("guests.yaml", guests), "--static"])
        #expect(open.lines.filter { $0.contains("\"class\":\"error\"") }.count == 1)
    }

    @Test(.promise("M.44")) func eachFindingIsALineOfJSONThenTheAppsOwn() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("any.yaml", Self.rows.replacing("CALLS", with: "any"))
        let run = try await CommandRun.of(["check", path, "--static"])
        #expect(run.lines.count == 4)
        #expect(
            run.lines[1].hasPrefix(
                #"{"file":"\#(path)","line":4,"column":91,"key":"modules.Storage.reports.Notes","class":"error","message":""#
            ))
        #expect(run.lines[3] == #"{"file":"\#(path)","app":"moments","modules":3,"errors":2,"advice":1}"#)
    }

    /// What leaves its node is shown, but is neither error nor advice.
    @Test(.promise("M.144")) func whatLeavesItsNodeIsANote() async throws {
        let folder = try TemporaryFolder()
        let rows = "  A: {node: a, provides: [A]}\n  B: {node: b, requires: [A]}\n"
        let path = try folder.file("app.yaml", "app: moments\nnodes: {a: , b: }\nmodules:\n\(rows)")
        let run = try await CommandRun.of(["check", path])
        #expect(run.status == 0)
        #expect(
            run.error
                == "\(path):5: modules.B.requires[0]: note: leaves its node: B (basic) on b calls A (basic) on a\n")
        #expect(run.lines.last?.hasSuffix(#""errors":0,"advice":0,"notes":1}"#) == true)
        let person = try await CommandRun.of(["check", path], output: .terminal(columns: 100))
        #expect(person.output.replacing(/\u{1B}\[[0-9]*m/, with: "").contains("2 modules: no errors, notes: 1"))
    }

    /// Advice is shown, but is no failure.
    @Test(.promise("M.45")) func adviceDoesNotChangeTheExitCode() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("app.yaml", "app: moments\nmodules:\n  A: {observes: [x]}\n")
        let run = try await CommandRun.of(["check", path])
        #expect(run.status == 0)
        #expect(run.error.hasPrefix("\(path):3: modules.A.observes[0]: advice: no row broadcasts x"))
        let person = try await CommandRun.of(["check", path], output: .terminal(columns: 100))
        #expect(person.status == 0 && person.error == "")
        let plain = person.output.replacing(/\u{1B}\[[0-9]*m/, with: "")
        #expect(plain.hasPrefix("LINE  CLASS   KEY"))
        #expect(plain.contains("3:18  advice  modules.A.observes[0]  no row broadcasts x"))
        #expect(plain.contains(": moments, 1 module: no errors, advice: 1"))
    }
}
