import ContractSamples
import StrataComparing
import StrataContracts
import StrataCore
import StrataTesting
import Testing

/// Which changes of a contract break those who know the old one.
@Suite(.timeLimit(.hang))
struct ComparingContractsTests {
    private func contract(_ action: String, _ more: String = "", version: String = "1.0") throws -> Contract {
        try Contract(
            parsing: Array(
                #"{"contract":1,"interface":"A","version":"\#(version)","actions":{"x":\#(action)}\#(more)}"#.utf8))
    }

    private func result(_ old: String, _ new: String) throws -> ContractComparison.Result {
        try contract(new).changes(from: try contract(old)).result
    }

    /// The result for a schema as params, which the provider takes, and as a reply, which it sends.
    @Test(arguments: [
        (#"{"type":"integer"}"#, #"{"type":"number"}"#, "compatible", "breaking"),
        (#"{"type":"integer","minimum":0}"#, #"{"type":"integer"}"#, "compatible", "breaking"),
        (#"{"type":"integer","maximum":9}"#, #"{"type":"integer","maximum":5}"#, "breaking", "compatible"),
        (#"{"type":"string","enum":["a"]}"#, #"{"type":"string","enum":["b","a"]}"#, "compatible", "breaking"),
        (#"{"type":"string","enum":["a"]}"#, #"{"type":"string"}"#, "compatible", "breaking"),
        (#"{"type":"string"}"#, #"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, "compatible", "breaking"),
        (#"{"type":"string"}"#, #"{"type":"boolean"}"#, "breaking", "breaking"),
        (#"{"type":"string"}"#, "{}", "compatible", "breaking"),
        // Callers send no members that they don't know of.
        (#"{"type":"object"}"#, #"{"type":"object","properties":{"a":{"type":"null"}}}"#, "compatible", "compatible"),
        (
            #"{"type":"object"}"#, #"{"type":"object","properties":{"a":{}}}"#, "compatible", "compatible"
        ),
        (
            #"{"type":"object","properties":{"a":{}}}"#, #"{"type":"object","properties":{"a":{}},"required":["a"]}"#,
            "breaking", "compatible"
        ),
        (
            #"{"type":"object","properties":{"a":{},"b":{}},"required":["a"]}"#,
            #"{"type":"object","properties":{"b":{},"a":{}},"required":["a"]}"#, "same", "same"
        ),
        (
            #"{"type":"array","items":{"type":"integer"}}"#,
            #"{"type":"array","items":{"type":"integer"},"minItems":1}"#,
            "breaking", "compatible"
        ),
        (
            #"{"type":"object","additionalProperties":{"type":"integer"}}"#,
            #"{"type":"object","additionalProperties":{"type":"number"}}"#, "compatible", "breaking"
        ),
        (
            #"{"type":"string","description":"a"}"#, #"{"type":"string","description":"b","examples":["c"]}"#, "same",
            "same"
        ),
    ])
    func changeOfASchemaIsJudgedByItsDirection(old: String, new: String, params: String, reply: String) throws {
        #expect(try result(#"{"params":\#(old)}"#, #"{"params":\#(new)}"#).rawValue == params)
        #expect(try result(#"{"reply":\#(old)}"#, #"{"reply":\#(new)}"#).rawValue == reply)
    }

    @Test(arguments: [
        ("{}", #"{"deprecated":true}"#, "compatible"), (#"{"reply":{}}"#, #"{"element":{}}"#, "breaking"),
        (#"{"auth":false}"#, #"{"auth":true}"#, "breaking"), (#"{"auth":true}"#, #"{"auth":false}"#, "compatible"),
        ("{}", #"{"errors":{"A.e":{}}}"#, "compatible"), (#"{"errors":{"A.e":{}}}"#, "{}", "compatible"),
        ("{}", #"{"description":"d"}"#, "same"), ("{}", #"{"params":{"type":"string"}}"#, "compatible"),
    ])
    func changeOfAnActionIsJudged(old: String, new: String, expected: String) throws {
        #expect(try result(old, new).rawValue == expected)
    }

    @Test func whatIsGoneBreaksAndWhatIsAddedDoesNot() throws {
        let notices = #","broadcasts":{"a.b":{"content":{"type":"string"}}},"reports":{"a.r":{}}"#
        let (with, without) = (try contract("{}", notices), try contract("{}"))
        #expect(without.changes(from: with).result == .breaking && with.changes(from: without).result == .compatible)
        let instances = try contract("{}", #","instances":"multiple""#)
        #expect(instances.changes(from: without).result == .breaking)
        var empty = without
        empty.actions = []
        #expect(empty.changes(from: without).changes.map(\.path) == ["$.actions.x"])
        #expect(without.changes(from: empty).result == .compatible)
    }

    @Test func namesOfDefinitionsDoNotMatterAndRecursionEnds() throws {
        func list(_ name: String, _ value: String) throws -> Contract {
            let tree = """
                {"type":"object","properties":{"value":\(value),"children":{"type":"array","items":\
                {"$ref":"#/$defs/\(name)"}}},"required":["value","children"]}
                """
            return try contract(##"{"reply":{"$ref":"#/$defs/\##(name)"}}"##, #","$defs":{"\#(name)":\#(tree)}"#)
        }
        let old = try list("Tree", #"{"type":"integer"}"#)
        #expect(try list("Node", #"{"type":"integer"}"#).changes(from: old).result == .same)
        let changed = try list("Node", #"{"type":"number"}"#).changes(from: old)
        #expect(changed.result == .breaking && changed.changes.map(\.path) == ["$.actions.x.reply.value"])
    }

    @Test(
        arguments: [
            ("1.4", "1.4", "1.5 or later"), ("1.4", "1.5", nil), ("1.4", "2.0", nil), ("1.4", "1.3", "1.5 or later"),
        ] as [(String, String, String?)])
    func versionOfACompatibleChangeIsHigher(old: String, new: String, fault: String?) throws {
        let comparison = try contract(#"{"deprecated":true}"#, version: new).changes(
            from: try contract("{}", version: old))
        #expect(comparison.versionFault.map { $0.contains(fault ?? "none") } ?? (fault == nil), "\(comparison)")
    }

    @Test(arguments: [("1.4", "1.5", false), ("1.4", "2.0", true), ("1.4", "3.7", true)])
    func versionOfABreakingChangeHasAHigherMajor(old: String, new: String, isHonest: Bool) throws {
        let comparison = try contract(#"{"reply":{"type":"string"}}"#, version: new).changes(
            from: try contract(#"{"reply":{"type":"integer"}}"#, version: old))
        #expect((comparison.versionFault == nil) == isHonest)
    }

    @Test func callerIsComparedByWhatItKnows() throws {
        var provider = try contract(#"{"params":{"type":"string"}}"#)
        provider.actions.append(.init("y"))
        #expect(provider.changes(forCaller: try contract(#"{"params":{"type":"string"}}"#)).result == .same)
        #expect(provider.changes(forCaller: try contract(#"{"params":{"type":"integer"}}"#)).result == .breaking)
    }

    /// The oracle: where a change of params is called compatible, whatever the old schema allows must
    /// be allowed by the new one; of a reply the other way round.
    @Test func nothingThatIsCalledCompatibleRefusesAValue() throws {
        var compared = 0
        for seed in 0..<1_000 {
            var random = RandomContract(seed: seed)
            var mutation = ContractMutation(seed: seed + 5_000)
            let old = random.contract()
            let new = mutation.changed(old)
            for action in old.actions {
                var known = old
                known.actions = [action]
                guard let other = new.action(action.name), new.changes(forCaller: known).result != .breaking else {
                    continue
                }
                compared += try check(action.params, old, other.params, new, seed, &random.generator)
                if case (.reply(let before), .reply(let after)) = (action.result, other.result) {
                    compared += try check(after, new, before, old, seed, &random.generator)
                }
            }
        }
        #expect(compared > 2_000, "\(compared) values were compared")
    }

    /// Checks that samples of one schema are allowed by another one. Returns their number.
    private func check(
        _ narrow: Schema?, _ narrowOwner: Contract, _ wide: Schema?, _ wideOwner: Contract, _ seed: Int,
        _ generator: inout SeededGenerator
    ) throws -> Int {
        guard let narrow, let wide else { return 0 }
        let sampler = SchemaSampler(narrow, definitions: narrowOwner.definitions)
        let checker = wideOwner.checker(for: wide)
        var count = 0
        for _ in 0..<4 {
            guard let value = sampler.sample(using: &generator) else { break }
            count += 1
            if case .refused(let mismatch) = checker.check(value) {
                Issue.record("seed \(seed): \(value) is refused: \(mismatch)")
            }
        }
        return count
    }
}
