import Glibc
import TestSupport
import Testing

@testable import StrataLauncher

/// Lines as entries of the journal.
@Suite struct JournalTests {
    private let folder: String
    private let journal: DatagramServer

    init() throws {
        var template = Array("/tmp/strata-journal-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        journal = try #require(DatagramServer(path: folder + "/socket"))
    }

    private func clean() {
        unlink(journal.path)
        rmdir(folder)
    }

    @Test func eachLineIsAnEntryWithItsModule() {
        defer { clean() }
        let console = Console(JournalSink(path: journal.path, app: "moments"), isColoured: true)
        console.align(to: ["Notes"])
        console.say("all 2 modules are ready")
        console.say(of: "Notes", "ready after 3 ms")
        console.line(of: "Notes", Array("read 7 notes".utf8))
        console.line(of: "Notes", Array("the disk is full".utf8), .error)
        console.plain("export X")
        let own = "PRIORITY=6\nSYSLOG_IDENTIFIER=moments\nSTRATA_APP=moments\n"
        let module = "PRIORITY=6\nSYSLOG_IDENTIFIER=moments/Notes\nSTRATA_APP=moments\nSTRATA_MODULE=Notes\n"
        #expect(journal.next() == own + "MESSAGE=all 2 modules are ready\n")
        #expect(journal.next() == module + "MESSAGE=ready after 3 ms\n")
        #expect(journal.next() == module + "STRATA_OUTPUT=1\nMESSAGE=read 7 notes\n")
        let error = module.replacing("PRIORITY=6", with: "PRIORITY=3")
        #expect(journal.next() == error + "STRATA_OUTPUT=1\nMESSAGE=the disk is full\n")
        #expect(journal.next() == own + "MESSAGE=export X\n")
        #expect(journal.next() == nil)
    }

    /// Nothing that a module writes becomes another field.
    @Test func aLineEndInsideIsNoFieldsEnd() {
        defer { clean() }
        JournalSink(path: journal.path, app: "a").write(
            of: nil, isOutput: false, .info, Array("x\nPRIORITY=0".utf8), line: [])
        let length = "\u{0C}" + String(repeating: "\0", count: 7)
        #expect(journal.next()?.hasSuffix("\nMESSAGE\n\(length)x\nPRIORITY=0\n") == true)
    }

    @Test func whatTheJournalCouldNotTakeIsCounted() throws {
        defer { clean() }
        let sink = JournalSink(path: journal.path, app: "a")
        var taken = 0
        for number in 0..<5_000 { sink.write(line: Array("line \(number)".utf8)) }
        while journal.next() != nil { taken += 1 }
        #expect(taken > 0 && taken < 5_000)
        sink.write(line: Array("later".utf8))
        #expect(journal.next()?.contains("MESSAGE=\(5_000 - taken) lines were dropped here") == true)
        #expect(journal.next()?.contains("MESSAGE=later\n") == true)
    }

    @Test func onlyWhatIsConnectedToTheJournalBecomesEntries() {
        defer { clean() }
        var status = stat()
        let null = open("/dev/null", O_WRONLY)
        defer { close(null) }
        fstat(null, &status)
        let stream = "\(status.st_dev):\(status.st_ino)"
        func isJournal(_ stream: String?, _ path: String) -> Bool {
            let environment = stream.map { ["JOURNAL_STREAM": $0] } ?? [:]
            return JournalSink.connected(null, app: "a", environment, path: path) != nil
        }
        #expect(isJournal(stream, journal.path))
        #expect(!isJournal(stream, folder + "/none"))
        #expect(!isJournal("\(status.st_dev):\(status.st_ino + 1)", journal.path))
        #expect(!isJournal("", journal.path) && !isJournal(nil, journal.path))
    }
}
