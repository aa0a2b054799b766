import Foundation
import StrataCore
import StrataReplay
import StrataTesting
import TestSupport
import Testing

/// `strata replay`, on recordings that the test writes, of a module in Python.
@Suite(.timeLimit(.hang))
struct CommandReplayTests {
    private let folder: StrataTesting.TemporaryFolder

    init() throws { folder = try StrataTesting.TemporaryFolder() }

    private static let manifest = """
        app: shop
        settings: {word: blue}
        modules:
          Store: {start: manual, provides: [Store], reports: {Notes: [up]}}
          Notes: {level: basic, run: [notes.py], folder: data, env: {MARK: m}, provides: [Notes], observes: [changed]}
        """

    /// Adds one thing of each kind: an answer, a stream, requests, notifications, an observation, a crash.
    private static let program = """
        #!/usr/bin/env python3
        import os
        import strata_bus

        module = strata_bus.Module("Notes")
        seen = []

        @module.observe("changed")
        def changed(notice): seen.append(notice.params)

        @module.action("Notes/seen")
        def list(call): return seen

        @module.action("Notes/place")
        def place(call): return [os.environ["MARK"], os.path.basename(os.getcwd()), call.params]

        @module.action("Notes/word")
        def word(call): return module.context.settings["word"]

        @module.action("Notes/copy")
        async def copy(call):
            module.broadcast("copied", call.params)
            return await module.call("Store/put", call.params)

        @module.action("Notes/count", stream=True)
        async def count(call):
            for number in range(call.params): yield number

        @module.action("Notes/crash")
        def crash(call):
            print("going down", flush=True)
            os.abort()

        module.main()
        """

    /// Writes the app, and a recording of these frames.
    private func write(_ frames: [String], program: String = program) throws {
        try folder.write("strata.yaml", Self.manifest)
        try folder.write("data/x")
        try folder.write("notes.py", program, mode: 0o755)
        let heading = #"{"kind":"recording","app":"shop","bodies":true}"#
        let blocks = ([heading] + frames).flatMap { CaptureBlock.packet(Array($0.utf8), at: 1) }
        try? FileManager.default.removeItem(atPath: "\(folder.path)/r")
        try Data(CaptureBlock.beginning(program: "test", bus: "shop") + blocks).write(
            to: URL(fileURLWithPath: "\(folder.path)/r"))
    }

    private func replay(_ words: String...) throws -> (end: ChildProgram.End, lines: [JSON], said: String) {
        let child = try ChildProgram(
            try BuiltExecutable.path("strata"),
            ["replay", "\(folder.path)/r", "--manifest", "\(folder.path)/strata.yaml"] + words,
            environment: [
                "PYTHONPATH": Repository.path("clients/python"), "PYTHONDONTWRITEBYTECODE": "1",
                "PATH": "/usr/local/bin:/usr/bin:/bin",
            ])
        let end = try child.wait()
        let lines = child.outputText.split(separator: "\n").compactMap { try? JSON(parsing: Array($0.utf8)) }
        return (end, lines, child.outputText)
    }

    private static func call(_ id: Int, _ to: String, _ body: String = "null", from: String = "Cart") -> String {
        #"{"at":\#(id),"kind":"call","from":"\#(from)","to":"\#(to)","callee":"Notes","id":\#(id),"bytes":9,"body":\#(body)}"#
    }

    private static func reply(_ id: Int, _ body: String = "null", more: Bool = false) -> String {
        #"{"at":1,"kind":"reply","from":"Notes","to":"Cart","id":\#(id),\#(more ? #""more":true,"# : "")"bytes":9,"body":\#(body)}"#
    }

    private static let setUp = #"{"env":"release","settings":{"word":"red"},"launchOptions":{}}"#

    /// What `Notes/copy` led to.
    private static let copied = [
        call(1, "Notes/copy", #"{"a":1}"#),
        #"{"kind":"broadcast","from":"Notes","to":"","name":"copied","bytes":7,"body":{"a":1}}"#,
        #"{"kind":"call","from":"Notes","to":"Store/put","callee":"Store","id":2,"bytes":7,"body":{"a":1}}"#,
        #"{"kind":"reply","from":"Store","to":"Notes","id":2,"bytes":1,"body":4}"#, reply(1, "4"),
    ]

    @Test(.promise("M.167")) func aModuleThatDoesTheSameHasNoDifference() throws {
        try write(
            Self.copied + [
                #"{"kind":"notice","from":"Store","to":"Notes","name":"changed","via":"broadcast","bytes":1,"body":5}"#,
                #"{"kind":"report","from":"Store","to":"Notes","name":"changed","bytes":1,"body":6}"#,
                #"{"kind":"notice","from":"Store","to":"Notes","name":"changed","via":"report","bytes":1,"body":6}"#,
                #"{"kind":"reply","from":"Notes","to":"bus","bytes":0}"#,
                Self.call(3, "Notes/seen"), Self.reply(3, "[5,6]"),
                Self.call(4, "Notes/count", "2"), Self.reply(4, "0", more: true), Self.reply(4, "1", more: true),
                Self.reply(4), Self.call(5, "Notes/place", "7"), Self.reply(5, #"["m","data",7]"#),
                Self.call(6, "Notes/word"), Self.reply(6, #""blue""#),
                Self.call(7, "Notes/nope"),
                #"{"kind":"error","from":"Notes","to":"Cart","id":7,"code":"unknown-action","bytes":0}"#,
            ])
        let run = try replay("Notes")
        #expect(run.end == .exit(0), "\(run.said)")
        #expect(
            run.lines == [["starts": 1, "answers": 7, "requests": 2, "notices": 2, "unsent": 0, "differences": 0]],
            "\(run.said)")
    }

    @Test(.promise("M.167")) func eachDifferenceIsTold() throws {
        let changed = Self.program.replacingOccurrences(of: #""Store/put", call.params"#, with: #""Store/put", 9"#)
            .replacingOccurrences(of: "return seen", with: "return 1")
            .replacingOccurrences(of: "range(call.params)", with: "range(1)")
            .replacingOccurrences(of: #"module.broadcast("copied""#, with: #"module.broadcast("other""#)
        try write(
            Self.copied + [
                Self.call(3, "Notes/seen"), Self.reply(3, "[]"), Self.call(4, "Notes/count", "2"),
                Self.reply(4, "0", more: true), Self.reply(4, "1", more: true), Self.reply(4),
            ], program: changed)
        let run = try replay("Notes", "--patience", "2s")
        #expect(run.end == .exit(1), "\(run.said)")
        let told = run.lines.filter { $0["difference"] != nil }
        #expect(
            told.map { $0["difference"]?.string } == ["newRequest", "request", "missingRequest", "answer", "answer"],
            "\(run.said)")
        #expect(told.first { $0["difference"] == "request" }?["replayed"] == "sent 9")
        let answer = try #require(told.first { $0["difference"] == "answer" })
        #expect(answer["recorded"] == "reply []" && answer["replayed"] == "reply 1")
        #expect(answer["what"] == "Notes/seen from Cart" && answer["at"] == 3)
        #expect(run.lines.last?["differences"] == 5)
    }

    @Test(.promise("M.167")) func membersMayBeLeftOutOfTheComparison() throws {
        try write([Self.call(1, "Notes/word"), Self.reply(1, #""red""#)])
        #expect(try replay("Notes").end == .exit(1))
        let program = Self.program.replacingOccurrences(
            of: #"return module.context.settings["word"]"#, with: #"return {"at": os.getpid(), "x": [{"at": 1}]}"#)
        try write([Self.call(1, "Notes/word"), Self.reply(1, #"{"x":[{"at":2}],"at":1}"#)], program: program)
        #expect(try replay("Notes").end == .exit(1))
        #expect(try replay("Notes", "--ignore", "at").end == .exit(0))
    }

    @Test(.promise("M.167")) func aRecordedCrashIsPlayedAgain() throws {
        let crash = [
            Self.call(1, "module/setUp", Self.setUp, from: "bus"), Self.reply(1),
            Self.call(2, "module/initialize", from: "bus"), Self.reply(2),
            Self.call(3, "Notes/crash"),
            #"{"kind":"error","from":"bus","to":"Cart","id":3,"code":"died","bytes":0}"#,
            Self.call(4, "module/setUp", Self.setUp, from: "bus"), Self.reply(4), Self.call(5, "Notes/word"),
            Self.reply(5, #""red""#),
        ]
        // The client answers unknown-action for a step that the program doesn't have.
        let steps = crash.map {
            $0.replacingOccurrences(
                of: #"{"at":1,"kind":"reply","from":"Notes","to":"Cart","id":2,"bytes":9,"body":null}"#,
                with: #"{"kind":"error","from":"Notes","to":"bus","id":2,"code":"unknown-action","bytes":0}"#)
        }
        try write(steps)
        var run = try replay("Notes")
        let end = try #require(run.lines.first { $0["end"] != nil }, "\(run.said)")
        #expect(end["end"] == "signal 6" && end["recorded"] == true, "\(end)")
        #expect(end["open"] == ["Notes/crash"] && end["lines"]?.array?.first == "going down", "\(end)")
        #expect(run.lines.last?["starts"] == 2)
        try write(steps, program: Self.program.replacingOccurrences(of: "os.abort()", with: "return 1"))
        run = try replay("Notes", "--patience", "2s")
        #expect(run.end == .exit(1))
        #expect(run.lines.contains { $0["difference"] == "end" && $0["replayed"] == "goes on" }, "\(run.said)")
    }

    @Test(.promise("M.167")) func anEarlierDeathThanRecordedIsADifference() throws {
        let died = #"{"kind":"error","from":"bus","to":"Cart","id":9,"code":"died","bytes":0}"#
        try write([Self.call(1, "Notes/crash"), Self.reply(1), Self.call(9, "Notes/crash"), died])
        let run = try replay("Notes")
        #expect(run.end == .exit(1))
        #expect(run.lines.contains { $0["end"] == "signal 6" && $0["recorded"] == false }, "\(run.said)")
    }

    /// A module that asks for something new gets an error, and goes on.
    @Test(.promise("M.167")) func aNewRequestHoldsUpNothing() throws {
        let program = Self.program.replacingOccurrences(
            of: "def word(call): return module.context.settings[\"word\"]",
            with: """
                async def word(call):
                    try: await module.call("Store/new")
                    except strata_bus.BusError as error: return error.code
                """)
        try write([Self.call(1, "Notes/word"), Self.reply(1, #""unavailable""#)], program: program)
        let run = try replay("Notes", "--patience", "2s")
        #expect(run.end == .exit(1))
        #expect(run.lines.compactMap { $0["difference"]?.string } == ["newRequest"], "\(run.said)")
    }

    /// The stream is longer than the first credit, and what the module measures is never the same.
    @Test(.promise("M.167")) func streamsToTheModuleKeepToItsCredit() throws {
        let program = Self.program.replacingOccurrences(
            of: "def word(call): return module.context.settings[\"word\"]",
            with: """
                async def word(call):
                    return [number async for number in module.stream("Store/all", credit=2)]
                """)
        let numbers = (0..<9).map {
            #"{"kind":"reply","from":"Store","to":"Notes","id":2,"more":true,"bytes":1,"body":\#($0)}"#
        }
        try write(
            [
                Self.call(1, "Notes/word"),
                #"{"kind":"call","from":"Notes","to":"Store/all","callee":"Store","id":2,"bytes":0}"#,
            ] + numbers + [
                #"{"kind":"reply","from":"Store","to":"Notes","id":2,"bytes":0}"#,
                Self.reply(1, "[0,1,2,3,4,5,6,7,8]"), Self.call(3, "module/metrics", from: "bus"),
                #"{"kind":"reply","from":"Notes","to":"bus","id":3,"bytes":2,"body":{}}"#,
            ], program: program)
        let run = try replay("Notes", "--patience", "20s")
        #expect(run.end == .exit(0) && run.lines.last?["answers"] == 2, "\(run.said)")
    }

    @Test(.promise("M.167")) func anEndThatIsNotInTheRecordingIsADifference() throws {
        try write([Self.call(1, "Notes/crash"), Self.reply(1), Self.call(2, "Notes/word"), Self.reply(2)])
        let run = try replay("Notes")
        #expect(run.end == .exit(1))
        #expect(run.lines.contains { $0["end"] == "signal 6" && $0["recorded"] == false }, "\(run.said)")
    }

    @Test(.promise("M.167")) func aCallThatWasTakenBackIsTakenBack() throws {
        let program = Self.program.replacingOccurrences(
            of: #"def word(call): return module.context.settings["word"]"#,
            with: """
                async def word(call):
                    module.broadcast("begun")
                    try: await asyncio.Event().wait()
                    except asyncio.CancelledError:
                        seen.append("cancelled")
                        done.set()
                        raise
                """
        ).replacingOccurrences(
            of: "def list(call): return seen",
            with: """
                async def list(call):
                    await done.wait()
                    return seen
                """
        ).replacingOccurrences(of: "seen = []", with: "import asyncio\nseen, done = [], asyncio.Event()")
        try write(
            [
                Self.call(1, "Notes/word"),
                #"{"kind":"broadcast","from":"Notes","to":"","name":"begun","bytes":0}"#,
                #"{"kind":"error","from":"bus","to":"Cart","id":1,"code":"cancelled","bytes":0}"#,
                Self.call(2, "Notes/seen"), Self.reply(2, #"["cancelled"]"#),
            ], program: program)
        let run = try replay("Notes")
        #expect(run.end == .exit(0), "\(run.said)")
    }

    @Test(.promise("M.167")) func whatTheRecordingLacksIsCountedAndSaid() throws {
        try write([
            #"{"at":1,"kind":"call","missed":4,"from":"A","to":"Notes/seen","callee":"Notes","id":1,"bytes":99999,"omitted":"size"}"#,
            Self.reply(1, "[]"), Self.call(2, "Notes/seen"), Self.reply(2, "[]"),
            #"{"at":2,"kind":"call","from":"A","to":"Notes/seen","callee":"Notes","id":3,"descriptors":1,"bytes":1,"body":7}"#,
            Self.reply(3, "[7]"),
        ])
        let run = try replay("Notes")
        #expect(run.end == .exit(0) && run.lines.last?["unsent"] == 2, "\(run.said)")
        #expect(run.said.contains("4 frames are missing"), "\(run.said)")
    }

    @Test(.promise("M.167")) func whatCannotBePlayedIsRefused() throws {
        try write([Self.call(1, "Notes/seen"), Self.reply(1, "[]")])
        var run = try replay("Note")
        #expect(run.end == .exit(2) && run.said.contains("did you mean Notes?"), "\(run.said)")
        run = try replay("Cart")
        #expect(run.end == .exit(2) && run.said.contains("has no row Cart"), "\(run.said)")
        run = try replay("Notes", "--", "/bin/true")
        #expect(run.end == .exit(3), "\(run.said)")
        #expect(run.said.contains("doesn't connect; its process ended: exit code 0"), "\(run.said)")
        run = try replay("Notes", "--", "no-such-program")
        #expect(run.end == .exit(2) && run.said.contains("isn't found in PATH"), "\(run.said)")
        try WrittenProgram.write("nonsense, and more of it", to: "\(folder.path)/r", mode: 0o600)
        run = try replay("Notes")
        #expect(run.end == .exit(2) && run.said.contains("it isn't a pcapng file"), "\(run.said)")
        try WrittenProgram.write("", to: "\(folder.path)/r", mode: 0o600)
        run = try replay("Notes")
        #expect(run.end == .exit(2) && run.said.contains("no frame went to or came from Notes"), "\(run.said)")
    }
}
