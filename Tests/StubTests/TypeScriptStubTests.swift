import StrataContracts
import StrataCore
import StrataStubs
import Testing

/// Clients in TypeScript that are made of a contract. The TypeScript client's tests compile the file in
/// Generated, and call it.
struct TypeScriptStubTests {
    @Test func stubOfADocumentIsTheFileThatTheClientCompiles() throws {
        let contract = try StubDocument.contract("Library")
        #expect(TypeScriptStub(contract).text == (try StubDocument.text("library.ts")))
        #expect(TypeScriptStub.fileName(of: Contract(.interface("TrackList.v2"))) == "track-list-v2.ts")
    }

    @Test func itSaysThatDescriptorsCannotBeUsed() throws {
        let text = TypeScriptStub(try StubDocument.contract("Archive")).text
        #expect(text.contains("Its descriptors (at most 1 with a call) can't be used here."), "\(text)")
        #expect(text.contains(StubDocument.lackOfDescriptors), "\(text)")
    }

    /// Names and texts come from whoever wrote the document.
    @Test func nothingInADocumentEndsALiteralOrAComment() {
        var contract = Contract(.interface("Odd"))
        contract.doc = "ends */ evil() /*\u{2028}evil()"
        contract.broadcasts = [.init("a\"\n${evil()}`\\")]
        contract.actions = [.init("then"), .init("then_"), .init("a.b"), .init("toString")]
        contract.actions[0].params = Schema(
            .object(
                .init([
                    .init("from", Schema(.string(.init()))),
                    .init("__proto__", Schema(.boolean)),
                    .init("evil()\n\"", Schema(.boolean), isRequired: false),
                ])))
        let stub = TypeScriptStub(contract).text
        let lines = stub.split(separator: "\n")
        #expect(lines.contains(#"/** ends *\/ evil() /* evil() */"#), "\(stub)")
        #expect(lines.contains(#"    "a\"\u{a}${evil()}`\\": unknown;"#), "\(stub)")
        #expect(lines.contains(#"    "__proto__": boolean;"#), "\(stub)")
        #expect(lines.contains(#"    "evil()\u{a}\""?: boolean;"#), "\(stub)")
        #expect(lines.contains("    then_(params: Then, options?: CallOptions): Promise<unknown> {"), "\(stub)")
        #expect(lines.contains("    then_2(params?: unknown, options?: CallOptions): Promise<unknown> {"), "\(stub)")
        #expect(lines.contains { $0.hasPrefix("    aB(") }, "\(stub)")
        #expect(lines.contains { $0.hasPrefix("    toString_(") }, "\(stub)")
        // The document is there once more, in a literal that it doesn't end.
        #expect(stub.contains(#"\${evil()}\`\\\\"#), "\(stub)")
    }
}
