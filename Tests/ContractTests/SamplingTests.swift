import ContractSamples
import StrataContracts
import StrataCore
import StrataTesting
import Testing

/// Random values of schemas that are hard to make values of.
@Suite(.timeLimit(.hang))
struct SamplingTests {
    private func samples(_ schema: String, _ definitions: [String: String] = [:], _ count: Int = 200) throws -> [JSON] {
        // References are resolved among the definitions, which are read one by one.
        let contract = try Contract(
            parsing: Array(
                #"""
                {"contract":1,"interface":"A","actions":{"x":{"params":\#(schema)}},"$defs":{
                \#(definitions.map { "\"\($0)\":\($1)" }.joined(separator: ","))}}
                """#.utf8))
        let params = try #require(contract.actions[0].params)
        let (sampler, checker) = (
            SchemaSampler(params, definitions: contract.definitions), contract.checker(for: params)
        )
        var generator = SeededGenerator(7)
        return (0..<count).compactMap { _ in
            let sample = sampler.sample(using: &generator)
            if let sample { #expect(checker.check(sample) == .allowed, "\(sample)") }
            return sample
        }
    }

    @Test func recursionEnds() throws {
        let tree = ##"""
            {"anyOf":[{"type":"object","properties":{"left":{"$ref":"#/$defs/T"},"right":{"$ref":"#/$defs/T"}},
            "required":["left","right"]},{"type":"integer","minimum":3,"maximum":3}]}
            """##
        let trees = try samples(##"{"$ref":"#/$defs/T"}"##, ["T": tree])
        #expect(trees.count == 200 && trees.contains(3) && trees.contains { $0["left"]?["left"] != nil })
        #expect(trees.allSatisfy { $0.description.utf8.count < 10_000 })
    }

    @Test(arguments: [
        // Each value needs another one of itself.
        (##"{"$ref":"#/$defs/T"}"##, ##"{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"required":["t"]}"##),
        (##"{"$ref":"#/$defs/T"}"##, ##"{"type":"array","items":{"$ref":"#/$defs/T"},"minItems":1}"##),
        // Nothing says what the pattern and the format allow.
        (#"{"type":"string","pattern":"^a+$"}"#, "{}"), (#"{"type":"string","format":"semver"}"#, "{}"),
        (#"{"type":"string","minLength":100000}"#, "{}"),
        (#"{"type":"array","items":{"type":"array","items":{"type":"null"},"minItems":1000},"minItems":1000}"#, "{}"),
        (#"{"type":"string","contentEncoding":"base64","minLength":5,"maxLength":7}"#, "{}"),
        (#"{"type":"string","minLength":9223372036854775807}"#, "{}"),
    ])
    func whatCannotBeMadeIsNoSample(schema: String, definition: String) throws {
        #expect(try samples(schema, ["T": definition], 3).isEmpty)
        // An optional member of that type is left out, and another alternative is taken.
        let member = #"{"type":"object","properties":{"a":\#(schema),"b":{"type":"boolean"}},"required":["b"]}"#
        #expect(try samples(member, ["T": definition]).allSatisfy { $0["a"] == nil && $0["b"]?.bool != nil })
        let union = #"{"anyOf":[\#(schema),{"type":"null"}]}"#
        #expect(try Set(samples(union, ["T": definition]).map(\.description)) == ["null"])
    }

    @Test func examplesStandForPatternsAndUnknownFormats() throws {
        let pattern = try samples(#"{"type":"string","pattern":"^a+$","examples":["a","aaa",5]}"#)
        #expect(Set(pattern.map(\.description)) == [#""a""#, #""aaa""#])
        let format = try samples(#"{"type":"string","format":"semver","minLength":6,"examples":["1.0.0","10.0.0"]}"#)
        #expect(Set(format.map(\.description)) == [#""10.0.0""#])
        let keys = try samples(
            #"""
            {"type":"object","propertyNames":{"type":"string","pattern":"\#(Schema.Text.integerPattern)","examples":["1"]},
            "additionalProperties":{"type":"boolean"}}
            """#)
        let names = keys.flatMap { $0.object ?? [] }.map(\.name)
        #expect(names.count > 100 && names.allSatisfy { Int($0) != nil })
    }

    @Test func boundsAreReached() throws {
        let numbers = try samples(#"{"type":"integer","minimum":-3,"maximum":4}"#).compactMap(\.integer)
        #expect(numbers.min() == -3 && numbers.max() == 4)
        let whole = try samples(#"{"type":"integer"}"#).compactMap(\.integer)
        #expect(whole.contains(.min) && whole.contains(.max))
        let narrow = try samples(#"{"type":"number","minimum":0.25,"maximum":0.75}"#)
        #expect(narrow.count == 200 && narrow.contains(0.25) && narrow.contains(0.5) && narrow.contains(0.75))
        #expect(try samples(#"{"type":"number","minimum":1e300}"#).count == 200)
        let lists = try samples(#"{"type":"array","items":{"type":"null"},"minItems":2,"maxItems":3}"#)
        #expect(Set(lists.map { $0.array?.count }) == [2, 3])
    }

    @Test func equalSeedsGiveEqualSamples() throws {
        let schema = #"{"type":"object","additionalProperties":{}}"#
        #expect(try samples(schema) == samples(schema))
    }
}
