import StrataContracts
import StrataCore
import StrataStubs
import Testing

/// Clients in Python that are made of a contract. The lane `types` checks the file in Generated, and
/// the Python client's tests run it.
struct PythonStubTests {
    @Test func stubOfADocumentIsTheFileThatPythonChecks() throws {
        let contract = try StubDocument.contract("Library")
        #expect(PythonStub(contract).text == (try StubDocument.text("library.py")))
        #expect(PythonStub.fileName(of: Contract(.interface("TrackList.v2"))) == "track_list_v2.py")
    }

    @Test func anActionTakesAndGivesItsDescriptors() throws {
        #expect(PythonStub(try StubDocument.contract("Archive")).text == (try StubDocument.text("archive.py")))
        var stream = Contract(.interface("Odd"))
        stream.actions = [StubDocument.streamWithDescriptors]
        let text = PythonStub(stream).text
        #expect(text.contains(StubDocument.lackOfDescriptors) && !text.contains("_with_descriptors("), "\(text)")
    }

    /// Names and texts come from whoever wrote the document.
    @Test func nothingInADocumentEndsALiteralOrADocstring() {
        var contract = Contract(.interface("Odd"))
        contract.doc = #"ends """ import evil \"#
        contract.broadcasts = [.init("a\"\nimport evil")]
        contract.actions = [.init("deadline")]
        contract.actions[0].params = Schema(
            .object(
                .init([
                    .init("from", Schema(.string(.init(pattern: #"^"$"#)), examples: [#"""#])),
                    .init("import evil\n", Schema(.boolean), isRequired: false),
                    .init("self", Schema(.boolean), isRequired: false),
                ])))
        let stub = PythonStub(contract).text
        let lines = stub.split(separator: "\n")
        #expect(lines.contains("\"\"\"ends \\\"\\\"\\\" import evil \\\\\"\"\""), "\(stub)")
        #expect(lines.contains(#"    A_IMPORT_EVIL: Final = "a\"\U0000000aimport evil""#), "\(stub)")
        #expect(
            lines.contains(
                #"    from_: Annotated[Annotated[str, Pattern("^\"$", "\"")], WireName("from")]"#), "\(stub)")
        #expect(lines.contains(#"    import_evil: Annotated[bool | None, WireName("import evil\U0000000a")] = None"#))
        #expect(lines.contains { $0.hasPrefix("    async def deadline_(self, params: Deadline, *,") })
        #expect(lines.allSatisfy { !$0.hasPrefix("import evil") })
    }
}
