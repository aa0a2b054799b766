import StrataContracts
import StrataStubs
import Testing

/// How a contract reads to a person.
struct ContractTextTests {
    @Test func wholeContractIsShownAsSignaturesAndTypes() throws {
        let text = ContractText(try StubDocument.contract("Library")).lines.joined(separator: "\n") + "\n"
        #expect(text == (try StubDocument.text("Library.txt")))
    }

    @Test func anActionComesWithTheTypesThatItUses() throws {
        let text = ContractText(try StubDocument.contract("Library"))
        #expect(
            try #require(text.lines(ofAction: "follow")) == [
                "follow() → stream of Move", "    Each book that is lent or returned.", "", "Chapter",
                "    name: string", "    next?: Chapter", "",
                "Move = {lent: {to: string, _1: Place}} | {read: {_0: Chapter}} | {returned: {}}", "",
                "Place = [number, number]",
            ])
        #expect(text.lines(ofAction: "fallow") == nil)
    }

    @Test func descriptorsOfAnActionAreShown() throws {
        let contract = try StubDocument.contract("Archive")
        #expect(
            try #require(ContractText(contract).lines(ofAction: "open")) == [
                "open(string) → {}", "    descriptors: at most 1 with the reply", "    error Archive.none",
            ])
        let page = MarkdownReference(contract).text
        #expect(page.contains("\nDescriptors: at most 2 with a call and 2 with the reply.\n"))
    }

    @Test func aPageOfMarkdownEscapesWhatAnAuthorWrote() throws {
        var contract = Contract(.interface("Odd"))
        contract.doc = "a | <b> *c*"
        contract.actions = [.init("x")]
        contract.actions[0].params = Schema(
            .object(.init([.init("a|b`c", Schema(.string(.init()), doc: "line\r\nnext | <i>"))])))
        let page = MarkdownReference(contract).text
        #expect(page.contains("a \\| \\<b\\> \\*c\\*"))
        #expect(page.contains("| `` a\\|b`c `` | `string` | line next \\| \\<i\\> |"), "\(page)")
        #expect(MarkdownReference(try StubDocument.contract("Library")).text == (try StubDocument.text("Library.md")))
    }
}
