import StrataCore
import Synchronization
import Testing

/// `strata monitor`: the frames that it chooses, and how they look.
@Suite(.timeLimit(.hang))
struct CommandMonitorTests {
    private static let modules =
        #"{"modules":[{"name":"Catalog"},{"name":"Notes"},{"name":"Storage"},{"name":"Session"}]}"#

    /// A call with its answers, a notification, and refused frames.
    private static let frames = [
        #"{"at":1000000,"kind":"call","from":"Notes","to":"Storage/get","callee":"Storage","id":7,"bytes":12}"#,
        #"{"at":1000100,"kind":"call","from":"operator","to":"Cart#3/add","callee":"Catalog","id":8,"bytes":2}"#,
        #"{"at":1000200,"kind":"broadcast","from":"Storage","to":"","name":"note.added","bytes":0}"#,
        #"{"at":1000300,"kind":"notice","from":"Storage","to":"Notes","name":"note.added","bytes":0}"#,
        #"{"at":1001500,"kind":"reply","from":"Storage","to":"Notes","id":7,"bytes":123456}"#,
        #"{"at":1001600,"kind":"report","from":"Notes","to":"Session","name":"session.left","code":"level-violation","bytes":1}"#,
        #"{"at":3001600,"kind":"error","from":"Catalog","to":"operator","id":8,"code":"Cart.full","bytes":0}"#,
        #"{"at":3001700,"kind":"call","from":"Notes","to":"Nope/act","code":"unknown-interface","bytes":0}"#,
    ]

    private func monitor(
        _ words: [String], columns: UInt16? = nil, frames: [String] = frames, colour: Bool = false
    ) async throws -> (run: CommandRun, asked: [FakeBus.Asked]) {
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { request in
            guard request.to == "bus/monitor" else { return [.reply(Self.modules)] }
            return frames.map { .partial($0) } + [.error("cancelled", "")]
        }
        defer { bus.close() }
        var environment = ["STRATA_SOCKET": bus.path]
        if !colour { environment["NO_COLOR"] = "1" }
        let run = try await CommandRun.of(
            ["monitor"] + words, environment: environment,
            output: columns.map { .terminal(columns: $0) } ?? .pipe)
        return (run, bus.asked)
    }

    /// Returns the times of the shown frames, in steps of 100 µs after the first second.
    private func shown(_ words: String...) async throws -> [Int64] {
        let run = try await monitor(words).run
        #expect(run.status == 0 && run.error == "", "\(run)")
        return try run.lines.compactMap { try JSON(parsing: $0)["at"]?.integer.map { ($0 - 1_000_000) / 100 } }
    }

    @Test(.promise("M.77")) func filtersAddUpAndTheValuesOfOneAreAlternatives() async throws {
        #expect(try await shown() == [0, 1, 2, 3, 15, 16, 20_016, 20_017])
        #expect(try await shown("--kind", "call,reply") == [0, 1, 15, 20_017])
        #expect(try await shown("--kind", "call", "--kind", "reply", "--from", "Notes") == [0, 20_017])
        #expect(try await shown("--errors") == [16, 20_016, 20_017])
        #expect(try await shown("--errors", "--kind", "error") == [20_016])
        #expect(try await shown("--from", "Storage") == [2, 3, 15])
        #expect(try await shown("--to", "Storage,Catalog") == [0, 1])
        #expect(try await shown("--module", "Catalog,Session") == [1, 16, 20_016])
        #expect(try await shown("--name", "note.*") == [2, 3])
        #expect(try await shown("--name", "*.left", "--name", "note.adde?") == [2, 3, 16])
    }

    /// An answer belongs to the action of its call, whichever peer sends it.
    @Test(.promise("M.77")) func anActionsAnswersComeWithItsCalls() async throws {
        #expect(try await shown("--action", "Storage/get") == [0, 15])
        #expect(try await shown("--action", "Cart/add") == [1, 20_016])
        #expect(try await shown("--action", "Cart", "--errors") == [20_016])
        #expect(try await shown("--action", "S*/g*") == [0, 15])
        #expect(try await shown("--action", "Stor/get").isEmpty)
    }

    @Test(
        .promise("M.77"),
        arguments: [
            (["--module", "Notes"], #"{"module":"Notes"}"#), (["--module", "Notes,Storage"], "{}"),
            (["--name", "note.added", "--bodies"], #"{"name":"note.added","bodies":true}"#),
            (["--name", "note.*"], "{}"),
            (["--module", "Notes", "--kind", "call", "--from", "Notes"], #"{"module":"Notes"}"#),
        ])
    func theBusChoosesWhereItCan(words: [String], body: String) async throws {
        #expect(try await monitor(words).asked.last?.body == body)
    }

    @Test(.promise("M.78")) func anAnswerSaysHowLongItTook() async throws {
        let took = try await monitor([]).run.lines.map { try JSON(parsing: $0)["microseconds"]?.integer }
        #expect(took == [nil, nil, nil, nil, 1_500, nil, 2_001_500, nil])
    }

    @Test(.promise("M.77")) func whatWasMissedIsToldWhereTheFrameIsNotWanted() async throws {
        let frames = [
            #"{"at":1,"kind":"call","from":"A","to":"B/c","bytes":0,"missed":4}"#,
            #"{"at":2,"kind":"notice","from":"A","to":"B","name":"n","bytes":0,"missed":2}"#,
        ]
        #expect(try await monitor(["--kind", "notice"], frames: frames).run.lines == [#"{"missed":4}"#, frames[1]])
        let person = try await monitor(["--kind", "notice"], columns: 80, frames: frames).run
        #expect(person.lines.prefix(2) == ["4 frames were missed here", "2 frames were missed here"])
        #expect(person.lines.count == 3)
    }

    @Test(.promise("M.78")) func columnsLineUpAtEightyColumns() async throws {
        let run = try await monitor([], columns: 80).run
        #expect(
            run.lines == [
                "00:00:01.000  call       Notes    → Storage/get                    12 B",
                "00:00:01.000  call       operator → Cart#3/add in Catalog           2 B",
                "00:00:01.000  broadcast  Storage  → *  note.added                   0 B",
                "00:00:01.000  notice     Storage  → Notes  note.added               0 B",
                "00:00:01.001  reply      Storage  → Notes  Storage/get         123456 B   1.5 ms",
                "00:00:01.001  report     Notes    → Session  session.left  level-violation  1 B",
                "00:00:03.001  error      Catalog  → operator  Cart#3/add  Cart.full  0 B   2.0 s",
                "00:00:03.001  call       Notes    → Nope/act  unknown-interface     0 B",
            ], "\(run.output)")
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test(.promise("M.78")) func wideTerminalsShowMicroseconds() async throws {
        let run = try await monitor([], columns: 160).run
        let arrows = Set(run.lines.map { $0.prefix { $0 != "→" }.count })
        #expect(run.lines.count == 8 && arrows == [37], "\(run.output)")
        // The column of sizes ends where each line's last character is, or that of its time.
        let sizes = Set(
            run.lines.map { line in line.ranges(of: " B").last.map { $0.upperBound.utf16Offset(in: line) } })
        #expect(sizes.count == 1, "\(run.output)")
        #expect(run.lines[4].hasPrefix("00:00:01.001500  reply") && run.lines[4].hasSuffix("123456 B   1.5 ms"))
    }

    @Test(.promise("6.70")) func descriptorsAreCounted() async throws {
        let frames = [
            #"{"at":1,"kind":"call","from":"A","to":"B/c","descriptors":1,"bytes":0}"#,
            #"{"at":2,"kind":"report","from":"A","to":"B","name":"n","descriptors":16,"bytes":0}"#,
        ]
        let lines = try await monitor([], columns: 80, frames: frames).run.lines
        #expect(lines.map { $0.contains("B/c  +1 descriptor  ") } == [true, false], "\(lines)")
        #expect(lines.map { $0.contains("n  +16 descriptors  ") } == [false, true], "\(lines)")
    }

    @Test(.promise("M.78")) func kindsAndModulesHaveColours() async throws {
        let run = try await monitor([], columns: 80, colour: true).run
        #expect(run.lines[0].contains("\u{1B}[34mcall\u{1B}[0m"))
        #expect(
            run.lines[6].contains("\u{1B}[31merror\u{1B}[0m") && run.lines[6].contains("\u{1B}[31mCart.full\u{1B}[0m"))
        // A module has one colour, in each line and in each run.
        let notes = run.lines.flatMap { $0.matches(of: /\u{1B}\[(\d+)mNotes\u{1B}/).map { String($0.1) } }
        #expect(notes.count == 5 && Set(notes).count == 1, "\(run.output)")
    }

    @Test(arguments: [
        (["--kind", "rply"], "Did you mean reply?"), (["--name", ""], "--name has 1 to 256 bytes"),
        (["--kind", "cancel"], "--kind is one of call, open, reply, error, broadcast, report, notice"),
    ])
    func whatCannotBeIsBadUsage(words: [String], message: String) async throws {
        let (run, asked) = try await monitor(words)
        #expect(run.status == 2 && run.error.contains(message), "\(run.error)")
        #expect(asked.isEmpty)
    }

    /// Another broker numbers its calls from the start, so its answers belong to none of the
    /// earlier calls.
    @Test(.promise("M.79")) func aBusThatIsBackIsMonitoredOn() async throws {
        let folder = try TemporaryFolder()
        let turn = Mutex(0)
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { request in
            guard request.to == "bus/monitor" else { return [.reply(Self.modules)] }
            let isFirst = turn.withLock { turn in
                defer { turn += 1 }
                return turn == 0
            }
            return isFirst
                ? [.partial(Self.frames[0]), .close] : [.partial(Self.frames[4]), .error("shutting-down", "the end")]
        }
        defer { bus.close() }
        let run = try await CommandRun.of(["monitor"], environment: ["STRATA_SOCKET": bus.path])
        #expect(run.status == 0 && run.lines == [Self.frames[0], Self.frames[4]], "\(run)")
        let said = run.error.split(separator: "\n")
        #expect(said.count == 3 && said[1].hasSuffix(" is back") && said[2] == "strata: the app ends", "\(said)")
    }

    @Test(.promise("M.79")) func aBusThatStaysAwayEndsIt() async throws {
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { request in
            request.to == "bus/monitor" ? [.end] : [.reply(Self.modules)]
        }
        defer { bus.close() }
        let run = try await CommandRun.of(["monitor", "--wait", "20ms"], environment: ["STRATA_SOCKET": bus.path])
        #expect(run.status == 3 && run.error.contains("did not return within 20 ms: no bus at "), "\(run.error)")
    }

    @Test func eachModuleThatIsNotThereGetsTheNearest() async throws {
        let run = try await monitor(["--module", "Notes,Storrage", "--to", "Sesion"]).run
        #expect(
            run.error == "No module here is named Storrage.\nDid you mean Storage?\n"
                + "No module here is named Sesion.\nDid you mean Session?\n")
    }
}
