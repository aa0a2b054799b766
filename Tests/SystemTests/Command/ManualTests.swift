import Glibc
import StrataTesting
import TestSupport
import Testing

/// The manual page is made from the commands' own help.
@Suite(.timeLimit(.hang))
struct ManualTests {
    @Test func thePageOfTheProjectIsUpToDate() async throws {
        let run = try await CommandRun.of(["manual"])
        let isSame = try Repository.text("docs/man/strata.1") == run.output
        #expect(isSame, "docs/man/strata.1 is an older one: run scripts/strata manual > docs/man/strata.1")
    }

    @Test func allCommandsAreInIt() async throws {
        let page = try await CommandRun.of(["manual"]).output
        for command in ["up", "new", "run", "call", "completions"] {
            #expect(page.contains("\n.SS strata \(command)\n"))
        }
        // A plain hyphen would be shown as another character, and a search wouldn't find it.
        let bare = page.split(separator: "\n").filter { line in
            !line.hasPrefix(".") && line.firstMatch(of: /(^|[^\\])-/) != nil
        }
        #expect(bare.isEmpty)
    }

    @Test(.enabled(if: access("/usr/bin/groff", X_OK) == 0, "there is no groff"))
    func groffReadsItWithoutWarnings() async throws {
        let folder = try StrataTesting.TemporaryFolder()
        let page = try await CommandRun.of(["manual"]).output
        let file = try #require(fopen("\(folder.path)/strata.1", "w"))
        fputs(page, file)
        fclose(file)
        let groff = try ChildProgram("/usr/bin/groff", ["-man", "-ww", "-z", "-Tutf8", "\(folder.path)/strata.1"])
        #expect(try groff.wait() == .exit(0))
        #expect(groff.outputText == "")
    }
}
