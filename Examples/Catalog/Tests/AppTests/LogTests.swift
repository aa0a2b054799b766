import Strata
import StrataTesting
import Testing

/// Log, which observes a pattern.
@Suite(.timeLimit(.minutes(10)))
struct LogTests {
    @Test func eachKindOfLineIsKeptWithItsKind() throws {
        let app = try CatalogApp()
        let tool = app.tool
        /// Reports a line, and returns how many observers had it, and what the log's last line says then.
        func line(after name: String) throws -> (observers: JSON?, text: String?) {
            let id = try tool.report(name, to: "Log", ["text": "tea is\nready"])
            let observers = try tool.expectReply(to: id).json["observers"]
            return (observers, try last())
        }
        func last() throws -> String? { try tool.asked("Log/recent", ["limit": 1]).array?.first?.string }
        for (name, kind) in [("log.line", ""), ("log.warning", "warning: "), ("log.remark", "remark: ")] {
            let (observers, text) = try line(after: name)
            #expect(observers == 1)
            #expect(text?.hasSuffix("Z operator: \(kind)tea is ready") == true, "\(text ?? "")")
        }
        // The pattern has two segments.
        let before = try last()
        for name in ["log", "log.line.long", "other.line"] {
            let (observers, text) = try line(after: name)
            #expect(observers == 0)
            #expect(text == before)
        }
        try app.end()
    }

    @Test func aWrongPasswordIsAWarning() throws {
        let app = try CatalogApp()
        let warnings = try app.monitor(["name": "log.warning", "bodies": true])
        try app.tool.refused(
            "Session/signIn", ["user": "ada", "password": "byron"], with: "Session.wrong-password", ran: "yes")
        try warnings.find(
            ["id": 1_000], body: ["from": "Session", "body": ["text": "a wrong name or password for ada"]])
        try app.end()
    }
}
