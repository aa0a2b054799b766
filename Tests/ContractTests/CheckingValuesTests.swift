import ContractSamples
import StrataContracts
import StrataCore
import StrataTesting
import Testing

/// What is said of a value that a schema doesn't allow.
@Suite(.timeLimit(.hang))
struct CheckingValuesTests {
    private let search = """
        {"type":"object","properties":{"text":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":50},
        "tags":{"type":"array","items":{"type":"string","enum":["new","old"]}},
        "where":{"type":"object","properties":{"shelf":{"type":"integer"}},"required":["shelf"]}},"required":["text"]}
        """

    private func mismatch(_ schema: String, _ value: String) throws -> SchemaMismatch? {
        let checker = SchemaChecker(try Schema(json: JSON(parsing: schema)))
        switch try checker.check(text: Array(value.utf8)) {
        case .allowed: return nil
        case .refused(let mismatch): return mismatch
        case .undecided(let why):
            Issue.record("\(why)")
            return nil
        }
    }

    @Test(
        arguments: [
            (#"{"text":"a","limit":5,"more":[]}"#, nil, ""),
            (#"{"txt":1}"#, "$.text: expected a string, found nothing", #""txt""#),
            (#"{"text": 5}"#, "$.text: expected a string, found the number 5", "5"),
            (#"{"text":"a","limit":51}"#, "$.limit: expected an integer from 1 to 50, found the number 51", "51"),
            (#"{"text":"a","limit":1.5}"#, "$.limit: ", "1.5"),
            (#"{"text":"a","tags":["new","odl"]}"#, "$.tags[1]: ", #""odl""#),
            (#"{"text":"a","where":{}}"#, "$.where.shelf: expected an integer, found nothing", "{}"),
            ("[]", "$: expected an object", "[]"),
        ] as [(String, String?, String)])
    func firstFaultIsNamedWithItsPlace(value: String, message: String?, marked: String) throws {
        let found = try mismatch(search, value)
        guard let message else {
            #expect(found == nil)
            return
        }
        let fault = try #require(found)
        #expect(fault.description.hasPrefix(message), "\(fault)")
        let text = Array(value.utf8)[fault.range]
        #expect(String(decoding: text, as: UTF8.self) == marked, "\(fault)")
    }

    @Test func aMisspelledMemberIsHinted() throws {
        #expect(try #require(try mismatch(search, #"{"txt":"a"}"#)).hint?.contains("txt") == true)
        #expect(try #require(try mismatch(search, #"{"zzzzzz":"a"}"#)).hint == nil)
    }

    @Test func anAlternativeIsToldByTheMemberThatTagsIt() throws {
        let shape = """
            {"anyOf":[{"type":"object","properties":{"circle":{"type":"object","properties":{"radius":{"type":"number"}},
            "required":["radius"]}},"required":["circle"],"additionalProperties":false},
            {"type":"object","properties":{"square":{"type":"object"}},"required":["square"],
            "additionalProperties":false}]}
            """
        #expect(try mismatch(shape, #"{"circle":{"radius":1}}"#) == nil)
        #expect(try #require(try mismatch(shape, #"{"circle":{"radius":"1"}}"#)).path == "$.circle.radius")
        #expect(try mismatch(shape, #"{"square":{},"circle":{"radius":1}}"#) != nil)
    }

    @Test func aValueThatCannotBeWrittenIsUndecided() {
        let twice = JSON.object([.init("a", 1), .init("a", 2)])
        guard case .undecided = SchemaChecker(Schema(.any)).check(twice) else {
            Issue.record("a name came twice, and the value was judged")
            return
        }
    }

    @Test func samplesAreAllowedByTheirSchema() throws {
        var count = 0
        for seed in 0..<1_000 {
            var random = RandomContract(seed: seed)
            let contract = random.contract()
            for (pointer, schema) in ContractCorpus.roots(contract) {
                let sampler = SchemaSampler(schema, definitions: contract.definitions)
                guard let value = sampler.sample(using: &random.generator) else { continue }
                count += 1
                #expect(contract.checker(for: schema).check(value) == .allowed, "seed \(seed) \(pointer): \(value)")
            }
        }
        #expect(count > 3_000, "\(count) samples were made")
    }

    /// A union in a recursion mustn't multiply the work at each level.
    @Test func workOnANestedUnionIsBounded() throws {
        let tree = """
            {"anyOf":[{"type":"array","items":{"$ref":"#/$defs/T"}},{"type":"array","items":{"$ref":"#/$defs/U"}}]}
            """
        let contract = try Contract(
            parsing: Array(
                ##"{"contract":1,"interface":"A","actions":{"x":{"params":{"$ref":"#/$defs/T"}}},"$defs":{"T":\##(tree),"U":\##(tree)}}"##
                    .utf8))
        let value = (0..<100).reduce(JSON.string("leaf")) { inner, _ in [inner] }
        let params = try #require(contract.actions[0].params)
        #expect(contract.checker(for: params).check(value) != .allowed)
    }
}
