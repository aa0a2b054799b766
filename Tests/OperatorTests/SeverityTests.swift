import StrataOperator
import TestSupport
import Testing

@Suite(.timeLimit(.hang))
struct SeverityTests {
    private func split(_ line: String) -> (severity: Severity?, text: String) {
        let (severity, text) = Severity.split(Array(line.utf8))
        return (severity, String(decoding: text, as: UTF8.self))
    }

    @Test(.promise("M.163")) func aMarkAtTheBeginIsTheSeverity() {
        for severity in Severity.allCases {
            #expect(split("<\(severity.rawValue)>text") == (severity, "text"))
            #expect(Severity(name: severity.name) == severity)
        }
        #expect(split("<3>") == (.error, ""))
        #expect(Severity.error < .warning && Severity(name: "trace") == .debug && Severity(name: "loud") == nil)
    }

    @Test(.promise("M.163"), arguments: ["", "<3", "<8>a", "<a>b", "<33>a", " <3>a", "3>a", "<\u{0}>a", "<é>a"])
    func anythingElseIsText(_ line: String) {
        #expect(split(line) == (nil, line))
    }
}
