import Foundation
import Glibc
import StrataLoop
import StrataTesting
import Testing

/// `strata check` asks programs to describe themselves.
@Suite(.timeLimit(.hang))
struct CommandDescribeTests {
    /// Checks a folder with a manifest of these rows, and programs that print a hello.
    private func check(
        _ rows: String, calls: String = "any", hellos: [String: String] = [:], scripts: [String: String] = [:],
        _ more: String...
    ) async throws -> CommandRun {
        let folder = try TemporaryFolder()
        let path = try folder.file("strata.yaml", "app: test\ncalls: \(calls)\nmodules:\n\(rows)\n")
        var programs = scripts
        for (name, hello) in hellos {
            let text = "{\"protocol\":1,\"module\":\"X\"\(hello.isEmpty ? "" : ",")\(hello)}"
            programs[name] = "[ \"$1\" = --describe ] && echo '\(text)'"
        }
        for (name, text) in programs {
            chmod(try folder.file(name, "#!/bin/sh\n\(text)\n"), 0o755)
        }
        return try await CommandRun.of(["check", path] + more, environment: ["PATH": "/usr/bin:/bin"])
    }

    /// Returns the errors, each without the file's name and its place in a list.
    private func problems(_ run: CommandRun) -> [String] {
        run.error.split(separator: "\n").filter { !$0.contains(": advice: ") }.map(stripped)
    }

    /// Returns `modules.A.run: …` for `strata.yaml:4: modules.A.run[0]: …`.
    private func stripped(_ line: Substring) -> String {
        String(line.drop { $0 != ":" }.drop { $0 != " " }.dropFirst()).replacing(/\[[0-9]+\]/, with: "")
    }

    @Test(.promise("I.15", "M.52")) func realModulesAreComparedWithTheirRows() async throws {
        let fixture = try BuiltExecutable.path("StrataFixture")
        let good = try await check("  Base: {run: [\(fixture)], provides: [Base], urls: {x/go: Base/echo}}")
        #expect(good.status == 0 && problems(good) == [], "\(good.error)")
        #expect(good.lines.last?.hasSuffix("\"modules\":1,\"errors\":0,\"advice\":2}") == true)
        let bad = try await check("  Base: {run: [\(fixture)], provides: [Basis, Base], urls: {x/go: Base/eco}}")
        #expect(bad.status == 2)
        #expect(
            problems(bad) == [
                "modules.Base.provides: the module lacks the interface Basis; it has Base",
                "modules.Base.urls.x/go: x/go leads to Base/eco, and the module has no such action; did you mean echo?",
            ])
        #expect(bad.lines.count == 5)
        let unasked = try await check("  Base: {run: [\(fixture)], provides: [Basis]}", "--static")
        #expect(unasked.status == 0)
    }

    /// Each program waits until all have begun, so one that was asked alone would be silent for 5 s.
    @Test func programsAreAskedSideBySide() async throws {
        let folder = try TemporaryFolder()
        let names = (1...8).map { "M\($0)" }
        let rows = names.map { "  \($0): {run: [\($0)]}\n" }.joined()
        let path = try folder.file("strata.yaml", "app: test\nmodules:\n\(rows)")
        for name in names {
            let text = """
                #!/bin/sh
                echo > \(folder.path)/\(name).begun
                while :; do set -- \(folder.path)/*.begun; [ $# -lt 8 ] || break; done
                echo '{"protocol":1,"module":"\(name)","interfaces":{"\(name)":{}}}'
                """
            chmod(try folder.file(name, text), 0o755)
        }
        let run = try await CommandRun.of(["check", path], environment: ["PATH": "/usr/bin:/bin"])
        #expect(run.status == 0)
        for name in names { #expect(run.error.contains("the module provides the interface \(name),"), "\(run.error)") }
    }

    /// The kernel counts what the command reads. A look at `/proc` for leftovers takes a few reads, or
    /// some for each process of the machine, which are counted here too.
    @Test func leftoversAreLookedForOnceForEachProgram() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("strata.yaml", "app: test\nmodules:\n  A: {run: [a]}\n")
        chmod(try folder.file("a", "#!/bin/sh\necho '{\"protocol\":1,\"module\":\"A\"}'\n"), 0o755)
        func reads(_ process: String) throws -> Int {
            let counts = try String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)
            let line = try #require(counts.split(separator: "\n").first { $0.hasPrefix("syscr: ") })
            return try #require(Int(line.dropFirst("syscr: ".count)))
        }
        func readsOfCommand(_ words: String...) throws -> Int {
            let command = try ChildProgram(BuiltExecutable.path("strata"), ["check", path] + words)
            var end = siginfo_t()
            try #require(waitid(P_PID, id_t(command.pid), &end, WEXITED | WNOWAIT) == 0)
            let count = try reads("\(command.pid)")
            #expect(try command.wait() == .exit(0), "\(command.outputText)")
            return count
        }
        let before = try reads("thread-self")
        _ = ProcessFiles.children()
        let look = try reads("thread-self") - before
        let more = try readsOfCommand() - readsOfCommand("--static")
        // Five looks, while other tests start processes; and the program's output.
        #expect(more < 15 * look + 60, "\(more) reads for one program, and \(look) for a look at /proc")
    }

    /// Returns the process ids that the programs wrote down and that still exist.
    private func left(_ file: String) throws -> [Int32] {
        let pids = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").compactMap { Int32($0) }
        #expect(!pids.isEmpty)
        return pids.filter { kill($0, 0) == 0 }
    }

    /// Returns a script that leaves two generations of processes, each in a session of its own.
    private func leaving(_ file: String, then: String) -> String {
        "setsid sh -c 'echo $$ >> \(file); setsid sleep 600 & echo $! >> \(file); exec sleep 600' > /dev/null 2>&1 &\n"
            + "while [ ! -s \(file) ] || [ $(wc -l < \(file)) -lt 2 ]; do :; done\n" + then
    }

    @Test(.promise("M.56"), arguments: ["check", "why", "graph"]) func nothingOfAProgramIsLeft(command: String)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = try folder.file(
            "strata.yaml", "app: test\nmodules:\n  A: {run: [a], provides: [A]}\n  B: {run: [b], level: topout}\n")
        let file = "\(folder.path)/pids"
        chmod(
            try folder.file("a", "#!/bin/sh\n" + leaving(file, then: "echo '{\"protocol\":1,\"module\":\"A\"}'\n")),
            0o755)
        chmod(try folder.file("b", "#!/bin/sh\n" + leaving(file, then: "exit 7\n")), 0o755)
        let words =
            switch command {
            case "why": ["why", "B", "A/x", "--manifest", path]
            case "graph": ["graph", "--describe", path]
            default: ["check", path]
            }
        let run = try await CommandRun.of(words, environment: ["PATH": "/usr/bin:/bin"])
        #expect(try left(file) == [], "\(run.error)")
    }

    @Test(.promise("M.56")) func nothingIsLeftWhereASignalEndsIt() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("strata.yaml", "app: test\nmodules:\n  A: {run: [a]}\n")
        let (file, ready) = ("\(folder.path)/pids", "\(folder.path)/ready")
        mkfifo(ready, 0o600)
        let text = "#!/bin/sh\necho $$ > \(file).own\n" + leaving(file, then: "echo > \(ready)\nexec sleep 600\n")
        chmod(try folder.file("a", text), 0o755)
        let run = try await CommandRun.of(["check", path], environment: ["PATH": "/usr/bin:/bin"]) { pid in
            let descriptor = open(ready, O_RDONLY)
            close(descriptor)
            kill(pid, SIGINT)
        }
        #expect(run.isSignalled && run.status == SIGINT)
        #expect(try left(file) == [] && left("\(file).own") == [])
    }

    /// Processes that existed before must not be killed by the command.
    @Test(.promise("M.56")) func childrenOfAnEarlierProgramStay() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("strata.yaml", "app: test\nmodules:\n  A: {run: [a]}\n")
        chmod(try folder.file("a", "#!/bin/sh\nexit 1\n"), 0o755)
        let shell = try ChildProgram(
            "/bin/sh",
            [
                "-c",
                "sleep 600 > /dev/null 2>&1 & echo $!; exec '\(CommandRun.executable.path)' check \(path) > /dev/null 2>&1",
            ])
        #expect(try shell.wait() == .exit(0))
        let pid = try #require(Int32(shell.outputText.split(separator: "\n").first ?? ""))
        #expect(kill(pid, SIGKILL) == 0, "it is gone")
    }

    @Test func levelsInterfacesAndURLsOfOthersAreTold() async throws {
        let run = try await check(
            """
              A: {run: [a], provides: [A], urls: {h/x/:y: A/one}}
              B: {run: [b], level: middle}
              C: {run: [c], level: middle}
            """,
            hellos: [
                "a": #""level":"topout","interfaces":{"A":{"instances":"multiple","actions":{"one":{}}}}"#,
                "b": #""interfaces":{"ARouter":{}},"urls":[{"host":"h","path":"/x/:z","to":"A/one"}]"#,
                "c": #""interfaces":{"C":{}},"urls":[{"host":"h","path":"/c","to":"D/one"}]"#,
            ])
        #expect(
            problems(run) == [
                "modules.A.level: the row says basic, and the module topout: fix one of them",
                "modules.A.urls.h/x/:y: h/x/:y leads to A/one, which has instances: multiple",
                "modules.B.provides: the module provides the interface A, which belongs to A",
                "modules.B.urls: the module's URL h/x/:z is A's: choose another path",
                "modules.C.urls: the module's URL h/c leads to D/one, and the module has no interface D",
            ])
    }

    @Test func whatAModuleAddsToItsRowIsJudgedWithIt() async throws {
        let rows = "  A: {run: [a], requires: [Late]}\n  B: {run: [b], level: topout}"
        let hellos = [
            "a": #""requires":["Nobody"],"reports":{"B":["x"]}"#, "b": #""interfaces":{"Late":{}}"#,
        ]
        let any = try await check(rows, hellos: hellos)
        #expect(
            problems(any).map { $0.prefix { $0 != "," } } == [
                "modules.A.reports.B: B is in the later level topout", "modules.A.requires: no row provides Nobody",
            ])
        let layered = try await check(rows, calls: "layered", hellos: hellos)
        #expect(layered.error.contains("modules.A.requires[0]: Late belongs to B in the later level topout"))
        let declared = try await check(
            "  A: {run: [a], level: topout, broadcasts: [b]}\n  B: {run: [b]}", calls: "declared",
            hellos: ["a": #""requires":["Late"],"broadcasts":["b","c"],"reports":{"B":["x"]}"#, "b": hellos["b"]!])
        #expect(
            problems(declared).map { $0.prefix { $0 != "," } } == [
                "modules.A.requires: the module declares Late", "modules.A.reports: the module declares x to B",
                "modules.A.broadcasts: the module declares c",
            ])
    }

    /// A program need not know `--describe`.
    @Test(.promise("M.53")) func programThatSaysNothingIsTakenAtItsRowsWord() async throws {
        let run = try await check(
            "  A: {run: [a], provides: [A]}\n  B: {run: [b], requires: [A]}\n  C: {start: manual}",
            scripts: ["a": "echo hello", "b": "echo no such option >&2; exit 64"])
        #expect(run.status == 0)
        #expect(run.output.contains("\"undescribed\":[\"A\",\"B\"]"))
        #expect(
            run.error.split(separator: "\n").map(stripped) == [
                "modules.A.run: advice: it did not describe itself (--describe): what it printed is not JSON; its row is taken "
                    + "at its word",
                "modules.B.run: advice: it did not describe itself (--describe): it ended with exit code 64; it wrote: no such "
                    + "option; its row is taken at its word",
            ])
        let odd = try await check("  A: {run: [a]}", hellos: ["a": #""interfaces":[]"#])
        #expect(odd.status == 2)
        #expect(odd.error.contains("its description can't be understood: its interfaces must be an object"))
    }

    /// It would crash at its start, too. Its quoted output is bounded, and controls no terminal.
    @Test(.promise("M.54")) func programThatCrashesIsAnErrorThatQuotesIt() async throws {
        let run = try await check(
            "  A: {run: [a]}\n  B: {run: [b]}",
            scripts: [
                "a": "i=0; while [ $i -lt 999 ]; do echo line $i; i=$((i + 1)); done >&2\n"
                    + "printf 'm.swift:2: Fatal error: the \\033[2Jdisk is away\\n' >&2; kill -ILL $$",
                "b": "printf 'Traceback (most recent call last):\\n  File \"m.py\"\\nKeyError: 1\\n' >&2; exit 1",
            ])
        #expect(run.status == 2)
        #expect(
            problems(run) == [
                "modules.A.run: it crashed when it was asked to describe itself (--describe): signal 4 (Illegal instruction); "
                    + "it wrote: m.swift:2: Fatal error: the  [2Jdisk is away",
                "modules.B.run: it crashed when it was asked to describe itself (--describe): exit code 1; it wrote: "
                    + "KeyError: 1",
            ])
        #expect(run.lines.last?.hasSuffix(#""errors":2,"advice":0}"#) == true, "\(run.output)")
        let flood = "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 3"
        let bounded = try await check("  A: {run: [a]}", scripts: ["a": flood])
        #expect(bounded.status == 0 && bounded.error.utf8.count < 1_000, "\(bounded.error)")
    }

    @Test(.promise("M.53")) func programThatHangsIsKilledWithWhatItStarted() async throws {
        let folder = try TemporaryFolder()
        let run = try await check(
            "  A: {run: [a], env: {FOLDER: \(folder.path)}}",
            scripts: ["a": "sleep 1000 & echo $$ $! >$FOLDER/pids; wait"])
        #expect(run.status == 0)
        #expect(run.error.contains("it printed no description within 5 s"))
        let pids = UpProcess.text(of: folder.path + "/pids").split(whereSeparator: \.isWhitespace).compactMap {
            Int32($0)
        }
        #expect(pids.count == 2)
        for pid in pids { #expect(["", "Z", "X"].contains(UpProcess.state(of: pid))) }
    }

    @Test func programsOfOtherUsersAreAskedAsThose() async throws {
        guard UserApp.obstacle == nil, let user = UserApp.module else { try Test.cancel("\(UserApp.obstacle ?? "")") }
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        let script = #"echo "{\"protocol\":1,\"interfaces\":{\"U$(id -u)\":{}}}""#
        chmod(try folder.file("a", "#!/bin/sh\n\(script)\n"), 0o755)
        let path = try folder.file(
            "strata.yaml",
            "app: test\ngroup: games\nmodules:\n  A: {run: [a], user: nobody, provides: [U\(user.uid)]}\n")
        let run = try await CommandRun.of(["check", path], environment: ["PATH": "/usr/bin:/bin"])
        #expect(run.status == 0, "\(run.error)")
    }
}
