import StrataContracts
import StrataCore
import StrataStubs
import Testing

/// Swift source that is made of a contract. The file in Generated is part of this target, so it
/// compiles.
struct SwiftSourceTests {
    @Test func sourceOfADocumentIsTheFileThatIsCompiledHere() throws {
        let source = SwiftSource(try StubDocument.contract("Library")).text
        #expect(source == (try StubDocument.text("Library.swift")))
    }

    @Test func anActionSaysItsDescriptors() throws {
        #expect(SwiftSource(try StubDocument.contract("Archive")).text == (try StubDocument.text("Archive.swift")))
        var stream = Contract(.interface("Odd"))
        stream.actions = [StubDocument.streamWithDescriptors]
        let text = SwiftSource(stream).text
        #expect(text.contains("/// \(StubDocument.lackOfDescriptors)\n"), "\(text)")
        #expect(!text.contains("let descriptors"), "\(text)")
    }

    /// Names and texts come from whoever wrote the document.
    @Test func nothingInADocumentEndsALiteralOrAComment() {
        var contract = Contract(.interface("Odd"))
        contract.doc = "first\rimport Evil\u{2028}import Worse"
        contract.broadcasts = [.init("a\"\n\\(evil)")]
        contract.actions = [.init("x")]
        contract.actions[0].errors = [.init("Odd.b\"", doc: "\r\nlet c = 1")]
        contract.actions[0].params = Schema(
            .object(.init([.init("1 bad: Int; let x", Schema(.any)), .init("class", Schema(.boolean))])))
        let lines = SwiftSource(contract).text.split(separator: "\n")
        #expect(lines.contains("/// import Evil") && lines.contains("/// import Worse"))
        #expect(lines.contains(#"        public static let name = "a\"\u{a}\\(evil)""#))
        #expect(lines.contains(#"            case value1BadIntLetX = "1 bad: Int; let x""#))
        #expect(lines.contains("        public var `class`: Bool"))
        #expect(lines.allSatisfy { !$0.hasPrefix("import") && !$0.hasPrefix("let") })
    }
}
