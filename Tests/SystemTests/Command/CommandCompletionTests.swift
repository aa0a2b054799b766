import Glibc
import StrataCore
import StrataTesting
import Testing

/// What shells offer while a command is typed.
@Suite(.timeLimit(.hang))
struct CommandCompletionTests {
    private static let script: FakeBus.Script = { asked in
        switch asked.to {
        case "bus/modules": [.reply(#"{"modules":[{"name":"Notes"},{"name":"Storage"}]}"#)]
        case "bus/names": [.reply(#"{"events":["app.reload","lid.shut"],"notifications":["note.added"]}"#)]
        case "bus/interfaces":
            [
                .reply(
                    #"{"interfaces":[{"name":"Notes","actions":[{"name":"add"},{"name":"list"}],"urls":[{"host":"notes","path":"/show/:id","to":"Notes/show"},{"host":"notes","path":"/all","to":"Notes/list"}]},{"name":"Open","actions":[]}]}"#
                )
            ]
        default: [.error("unknown-action", asked.to)]
        }
    }

    /// Returns what bash offers for the last word, with a bus that knows some. The bus has half a
    /// second to answer, so a busy machine may need some tries.
    private func offered(
        _ words: String..., socket: String, _ variables: [String: String] = [:]
    ) throws -> Set<String> {
        for _ in 0..<20 {
            let offered = try BashCompletion.offered(
                words, variables.merging(["STRATA_SOCKET": socket]) { given, _ in given })
            if !offered.isEmpty { return offered }
        }
        return []
    }

    private func onBus(_ test: (String) throws -> Void) throws {
        let folder = try StrataTesting.TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock", schemes: ["shop"], script: Self.script)
        defer { bus.close() }
        try test(bus.path)
    }

    @Test func commandsAndOptionsAreOffered() throws {
        #expect(try offered("strata", "mon", socket: "/nowhere") == ["monitor"])
        #expect(try offered("strata", "emit", "x", "--po", socket: "/nowhere") == ["--policy"])
        #expect(try offered("strata", "emit", "x", "--policy", "a", socket: "/nowhere") == ["all", "any"])
    }

    @Test func namesOfTheBusAreOffered() throws {
        try onBus { socket throws in
            #expect(try offered("strata", "stop", "", socket: socket) == ["Notes", "Storage"])
            #expect(try offered("strata", "run", "N", socket: socket) == ["Notes"])
            #expect(try offered("strata", "call", "", socket: socket) == ["Notes/add", "Notes/list", "Open/"])
            #expect(try offered("strata", "call", "Notes/l", socket: socket) == ["Notes/list"])
            #expect(try offered("strata", "emit", "", socket: socket) == ["app.reload", "lid.shut"])
            #expect(try offered("strata", "notify", "n", socket: socket) == ["note.added"])
            #expect(try offered("strata", "report", "N", socket: socket) == ["Notes"])
            #expect(try offered("strata", "observe", "n", socket: socket) == ["note.added"])
            #expect(try offered("strata", "wait", "n", socket: socket) == ["note.added"])
            #expect(try offered("strata", "monitor", "--name", "l", socket: socket) == ["lid.shut"])
            #expect(try offered("strata", "monitor", "--module", "S", socket: socket) == ["Storage"])
        }
    }

    /// The line's own choice of the bus counts.
    @Test func appsAreOfferedAndChooseTheBus() throws {
        let folder = try StrataTesting.TemporaryFolder()
        let path = "\(folder.path)/strata"
        try #require(mkdir(path, 0o700) == 0)
        let buses = ["one", "two"].map { FakeBus(at: "\(path)/\($0).sock", script: Self.script) }
        defer { for bus in buses { bus.close() } }
        let variables = ["XDG_RUNTIME_DIR": folder.path]
        #expect(try offered("strata", "ps", "--app", "t", socket: "/nowhere", variables).contains("two"))
        #expect(
            try offered("strata", "stop", "--app", "two", "N", socket: "/nowhere", variables) == ["Notes"])
        #expect(buses[0].asked.isEmpty && !buses[1].asked.isEmpty)
    }

    @Test func urlsAreOfferedThoughBashSplitsThem() throws {
        try onBus { socket throws in
            let all: Set = ["shop://notes/show/", "shop://notes/all"]
            #expect(try offered("strata", "open", "", socket: socket) == all)
            #expect(try offered("strata", "open", "sh", socket: socket) == all)
            #expect(try offered("strata", "can-open", "shop", ":", "//notes/s", socket: socket) == ["//notes/show/"])
            #expect(try offered("strata", "open", "shop", ":", socket: socket) == ["//notes/show/", "//notes/all"])
        }
    }

    /// What a rest and the host `*` stand for can't be offered.
    @Test func urlsEndBeforeARest() throws {
        let folder = try StrataTesting.TemporaryFolder()
        let urls = [("*", "/*all"), ("files", "/all/*path"), ("*s", "/:id")].map { host, path in
            #"{"host":"\#(host)","path":"\#(path)","to":"A/a"}"#
        }
        let bus = FakeBus(at: "\(folder.path)/bus.sock", schemes: ["shop"]) {
            let row = #"{"name":"A","actions":[],"urls":[\#(urls.joined(separator: ","))]}"#
            return [$0.to == "bus/interfaces" ? .reply(#"{"interfaces":[\#(row)]}"#) : .error("unknown-action", $0.to)]
        }
        defer { bus.close() }
        #expect(try offered("strata", "open", "", socket: bus.path) == ["shop://", "shop://files/all/"])
    }

    /// Bash expands what is offered. So a name with a special meaning to a shell isn't offered.
    @Test(
        .promise("M.57"),
        arguments: [
            "$(touch${IFS}HERE)", "`touch${IFS}HERE`", "'", "\"", "a\ntouch HERE", "*", "~", "a;b", "{a,b}", "$HOME",
        ])
    func namesThatAShellWouldReadAreNotOffered(name: String) throws {
        let folder = try StrataTesting.TemporaryFolder()
        let mark = "\(folder.path)/mark"
        let names = JSON.array([.string(name.replacing("HERE", with: mark)), "plain.name"]).description
        let bus = FakeBus(at: "\(folder.path)/bus.sock") {
            [.reply($0.to == "bus/names" ? "{\"events\":\(names),\"notifications\":[]}" : "{}")]
        }
        defer { bus.close() }
        #expect(try offered("strata", "emit", "", socket: bus.path) == ["plain.name"])
        #expect(access(mark, F_OK) != 0, "the name was executed")
    }

    /// Asks as the scripts do. zsh would take a bare colon for the end of a name.
    @Test(arguments: [("zsh", #"shop\://notes/all"#), ("fish", "shop://notes/all")])
    func urlsAreWholeForEachShell(shell: String, url: String) throws {
        try onBus { socket throws in
            var offered: [String] = []
            for _ in 0..<20 where offered.isEmpty {
                let asked = try ChildProgram(
                    try BuiltExecutable.path("strata"),
                    ["---completion", "open", "--", "positional@0", "2", "0", "strata", "open", ""],
                    environment: ["STRATA_SOCKET": socket, "SAP_SHELL": shell])
                #expect(try asked.wait() == .exit(0))
                // For zsh the last line is a space.
                offered = asked.outputText.split(separator: "\n").map(String.init).filter { $0 != " " }
            }
            #expect(offered.contains(url) && offered.count == 2, "\(offered)")
        }
    }

    /// Without a person who types, fish knows no place of the cursor.
    @Test(
        .enabled(if: access("/usr/bin/fish", X_OK) == 0), arguments: ["strata restart ", "strata stop --timeout 1s N"])
    func fishOffersNamesToProgramsToo(line: String) throws {
        try onBus { socket throws in
            let folder = String(try BuiltExecutable.path("strata").dropLast("/strata".count))
            let fish = try ChildProgram(
                "/usr/bin/fish", ["--no-config", "-c", "strata completions fish | source; complete -C '\(line)'"],
                environment: ["STRATA_SOCKET": socket, "PATH": "\(folder):/usr/bin:/bin", "HOME": "/nonexistent"])
            #expect(try fish.wait() == .exit(0))
            let all = line.hasSuffix(" ") ? ["Notes", "Storage"] : ["Notes"]
            #expect(fish.outputText.split(separator: "\n").map(String.init) == all, "\(fish.outputText)")
        }
    }

    @Test func theBusIsTheOneThatTheLineNames() throws {
        try onBus { socket throws in
            let offered = try offered("strata", "stop", "--socket", "'\(socket)'", "N", socket: "/nowhere")
            #expect(offered == ["Notes"])
        }
    }

    @Test func withoutABusNothingIsOfferedOrSaid() throws {
        for command in ["stop", "call", "open", "emit", "notify", "run"] {
            let offered = try BashCompletion.offered(["strata", command, ""], ["STRATA_SOCKET": "/nowhere"])
            #expect(offered.filter { !$0.hasPrefix("-") }.isEmpty)
        }
    }

    @Test func aBusThatDoesNotAnswerHoldsUpNobody() throws {
        let folder = try StrataTesting.TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { _ in [] }
        defer { bus.close() }
        let begun = ContinuousClock.now
        let offered = try BashCompletion.offered(["strata", "call", ""], ["STRATA_SOCKET": bus.path])
        #expect(offered.filter { !$0.hasPrefix("-") }.isEmpty)
        // Without a limit of its own, it would have that of a request: 30 s and more.
        #expect(ContinuousClock.now - begun < .seconds(30))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func eachShellHasAScript(shell: String) async throws {
        let run = try await CommandRun.of(["completions", shell])
        #expect(run.status == 0)
        #expect(run.lines.count > 100 && run.output.contains("can-open"))
    }

    @Test func anotherShellIsBadUsage() async throws {
        let run = try await CommandRun.of(["completions", "tcsh"])
        #expect(run.status == 2)
        #expect(run.error.contains("bash") && run.error.contains("fish"), "\(run.error)")
    }
}
