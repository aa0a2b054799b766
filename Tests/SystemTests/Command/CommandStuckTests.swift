import Testing

/// `strata why --stuck` against a bus with scripted answers.
@Suite(.timeLimit(.hang))
struct CommandStuckTests {
    private static let requests = #"""
        {"requests":[
        {"id":1,"kind":"call","from":"operator","to":"Shop/loop","module":"Shop","state":"delivered","since":1,"depth":1},
        {"id":2,"kind":"call","from":"Shop","to":"User/loop","module":"User","state":"queued","since":1,"depth":2,"parent":1},
        {"id":3,"kind":"call","from":"User","to":"Shop/\u001b[2J","module":"Shop","state":"delivered","since":1,"depth":3,"parent":2},
        {"id":4,"kind":"call","from":"Menu","to":"Late/act","module":"Late","state":"waiting","since":1,"depth":1},
        {"id":5,"kind":"call","from":"Menu","to":"Safe/open","module":"Safe","state":"authorizing","since":1,"depth":1},
        {"id":6,"kind":"call","from":"bus","to":"bus/emit","state":"open","since":1,"depth":1}],"omitted":2}
        """#

    private func why(_ module: String = "--stuck", on output: CommandRun.Output = .terminal(columns: 80)) async throws
        -> CommandRun
    {
        try await strata("why", "--stuck", module, environment: ["NO_COLOR": "1"], output: output) { asked in
            asked.to == "bus/modules"
                ? [.reply(#"{"modules":[{"name":"Storage"}]}"#)] : [.reply(Self.requests)]
        }.run
    }

    @Test(.promise("M.95")) func eachRequestStandsBelowTheOneItWasMadeFor() async throws {
        let run = try await why()
        let lines = run.lines.map { line in
            var words = line.split(separator: " ", omittingEmptySubsequences: false)
            // How long it waits depends on the clock.
            if let place = words.firstIndex(of: "waits") { words.remove(at: place + 1) }
            return words.joined(separator: " ")
        }
        #expect(
            lines == [
                "operator waits for Shop/loop of Shop", "  Shop waits for User/loop of User (User hasn't read it)",
                #"    User waits for Shop/\u001b[2J of Shop  circle: Shop"#,
                "Menu waits for Late/act of Late (Late isn't ready)",
                "Menu waits for Safe/open of Safe (the authorizer is asked)", "bus waits for bus/emit",
                "2 further requests are open; the oldest are shown.",
            ])
        #expect(run.status == 0 && !run.output.contains("\u{1B}"))
    }

    @Test(.promise("M.95")) func aModuleShowsItsChainsAlone() async throws {
        #expect(try await why("Late").lines.count == 2)
        let user = try await why("User", on: .pipe)
        #expect(user.lines.count == 3 && user.lines[2].hasSuffix(#""parent":2,"circle":true}"#))
        #expect(try await why("Storage").lines.first == "No request is open for Storage.")
        let unknown = try await why("Storag")
        #expect(unknown.status == 1 && unknown.error.hasPrefix("strata: unknown-module: there is no module Storag\n"))
        #expect(unknown.error.contains("Did you mean Storage?"))
    }

    @Test(arguments: [["Shop", "User/loop"], ["--event"], ["--to", "Log"]])
    func withAMessageItIsBadUsage(arguments: [String]) async throws {
        let run = try await CommandRun.of(["why", "--stuck"] + arguments)
        #expect(run.status == 2 && run.error.contains("--stuck takes at most one argument"))
    }

    @Test func withoutItAMessageIsNeeded() async throws {
        for arguments in [[], ["Shop"]] {
            let run = try await CommandRun.of(["why"] + arguments)
            #expect(run.status == 2 && run.error.contains("Missing argument: name a module and what it sends"))
        }
    }

    @Test(.promise("M.95")) func anErrorShowsWhereItBegan() async throws {
        let root = #"{"code":"failed","message":"no\u001b table","module":"Storage","path":"Storage/read"}"#
        let (run, _) = try await strata("call", "Shop/buy") { _ in [.error("Shop.sorry", "sorry", root: root)] }
        #expect(run.error == "strata: Shop.sorry: sorry\n  cause: Storage/read in Storage: failed: no\\u001b table\n")
        // A message that says so already isn't followed by the same.
        let plain = root.replacing("\\u001b", with: "")
        let (short, _) = try await strata("call", "Shop/buy") { _ in
            [.error("failed", "it failed: Storage/read in Storage: failed: no table", root: plain)]
        }
        #expect(short.error == "strata: failed: it failed: Storage/read in Storage: failed: no table\n")
    }
}
