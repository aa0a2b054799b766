import StrataTesting
import Testing

/// A file that the caller opens, and Export writes to: a descriptor in a call.
@Suite(.timeLimit(.minutes(10)))
struct SaveTests {
    @Test func exportWritesToTheFileThatItsCallerHasOpened() throws {
        let app = try CatalogApp(packages: 205)
        let token = try app.signIn()
        _ = try app.tool.asked("Notes/add", ["item": "package7", "text": "seven", "token": .string(token)])
        // The first one waits for the process.
        let saved = try app.save(to: "mine.jsonl")
        let run = try app.tool.asked("Export/run")
        let bytes = try #require(run["bytes"]?.integer)
        #expect(saved == "mine.jsonl: 205 packages, 1 notes, \(bytes) bytes\n")
        let lines = try app.read("mine.jsonl")
        #expect(lines.split(separator: "\n").count == 206)
        #expect(try lines == app.read("var/catalog.jsonl"))
        try app.end()
    }

    @Test func exportRefusesWhatIsNoFile() throws {
        let app = try CatalogApp()
        let found = try app.save(to: "/dev/null", exit: 1)
        #expect(found.contains("bad-params: the file that was sent is no regular file"), "\(found)")
        let refusal = try app.tool.refused("Export/save", with: "bad-params", ran: "yes")
        #expect(refusal.message.contains("send one descriptor"), "\(refusal)")
        try app.end()
    }
}
