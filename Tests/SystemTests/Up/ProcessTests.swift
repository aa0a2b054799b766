import Glibc
import Testing

/// What `strata up` gives a module's process, besides its environment.
@Suite(.timeLimit(.hang))
struct ProcessTests {
    /// So a terminal's ctrl-C doesn't reach it, and a setuid program gains it nothing.
    @Test(.promise("M.35")) func itLeadsASessionAndGainsNoPrivileges() throws {
        let script = """
            read _ _ _ _ _ session _ </proc/self/stat
            [ "$session" = $$ ] && echo leads its session
            grep -q 'NoNewPrivs:.*1' /proc/self/status && echo gains nothing
            exec cat <&3
            """
        let app = try UpProcess(
            "{app: test, modules: {A: {run: [a.sh], start: async, stop: 100ms}}}", scripts: ["a.sh": script])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("| gains nothing") }
        #expect(app.said("| leads its session"), "\(app.lines)")
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }
}
