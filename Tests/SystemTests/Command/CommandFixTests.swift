import Foundation
import Glibc
import StrataTesting
import Testing

/// `strata check --fix`, as a person and a script run it. ManifestFixTests has what it writes.
@Suite(.timeLimit(.hang))
struct CommandFixTests {
    private let folder = try! TemporaryFolder()  // because a test without one has failed anyway

    private static let before = """
        # An app.
        app: test
        calls: declared

        modules:
          A:                # the first
            level: topout
            run: [a]
            provides: [A]

          Log:

        """
    private static let after = before.replacing(
        "    provides: [A]\n", with: "    provides: [A]\n    broadcasts: [a.new]\n    reports: {Log: [log.line]}\n")
    private static let difference = """
        --- PATH
        +++ PATH
        @@ -7,5 +7,7 @@
             level: topout
             run: [a]
             provides: [A]
        +    broadcasts: [a.new]
        +    reports: {Log: [log.line]}
         
           Log:

        """

    private var manifest: String { "\(folder.path)/strata.yaml" }
    private var text: String { get throws { try String(contentsOfFile: manifest, encoding: .utf8) } }
    private var shown: String { Self.difference.replacing("PATH", with: manifest) }

    private func write(hello: String = #""broadcasts":["a.new"],"reports":{"Log":["log.line"]}"#) throws {
        _ = try folder.file("strata.yaml", Self.before)
        let text = "#!/bin/sh\necho '{\"protocol\":1,\"module\":\"A\",\"interfaces\":{\"A\":{}},\(hello)}'\n"
        chmod(try folder.file("a", text), 0o755)
    }

    private func fix(_ more: String..., output: CommandRun.Output = .pipe) async throws -> CommandRun {
        try await CommandRun.of(
            ["check", "--fix", manifest] + more, environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"], output: output
        )
    }

    @Test(.promise("W.8")) func withoutATerminalItWritesOnlyWhenToldTo() async throws {
        try write()
        let unasked = try await fix()
        #expect(unasked.status == 1 && unasked.output == shown, "\(unasked)")
        #expect(unasked.error == "strata: nothing was written: without a terminal to ask on, --fix needs --yes\n")
        #expect(try text == Self.before)
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["a", "strata.yaml"])
        let half = try await fix(output: .terminal(columns: 80))
        #expect(half.status == 1)
        #expect(try text == Self.before)
        for words in [["--static"], ["--json"]] {
            let wrong = try await CommandRun.of(["check", "--fix", manifest] + words)
            #expect(wrong.status == 2)
        }
        let alone = try await CommandRun.of(["check", "--yes", manifest])
        #expect(alone.status == 2 && alone.error.contains("add --fix"))
    }

    @Test(.promise("W.6", "W.7", "W.8")) func itWritesAndThenHasNothingToFix() async throws {
        try write()
        chmod(manifest, 0o640)
        let link = "\(folder.path)/link.yaml"
        symlink("strata.yaml", link)
        let run = try await CommandRun.of(
            ["check", "--fix", "--yes", link], environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"])
        #expect(run.status == 0 && run.error.isEmpty, "\(run)")
        #expect(run.output == Self.difference.replacing("PATH", with: link) + "\(link) was changed\n")
        #expect(try text == Self.after)
        var status = stat()
        #expect(lstat(manifest, &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        let left = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        #expect(left == ["a", "link.yaml", "strata.yaml"])
        lstat(manifest, &status)
        let again = try await fix()
        #expect(again.status == 0 && again.error.isEmpty)
        #expect(again.output == "\(manifest): nothing to fix: the rows have all that their programs say\n")
        var later = stat()
        lstat(manifest, &later)
        #expect(later.st_ino == status.st_ino && later.st_ctim.tv_nsec == status.st_ctim.tv_nsec)
        let check = try await CommandRun.of(["check", manifest], environment: ["PATH": "/usr/bin:/bin"])
        #expect(check.status == 0, "\(check.error)")
    }

    @Test(.promise("W.8"), arguments: [("y", true), ("n", false), ("", false)])
    func onATerminalItAsks(answer: String, writes: Bool) throws {
        try write()
        let terminal = try PseudoTerminal(columns: 200)
        for key in answer.utf8 { terminal.type(key) }
        terminal.type(UInt8(ascii: "\n"))
        let command = try ChildProgram(
            "/bin/sh",
            [
                "-c", "exec <>\(terminal.path) >&0 2>&0; NO_COLOR=1 exec \"$0\" check --fix \"$1\"",
                CommandRun.executable.path, manifest,
            ])
        #expect(try command.wait() == .exit(writes ? 0 : 1))
        #expect(try text == (writes ? Self.after : Self.before))
        let seen = terminal.readToEnd()
        #expect(seen.contains("+    broadcasts: [a.new]") && seen.contains("write this? [y/N] "), "\(seen)")
    }

    @Test(.promise("W.9")) func whatWouldBeNoManifestIsNotWritten() async throws {
        try write(hello: #""requires":["Log"],"broadcasts":["a.new"]"#)
        _ = try folder.file(
            "strata.yaml",
            Self.before.replacing("  Log:", with: "  Log: {provides: [Log], level: last}")
                .replacing("modules:", with: "levels: [topout, last]\nmodules:"))
        let text = try text
        let run = try await fix("--yes")
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.error.contains("modules.A.requires[0]: Log belongs to Log in the later level last"), "\(run.error)")
        #expect(run.error.contains("strata: nothing was written"))
        #expect(try self.text == text)
    }

    /// Nothing is known of a program that doesn't describe itself.
    @Test(.promise("W.6")) func aSilentProgramsRowStaysAndIsNamed() async throws {
        try write()
        chmod(try folder.file("a", "#!/bin/sh\nexit 1\n"), 0o755)
        let run = try await fix()
        #expect(run.status == 0 && run.output.contains("nothing to fix"))
        #expect(run.error.hasPrefix("strata: A: "), "\(run.error)")
    }
}
