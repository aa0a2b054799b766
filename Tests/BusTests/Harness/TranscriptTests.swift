import Glibc
import StrataTesting
import Testing

/// Pages whose terminal sessions are run again.
@Suite(.timeLimit(.hang))
struct TranscriptTests {
    private let folder = try! TemporaryFolder()  // because a test without one has failed anyway

    private func page(_ text: String, section: String? = nil) throws -> Page {
        let path = folder.path + "/page.md"
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
        return try Page(path, section: section)
    }

    /// Runs a page with one block.
    @discardableResult
    private func replay(_ block: String, marking: String = "") throws -> Int {
        let comment = marking.isEmpty ? "" : "<!-- sample: \(marking) -->\n"
        return try Transcript(
            page("Words.\n\n\(comment)```console\n\(block)\n```\n"), in: folder.path
        ).replay()
    }

    @Test func commandsWriteWhatThePageShows() throws {
        #expect(try replay("$ echo one; echo two\none\ntwo\n$ cd /; pwd\n/\n$ pwd\n/") == 3)
        #expect(try replay("$ cat <<END\n> a\n>  b\n> END\na\n b") == 1)
    }

    @Test(
        .promise("M.90"),
        arguments: ["$ echo one\ntwo", "$ echo one\none\ntwo", "$ printf 'a\\nb\\n'\na", "$ true\n‹it›"])
    func aDifferenceFromThePageFailsWithItsLine(_ block: String) throws {
        let failure = try #require(throws: TestFailure.self) { try replay(block) }
        #expect(failure.description.contains("page.md:4: `"), "\(failure)")
    }

    @Test func dotsStandForLinesAndForTextInThem() throws {
        try replay("$ seq 9\n1\n…\n8\n9")
        try replay("$ seq 9\n  …\n9\n$ seq 3\n…")
        try replay("$ echo it took 12 ms, or so\nit took … ms…")
        #expect(throws: TestFailure.self) { try replay("$ seq 9\n1\n…\n12") }
    }

    @Test func placeholdersAreAnyTextButNone() throws {
        try replay("$ echo process 12 of 30\nprocess ‹pid› of ‹pid›")
        #expect(throws: TestFailure.self) { try replay("$ echo process\nprocess‹pid›") }
    }

    @Test func anOwnersPlaceholderIsTheSameEverywhere() throws {
        try replay("$ echo 7 and 8\n‹one's number› and ‹two's number›\n$ echo ‹two's number›\n8")
        #expect(throws: TestFailure.self) { try replay("$ echo 7 and 8\n‹one's number› and ‹one's number›") }
        #expect(throws: TestFailure.self) { try replay("$ echo ‹one's number›\n7") }
    }

    @Test func whiteSpaceCountsAsOneSpace() throws {
        try replay("$ echo 'PID   STATE'\nPID STATE")
    }

    @Test func namedTerminalsStayOpenAndCanBeInterrupted() throws {
        let text = """
            <!-- sample: terminal first -->
            ```console
            $ echo here; echo there; cat fifo -; echo unmet
            there
            here
            ```
            ```console
            $ echo from the other > fifo
            ```
            <!-- sample: terminal first -->
            ```console
            from ‹a› other
            ```
            <!-- sample: terminal first -->
            ```console
            ^C
            $ echo $?
            130
            ```
            """
        #expect(mkfifo(folder.path + "/fifo", 0o600) == 0)
        #expect(try Transcript(page(text), in: folder.path).replay() == 3)
    }

    @Test func aRunningProgramMustWriteAllLinesOfThePage() throws {
        #expect(throws: TestFailure.self) { try replay("$ echo one\none\ntwo", marking: "terminal first") }
        #expect(throws: TestFailure.self) { try replay("$ echo one\none\none", marking: "terminal first") }
    }

    @Test func linesThatAProgramTakesBackAreNotRead() throws {
        let waiting = #"\r\033[Kwaiting … 1 s\r\033[Kwaiting … 2 s\r\033[K"#
        #expect(try replay("$ printf 'one\\n\(waiting)two\\n'\none\ntwo") == 1)
    }

    @Test func whatIsOnlyShownIsNotRun() throws {
        #expect(try replay("$ touch made", marking: "only shown") == 0)
        #expect(!folder.contents.contains("made"))
        #expect(throws: TestFailure.self) { try replay("$ touch made", marking: "only showed") }
    }

    /// Replays a page whose only block shows a file that its given lines have made.
    @discardableResult
    private func replay(given: String) throws -> Int {
        let page = try page("<!-- sample: given\n\(given)\n-->\n```console\n$ cat made\n12\n```")
        return try Transcript(page, in: folder.path).replay()
    }

    @Test func whatIsGivenRunsBeforeItsBlock() throws {
        #expect(try replay(given: "printf 1 > made\nprintf 2 >> made") == 1)
        let failure = try #require(throws: TestFailure.self) { try replay(given: "cat nothing\nprintf 12 > made") }
        #expect(
            failure.description.contains("page.md:6: the commands given before it ended with exit code 1"),
            "\(failure)")
        #expect(failure.description.contains("nothing: No such file"), "\(failure)")
    }

    @Test func shellsSeeATerminalAndNoHistory() throws {
        try replay("$ test -t 1 && stty size\n24 100\n$ echo \"$HISTFILE $HOME\"\n/dev/null \(folder.path)")
    }

    @Test func markingsAndGivenLinesBelongToTheNextBlock() throws {
        let page = try page(
            """
            <!-- sample: given
            let hidden = 1
            -->
            <!-- sample: file Sources/A/A.swift -->

            ```swift
            let shown = hidden
            ```

            ```yaml
            app: a
            ```
            """)
        #expect(page.samples.map(\.language) == ["swift", "yaml"])
        #expect(page.samples[0].marked("file") == "Sources/A/A.swift")
        #expect(page.samples[0].given == ["let hidden = 1"] && page.samples[0].line == 7)
        #expect(page.samples[1].marking.isEmpty && page.samples[1].text == "app: a\n")
    }

    @Test func aSectionIsReadAlone() throws {
        let text = "```console\n$ one\n## B\n```\n## A\n```console\n$ two\n```\n## B\n```console\n$ three\n```\n"
        #expect(try page(text, section: "A").samples.map(\.lines) == [["$ two"]])
        #expect(try page(text, section: "B").samples.map(\.line) == [11])
        #expect(throws: TestFailure.self) { try page(text, section: "C") }
    }

    @Test(arguments: [
        "```swift\nlet", "<!-- sample: file A -->\nWords.", "<!-- sample: file A -->", "<!-- sample: given\nlet",
        "<!-- sample: file\nA -->",
    ]) func aPageWithOpenEndsIsRefused(_ text: String) {
        #expect(throws: TestFailure.self) { try page(text) }
    }
}
