import Testing

/// `strata check`, which needs no bus.
@Suite(.timeLimit(.minutes(5)))
struct CommandCheckTests {
    @Test func checkNamesFileLineAndKeyOfEachError() async throws {
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

    @Test func checkLooksAtExecutablesUnlessItIsStatic() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("app.yaml", "app: moments\nmodules:\n  X:\n    run: [absent]\n")
        let whole = try await CommandRun.of(["check", path])
        #expect(whole.status == 2)
        #expect(whole.error.contains("modules.X.run"))
        let still = try await CommandRun.of(["check", path, "--static"])
        #expect(still.status == 0)
        #expect(still.output == "{\"file\":\"\(path)\",\"app\":\"moments\",\"modules\":1}\n")
        let missing = try await CommandRun.of(["check", "\(folder.path)/none.yaml"])
        #expect(missing.status == 2)
    }

    /// Storage requires through an adapter what Notes, of a later level, provides.
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

    @Test func checkFindsWhatIsWrongBetweenRows() async throws {
        let folder = try TemporaryFolder()
        let any = try folder.file("any.yaml", Self.rows.replacing("CALLS", with: "any"))
        let layered = try folder.file("layered.yaml", Self.rows.replacing("CALLS", with: "layered"))
        let free = try await CommandRun.of(["check", any, "--static"])
        #expect(
            free.error.split(separator: "\n").map(String.init) == [
                "\(any): modules.Storage.reports: Notes is in the later level middle, and Storage in basic; "
                    + "reports go to the same or an earlier level: broadcast, or move one of them",
                "\(any): modules.Log.requires: no row provides Storrage, and there are no guests; did you mean Storage?",
            ])
        #expect(free.status == 2)
        let strict = try await CommandRun.of(["check", layered, "--static"])
        #expect(strict.error.contains("modules.Storage.requires: NoteLogin is of Notes in the later level middle"))
        #expect(strict.lines.count == 3)
        let guests = Self.rows.replacing("CALLS", with: "any\nguests: {level: topout, most: 1}")
        let open = try await CommandRun.of(["check", try folder.file("guests.yaml", guests), "--static"])
        #expect(open.lines.count == 1)
    }
}
