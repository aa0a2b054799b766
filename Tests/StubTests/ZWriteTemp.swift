import Foundation
import StrataStubs
import Testing

struct ZWriteTemp {
    @Test func write() throws {
        let c = try StubDocument.contract("Library")
        let f = "/work/wt/properties/Tests/StubTests/"
        try SwiftSource(c).text.write(toFile: f + "Generated/Library.swift", atomically: true, encoding: .utf8)
        try PythonStub(c).text.write(toFile: f + "Generated/library.py", atomically: true, encoding: .utf8)
        try TypeScriptStub(c).text.write(toFile: f + "Generated/library.ts", atomically: true, encoding: .utf8)
        try MarkdownReference(c).text.write(toFile: f + "Documents/Library.md", atomically: true, encoding: .utf8)
        try (ContractText(c).lines.joined(separator: "\n") + "\n").write(toFile: f + "Documents/Library.txt", atomically: true, encoding: .utf8)
    }
}
