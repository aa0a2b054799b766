import StrataComparing
import StrataContracts
import StrataCore
import Testing

/// Descriptors in contracts: how they are read and written, and which changes of them break callers.
@Suite(.timeLimit(.hang))
struct DescriptorContractTests {
    private static func contract(_ descriptors: String) throws -> Contract {
        let action = descriptors.isEmpty ? "{}" : #"{"descriptors":\#(descriptors)}"#
        return try Contract(parsing: Array(#"{"contract":1,"interface":"A","actions":{"x":\#(action)}}"#.utf8))
    }

    @Test(
        arguments: [
            ("", DescriptorCounts.none, nil), ("{}", .none, nil), (#"{"params":0,"reply":0}"#, .none, nil),
            (#"{"params":16}"#, DescriptorCounts(params: 16), ["params": 16]),
            (#"{"reply":2,"params":1}"#, DescriptorCounts(params: 1, reply: 2), ["params": 1, "reply": 2]),
        ] as [(String, DescriptorCounts, JSON?)])
    func countsAreReadAndWrittenWithoutZeros(text: String, counts: DescriptorCounts, written: JSON?) throws {
        let contract = try Self.contract(text)
        #expect(contract.action("x")?.descriptors == counts)
        #expect(contract.json()["actions"]?["x"]?["descriptors"] == written)
        #expect(try Contract(parsing: contract.encoded()) == contract)
    }

    @Test func theyStandAfterTheAnswerAndBeforeTheErrors() throws {
        let text = #"{"errors":{"A.b":{}},"descriptors":{"params":1},"element":{}}"#
        let contract = try Contract(
            parsing: Array(#"{"contract":1,"interface":"A","actions":{"x":\#(text)}}"#.utf8))
        let action = try #require(contract.json()["actions"]?["x"]?.object)
        #expect(action.map(\.name) == ["element", "descriptors", "errors"])
    }

    @Test(arguments: [
        ("1", ": descriptors is an object; found the number 1"), ("null", ": descriptors is an object; found null"),
        (#"{"parms":1}"#, ": there is no member \"parms\": did you mean params?"),
        (#"{"params":17}"#, ".params: expected 0 to 16, found the number 17"),
        (#"{"reply":-1}"#, ".reply: expected 0 to 16, found the number -1"),
        (#"{"reply":true}"#, ".reply: expected an integer of 64 bits, found true"),
        (#"{"params":0.5}"#, ".params: expected an integer of 64 bits, found the number 0.5"),
        (#"{"params":1,"params":1}"#, ""),
    ])
    func whatIsNoCountIsRefusedAtItsPlace(descriptors: String, message: String) {
        do {
            _ = try Self.contract(descriptors)
            Issue.record("it was read")
        } catch {
            #expect(message.isEmpty || "\(error)" == "$.actions.x.descriptors\(message)", "\(error)")
        }
    }

    /// Callers send up to the old count, and take up to the old count.
    @Test(arguments: [
        ("", #"{"params":1}"#, "compatible $.actions.x.descriptors.params: 0 → 1"),
        (#"{"params":2}"#, #"{"params":1}"#, "breaking $.actions.x.descriptors.params: 2 → 1"),
        (#"{"params":1}"#, "", "breaking $.actions.x.descriptors.params: 1 → 0"),
        ("", #"{"reply":1}"#, "breaking $.actions.x.descriptors.reply: 0 → 1"),
        (#"{"reply":1}"#, #"{"reply":2}"#, "breaking $.actions.x.descriptors.reply: 1 → 2"),
        (#"{"reply":2}"#, "", "compatible $.actions.x.descriptors.reply: 2 → 0"),
        (
            #"{"params":1,"reply":1}"#, #"{"params":2,"reply":2}"#,
            "compatible $.actions.x.descriptors.params: 1 → 2; breaking $.actions.x.descriptors.reply: 1 → 2"
        ),
        (#"{"params":1}"#, #"{"params":1,"reply":0}"#, ""),
    ])
    func changesAreJudgedByTheirDirection(old: String, new: String, changes: String) throws {
        func words(_ comparison: ContractComparison) -> String {
            comparison.changes.map { "\($0.kind.rawValue) \($0.path): \($0.old) → \($0.new)" }.joined(separator: "; ")
        }
        let (before, after) = (try Self.contract(old), try Self.contract(new))
        #expect(words(after.changes(from: before)) == changes)
        #expect(words(after.changes(forCaller: before)) == changes)
    }
}
