import Glibc
import Synchronization
import Testing

/// `strata call` against a bus with scripted answers.
@Suite(.timeLimit(.hang))
struct CommandCallTests {
    static let interfaces = """
        {"interfaces":[{"name":"Catalog","module":"Catalog","instances":"single",\
        "actions":[{"name":"list","auth":false},{"name":"wipe","auth":true}],"urls":[],"requiredBy":[]}]}
        """

    @Test func replyKeepsItsNumbersAndIsOneLine() async throws {
        let (run, asked) = try await strata("call", "Catalog/list", #"{"limit": 3.10}"#) { _ in
            [.reply("{\"n\": 12345678901234567890,\n \"f\": 1.10}")]
        }
        #expect(run.output == "{\"n\":12345678901234567890,\"f\":1.10}\n")
        #expect(run.error == "")
        #expect(run.status == 0)
        #expect(asked.map(\.to) == ["Catalog/list"])
        #expect(asked.first?.body == #"{"limit": 3.10}"#)
        #expect(asked.first?.deadline == nil)
    }

    /// An empty stream answers like this.
    @Test(.promise("2.9")) func noParamsAreNoBytesAndAnAnswerOfNoBytesPrintsNothing() async throws {
        let (run, asked) = try await strata("call", "Catalog/list") { _ in [.reply("")] }
        #expect(run.output == "" && run.error == "" && run.status == 0)
        #expect(asked.first?.body == "")
        let (shown, _) = try await strata("call", "Catalog/list", output: .terminal(columns: 80)) { _ in [.reply("")] }
        #expect(shown.output == "" && shown.status == 0)
        let (null, _) = try await strata("call", "Catalog/list") { _ in [.reply("null")] }
        #expect(null.output == "null\n")
    }

    @Test func paramsComeFromStandardInput() async throws {
        let (run, _) = try await strata("call", "Catalog/echo", "-", input: "[1, 2]\n") { [.reply($0.body)] }
        #expect(run.output == "[1,2]\n")
    }

    @Test(.promise("M.82")) func partialRepliesAreALineEachAndTheirEndIsNone() async throws {
        let (run, asked) = try await strata("call", "Catalog/all", "--timeout", "0") { _ in
            [.partial("1"), .partial("{\"a\":\n2}"), .reply("")]
        }
        #expect(run.lines == ["1", #"{"a":2}"#])
        #expect(asked.first?.deadline == 0)
        #expect(asked.first?.credit == 16)
    }

    /// The bus has no deadline for its own streams.
    @Test(.promise("M.82"), arguments: ["bus/watch", "bus/monitor"])
    func aStreamOfTheBusEndsWhenItIsQuiet(action: String) async throws {
        let (run, asked) = try await strata("call", action, "--timeout", "300ms") { asked in
            asked.kind == .cancel ? [] : [.partial("1"), .partial("2")]
        }
        #expect(run.lines == ["1", "2"] && run.status == 1)
        #expect(
            run.error == "strata: deadline-exceeded: the stream was quiet for 300 ms: --timeout TIME waits longer, "
                + "and 0 without limit\n")
        #expect(asked.first?.to == action)
    }

    @Test(.promise("M.82")) func aStreamThatHasBegunIsNotSlow() async throws {
        let slow = "Feed did not answer within the deadline of 30000 ms: give more, or find out why it is slow"
        let (run, _) = try await strata("call", "Feed/follow") { _ in
            [.partial("1"), .error("deadline-exceeded", slow)]
        }
        #expect(run.lines == ["1"] && run.status == 1)
        #expect(run.error.hasPrefix("strata: deadline-exceeded: the stream was quiet for 30 s: --timeout TIME"))
        let (none, _) = try await strata("call", "Feed/follow") { _ in [.error("deadline-exceeded", slow)] }
        #expect(none.error == "strata: deadline-exceeded: \(slow)\n")
    }

    @Test func aDotInTheSlashsPlaceIsSeen() async throws {
        let script: FakeBus.Script = { _ in [.reply(Self.interfaces)] }
        for params in [[], ["{}"]] {
            let folder = try TemporaryFolder()
            let bus = FakeBus(at: "\(folder.path)/bus.sock", script: script)
            defer { bus.close() }
            let run = try await CommandRun.of(
                ["call", "Catalog.status"] + params, environment: ["STRATA_SOCKET": bus.path])
            #expect(
                run.error == "strata: unknown-interface: no module here provides Catalog.status\n"
                    + "Did you mean Catalog/status?\n")
            #expect(run.status == 1)
        }
    }

    @Test(.promise("M.70")) func aTraceIsBegunWhereItIsAskedFor() async throws {
        let (run, asked) = try await strata("call", "A/b", "--trace") { _ in [.reply("1")] }
        let sent = try #require(asked.first?.trace.wholeMatch(of: /"00-([0-9a-f]{32})-[0-9a-f]{16}-01"/))
        #expect(run.error == "trace \(sent.1)\n" && run.output == "1\n")
        #expect(try await strata("call", "A/b") { _ in [.reply("1")] }.asked.first?.trace == "")
        let opened = try await strata("open", "app://a/b", "--trace") { _ in [.reply("1")] }
        #expect(opened.asked.first?.trace.count == 57)
    }

    @Test(
        .promise("M.82"),
        arguments: [("9500ms", 9_500), ("20s", 20_000), ("3m", 180_000), ("24h", 86_400_000)] as [(String, Int64)])
    func timeoutIsTheDeadline(argument: String, milliseconds: Int64) async throws {
        let (run, asked) = try await strata("call", "A/b", "--timeout", argument) { _ in [.reply("1")] }
        #expect(run.status == 0)
        #expect(asked.first?.deadline == milliseconds)
    }

    @Test(arguments: ["2", "-1s", "1.5s", "s", "25h", "99999999999999999999s", "2 s"])
    func timeoutThatIsNoneIsBadUsage(argument: String) async throws {
        let (run, asked) = try await strata("call", "A/b", "--timeout=\(argument)") { _ in [.reply("1")] }
        #expect(run.status == 2)
        #expect(run.error.hasPrefix("strata: "))
        #expect(asked.isEmpty)
    }

    @Test(.promise("M.41")) func errorIsShownWithItsCodeAndExitsWithOne() async throws {
        let (run, _) = try await strata("call", "Catalog/list") { _ in
            [.error("Catalog.locked", "somebody else writes", body: #"{"by": "Notes"}"#)]
        }
        #expect(run.output == "")
        #expect(run.error == "strata: Catalog.locked: somebody else writes\n{\"by\":\"Notes\"}\n")
        #expect(run.status == 1)
    }

    @Test func whatIsNoJSONIsRefusedBeforeConnecting() async throws {
        let run = try await CommandRun.of(
            ["call", "A/b", "[1, 2", "--socket", "/tmp/strata-test-nowhere.sock"])
        #expect(run.status == 2)
        #expect(run.error.contains("at byte 5"))
    }

    @Test(.promise("M.82")) func mistypedNamesGetTheNearestOnes() async throws {
        let script: FakeBus.Script = { asked in
            switch asked.to {
            case "bus/interfaces": [.reply(Self.interfaces)]
            case "Catalog/lits": [.error("unknown-action", "there is none")]
            default: [.error("unknown-interface", "nobody has it")]
            }
        }
        let (action, _) = try await strata("call", "Catalog/lits", script: script)
        #expect(action.error == "strata: unknown-action: there is none\nDid you mean Catalog/list?\n")
        let (interface, _) = try await strata("call", "Catlog/list", script: script)
        #expect(interface.error == "strata: unknown-interface: nobody has it\nDid you mean Catalog?\n")
        let (alone, _) = try await strata("call", "Catlog", script: script)
        #expect(alone.error.hasSuffix("\nDid you mean Catalog?\n"))
        #expect([action.status, interface.status, alone.status] == [1, 1, 1])
    }

    @Test(.promise("M.82")) func anInterfaceAloneListsItsActions() async throws {
        let (run, _) = try await strata("call", "CatalogRouter") { _ in [.reply(Self.interfaces)] }
        #expect(run.lines == [#"{"action":"Catalog/list","auth":false}"#, #"{"action":"Catalog/wipe","auth":true}"#])
    }

    @Test func lostConnectionIsNoBus() async throws {
        let (run, _) = try await strata("call", "Catalog/list") { _ in
            [.farewell("shutting-down", "the app ends"), .close]
        }
        #expect(run.status == 3)
        #expect(run.error.contains("shutting-down: the app ends"))
    }

    @Test func anAnswerJustBeforeTheEndCounts() async throws {
        let (run, _) = try await strata("call", "Catalog/list") { _ in [.reply("7"), .close] }
        #expect(run.output == "7\n")
        #expect(run.status == 0)
    }

    @Test func interruptCancelsTheCall() async throws {
        let process = Mutex<Int32>(0)
        let (run, asked) = try await strata(
            "call", "Catalog/list", started: { id in process.withLock { $0 = id } }
        ) { asked in
            if asked.kind == .cancel { return [.error("cancelled", "as you wished")] }
            kill(process.withLock { $0 }, SIGINT)
            return []
        }
        #expect(asked.map(\.kind) == [.call, .cancel])
        #expect(run.error == "strata: cancelled: as you wished\n")
        #expect(run.status == 1)
    }

    @Test(arguments: [false, true])
    func closedPipeIsAQuietEnd(ignoringSignal: Bool) async throws {
        let (run, _) = try await strata("call", "A/b", output: .closedPipe(ignoringSignal: ignoringSignal)) { _ in
            [.reply("1")]
        }
        #expect(run.error == "")
        #expect(run.isSignalled)
        #expect(run.status == SIGPIPE)
    }

    @Test func terminalGetsIndentedColours() async throws {
        let reply = #"{"n":1.10,"s":"a\u001b","e":[],"l":[true,{"x":null}]}"# + "\n"
        let (coloured, _) = try await strata("call", "A/b", output: .terminal(columns: 80)) { _ in [.reply(reply)] }
        #expect(coloured.output.contains("\u{1B}[36m1.10\u{1B}[0m"))
        let (plain, _) = try await strata(
            "call", "A/b", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)
        ) { _ in [.reply(reply)] }
        #expect(
            plain.output == """
                {
                  "n": 1.10,
                  "s": "a\\u001b",
                  "e": [],
                  "l": [
                    true,
                    {
                      "x": null
                    }
                  ]
                }

                """)
        let (raw, _) = try await strata("call", "A/b", "--json", output: .terminal(columns: 80)) { _ in [.reply(reply)]
        }
        #expect(raw.output == reply)
    }

    @Test(.promise("M.57")) func whatAModuleWroteCanNotSteerTheTerminal() async throws {
        let (run, _) = try await strata("call", "A/b", output: .terminal(columns: 80)) { _ in
            [.reply("\"\u{9B}2J\u{202E}\"")]
        }
        #expect(run.output.contains("\"\\u009b2J\\u202e\""))
        let (error, _) = try await strata("call", "A/b") { _ in [.error("A.b", "\u{1B}[2Jx")] }
        #expect(error.error == "strata: A.b: \\u001b[2Jx\n")
    }

    /// JSON for a program keeps its value when a terminal shows it.
    @Test(.promise("M.57")) func jsonOnATerminalCanNotSteerIt() async throws {
        let reply = "{\"a\":\"\u{9B}2J\u{202E}é\"}"
        let (shown, _) = try await strata("call", "A/b", "--json", output: .terminal(columns: 80)) { _ in
            [.reply(reply)]
        }
        #expect(shown.output == "{\"a\":\"\\u009b2J\\u202eé\"}\n")
        let (piped, _) = try await strata("call", "A/b", "--json") { _ in [.reply(reply)] }
        #expect(piped.output == reply + "\n")
    }

    @Test(.promise("M.57")) func aModulesMessageForgesNoLine() async throws {
        let (run, _) = try await strata("call", "A/b") { _ in [.error("A.b", "no\nstrata: all is well\r\n\n{\"ok\":1}")]
        }
        #expect(run.error == "strata: A.b: no\n    strata: all is well\\u000d\n    \n    {\"ok\":1}\n")
        let (body, _) = try await strata("call", "A/b") { _ in [.reply("{\nstrata: all is well")] }
        #expect(!body.error.split(separator: "\n").contains("strata: all is well"), "\(body.error)")
    }

    @Test func anAnswerThatIsNoJSONIsAnError() async throws {
        let (run, _) = try await strata("call", "A/b") { _ in [.reply("{oops")] }
        #expect(run.output == "")
        #expect(run.status == 1)
    }
}
