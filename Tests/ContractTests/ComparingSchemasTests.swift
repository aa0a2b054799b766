import ContractSamples
import StrataContracts
import StrataCore
import StrataTesting
import Testing

@testable import StrataComparing

/// Each kind of change of a schema, as it is listed.
@Suite(.timeLimit(.hang))
struct ComparingSchemasTests {
    private func contract(
        _ content: String, as kind: String, subject: String = "interface", definitions: String = "{}"
    ) throws -> Contract {
        let part = kind == "settings" ? #""settings":\#(content)"# : #""\#(kind)":{"n":{"content":\#(content)}}"#
        let actions = #""actions":{"n":{"\#(kind)":\#(content)}}"#
        let isAction = ["params", "reply", "element"].contains(kind)
        return try Contract(
            parsing: Array(
                #"{"contract":1,"\#(subject)":"A",\#(isAction ? actions : part),"$defs":\#(definitions)}"#.utf8))
    }

    /// Returns the changes as lines, of params without the place of the params.
    private func changes(_ old: String, _ new: String, as kind: String, definitions: String = "{}") throws -> [String] {
        let before = try contract(old, as: kind, definitions: definitions)
        return try contract(new, as: kind, definitions: definitions).changes(from: before).changes.map { change in
            let place = change.path.dropFirst("$.actions.n.\(kind)".utf8.count)
            return "\(change.kind.rawValue) $\(place): \(change.old) → \(change.new)"
        }
    }

    private static let shapes = (
        circle:
            #"{"type":"object","properties":{"kind":{"type":"string","enum":["circle"]},"r":{"type":"integer"}},"required":["kind"]}"#,
        wideCircle:
            #"{"type":"object","properties":{"kind":{"type":"string","enum":["circle"]},"r":{"type":"number"}},"required":["kind"]}"#,
        square: #"{"type":"object","properties":{"kind":{"type":"string","enum":["square"]}},"required":["kind"]}"#
    )

    struct Case: Sendable {
        let old: String
        let new: String
        let params: [String]
        let reply: [String]
    }

    private static let cases = [
        // Numbers
        Case(
            old: #"{"type":"integer","minimum":1,"maximum":5}"#, new: #"{"type":"integer","minimum":0,"maximum":5}"#,
            params: ["compatible $: an integer from 1 to 5 → an integer from 0 to 5"],
            reply: ["breaking $: an integer from 1 to 5 → an integer from 0 to 5"]),
        Case(
            old: #"{"type":"integer","maximum":9007199254740993}"#,
            new: #"{"type":"number","maximum":9007199254740992}"#,
            params: ["breaking $: an integer of at most 9007199254740993 → a number of at most 9007199254740992.0"],
            reply: ["breaking $: an integer of at most 9007199254740993 → a number of at most 9007199254740992.0"]),
        Case(
            old: #"{"type":"number","format":"decimal"}"#, new: #"{"type":"number"}"#,
            params: ["compatible $: a decimal number → a number"], reply: ["breaking $: a decimal number → a number"]),
        Case(
            old: #"{"type":"integer"}"#, new: #"{"type":"number","format":"decimal"}"#,
            params: ["compatible $: an integer → a decimal number"],
            reply: ["breaking $: an integer → a decimal number"]),
        // Strings
        Case(
            old: #"{"type":"string","format":"uuid"}"#, new: #"{"type":"string"}"#,
            params: ["compatible $: a string (uuid) → a string"], reply: ["breaking $: a string (uuid) → a string"]),
        Case(
            old: #"{"type":"string","format":"uuid"}"#, new: #"{"type":"string","format":"date-time"}"#,
            params: ["breaking $: a string (uuid) → a string (date-time)"],
            reply: ["breaking $: a string (uuid) → a string (date-time)"]),
        Case(
            old: #"{"type":"string","contentEncoding":"base64"}"#, new: #"{"type":"string"}"#,
            params: ["breaking $: a string in base64 → a string"], reply: ["breaking $: a string in base64 → a string"]),
        Case(
            old: #"{"type":"string","pattern":"^a"}"#, new: #"{"type":"string","minLength":0}"#,
            params: ["compatible $: a string that matches ^a → a string"],
            reply: ["breaking $: a string that matches ^a → a string"]),
        Case(
            old: #"{"type":"string","maxLength":5}"#, new: #"{"type":"string","minLength":1,"maxLength":4}"#,
            params: ["breaking $: a string of at most 5 characters → a string of 1 to 4 characters"],
            reply: ["compatible $: a string of at most 5 characters → a string of 1 to 4 characters"]),
        Case(old: #"{"type":"string","minLength":0}"#, new: #"{"type":"string"}"#, params: [], reply: []),
        // Enums
        Case(
            old: #"{"type":"string","enum":["a","b","é"]}"#, new: #"{"type":"string","enum":["b","e\u0301","a"]}"#,
            params: [#"breaking $: "é" → absent"#, "compatible $: absent → \"e\u{301}\""],
            reply: [#"compatible $: "é" → absent"#, "breaking $: absent → \"e\u{301}\""]),
        Case(
            old: #"{"type":"integer","enum":[1,2]}"#, new: #"{"type":"integer","minimum":1}"#,
            params: ["compatible $: 1 or 2 → an integer of 1 or more"],
            reply: ["breaking $: 1 or 2 → an integer of 1 or more"]),
        Case(
            old: #"{"type":"string","enum":["ab"]}"#, new: #"{"type":"string","maxLength":1}"#,
            params: [#"breaking $: "ab" → a string of at most 1 character"#],
            reply: [#"breaking $: "ab" → a string of at most 1 character"#]),
        Case(
            old: #"{"type":"string","enum":["a","b"]}"#,
            new: #"{"anyOf":[{"type":"string","enum":["b"]},{"type":"string","enum":["c","a"]}]}"#,
            params: [#"compatible $: no such alternative → "c" or "a""#],
            reply: [#"breaking $: no such alternative → "c" or "a""#]),
        // Arrays
        Case(
            old: #"{"type":"array","items":{"type":"integer"},"maxItems":3}"#,
            new: #"{"type":"array","items":{"type":"number"},"minItems":1}"#,
            params: [
                "breaking $: an array of at most 3 elements → an array of at least 1 element",
                "compatible $[*]: an integer → a number",
            ],
            reply: [
                "breaking $: an array of at most 3 elements → an array of at least 1 element",
                "breaking $[*]: an integer → a number",
            ]),
        Case(
            old: #"{"type":"array","prefixItems":[{"type":"integer"},{"type":"null"}],"items":false,"minItems":2}"#,
            new: #"{"type":"array","prefixItems":[{"type":"number"},{"type":"null"}],"items":false,"minItems":2}"#,
            params: ["compatible $[0]: an integer → a number"], reply: ["breaking $[0]: an integer → a number"]),
        Case(
            old: #"{"type":"array","prefixItems":[{"type":"integer"}],"items":false,"minItems":1}"#,
            new: #"{"type":"array","items":{"type":"integer"},"maxItems":1}"#,
            params: ["compatible $: an array of 1 element → an array of at most 1 element"],
            reply: ["breaking $: an array of 1 element → an array of at most 1 element"]),
        Case(
            old: #"{"type":"array","prefixItems":[{}],"items":false,"minItems":1}"#,
            new: #"{"type":"array","prefixItems":[{},{}],"items":false,"minItems":2}"#,
            params: ["breaking $: an array of 1 element → an array of 2 elements"],
            reply: ["breaking $: an array of 1 element → an array of 2 elements"]),
        // Objects
        Case(
            old: #"{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"required":["a"]}"#,
            new: #"{"type":"object","properties":{"c":{"type":"boolean"},"d":{}},"required":["c"]}"#,
            params: [
                "breaking $.a: null, required → absent", "breaking $.b: null, optional → absent",
                "breaking $.c: absent → true or false, required", "compatible $.d: absent → any value, optional",
            ],
            reply: [
                "breaking $.a: null, required → absent", "compatible $.b: null, optional → absent",
                "compatible $.c: absent → true or false, required", "compatible $.d: absent → any value, optional",
            ]),
        Case(
            old: #"{"type":"object","properties":{"a b":{"type":"null"}},"required":["a b"]}"#,
            new: #"{"type":"object","properties":{"a b":{"type":"null"}}}"#,
            params: [#"compatible $["a b"]: required → optional"#], reply: [#"breaking $["a b"]: required → optional"#]),
        Case(
            old: #"{"type":"object"}"#, new: #"{"type":"object","additionalProperties":false}"#,
            params: ["breaking $: other members allowed → no other members"],
            reply: ["compatible $: other members allowed → no other members"]),
        Case(
            old: #"{"type":"object","additionalProperties":false}"#,
            new: #"{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}"#,
            params: ["compatible $.a: absent → null, optional"], reply: ["breaking $.a: absent → null, optional"]),
        Case(
            old: #"{"type":"object","properties":{"a":{"type":"null","default":null},"b":{"type":"null"}}}"#,
            new:
                #"{"type":"object","properties":{"a":{"type":"null","deprecated":true},"b":{"type":"null","writeOnly":true}}}"#,
            params: [
                "compatible $.a: the default null → no default", "compatible $.a: not deprecated → deprecated",
                "compatible $.b: not secret → secret",
            ],
            reply: [
                "compatible $.a: the default null → no default", "compatible $.a: not deprecated → deprecated",
                "compatible $.b: not secret → secret",
            ]),
        // Maps
        Case(
            old: #"{"type":"object","additionalProperties":{"type":"integer"}}"#,
            new:
                #"{"type":"object","propertyNames":{"type":"string","enum":["a"]},"additionalProperties":{"type":"number"}}"#,
            params: [#"breaking $: names: a string → names: "a""#, "compatible $.*: an integer → a number"],
            reply: [#"compatible $: names: a string → names: "a""#, "breaking $.*: an integer → a number"]),
        Case(
            old: #"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
            new: #"{"type":"object","additionalProperties":{"type":"integer"}}"#,
            params: ["breaking $: an object → an object with members of one type"],
            reply: ["breaking $: an object → an object with members of one type"]),
        // Unions
        Case(
            old: #"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            new: #"{"anyOf":[{"type":"null"},{"type":"string"}]}"#,
            params: [], reply: []),
        Case(
            old: #"{"type":"object","properties":{"a":{"type":"string"}}}"#,
            new: #"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"#,
            params: ["compatible $.a: no such alternative → null"], reply: ["breaking $.a: no such alternative → null"]),
        Case(
            old: #"{"anyOf":[\#(shapes.circle),\#(shapes.square)]}"#,
            new: #"{"anyOf":[\#(shapes.square),\#(shapes.wideCircle)]}"#,
            params: ["compatible $.r: an integer → a number"], reply: ["breaking $.r: an integer → a number"]),
        Case(
            old: #"{"anyOf":[\#(shapes.circle),{"type":"null"}]}"#,
            new: #"{"anyOf":[\#(shapes.square),{"type":"null"}]}"#,
            params: [
                #"breaking $: an object whose "kind" is "circle" → no such alternative"#,
                #"compatible $: no such alternative → an object whose "kind" is "square""#,
            ],
            reply: [
                #"breaking $: no such alternative → an object whose "kind" is "square""#,
                #"compatible $: an object whose "kind" is "circle" → no such alternative"#,
            ]),
        Case(
            old: #"{"anyOf":[{"type":"integer"},{"type":"number"}]}"#, new: #"{"type":"number"}"#, params: [], reply: []
        ),
        Case(old: "{}", new: #"{"anyOf":[{"type":"null"},{}]}"#, params: [], reply: []),
        Case(
            old: "{}", new: #"{"type":"null"}"#, params: ["breaking $: any value → null"],
            reply: ["compatible $: any value → null"]),
    ]

    @Test(arguments: cases.indices)
    func changeIsListedWithItsPlaceAndBothSides(index: Int) throws {
        let one = Self.cases[index]
        #expect(try changes(one.old, one.new, as: "params") == one.params)
        #expect(try changes(one.old, one.new, as: "reply").sorted() == one.reply.sorted())
        #expect(try changes(one.old, one.new, as: "element").sorted() == one.reply.sorted() || one.old == "{}")
    }

    @Test func whatIsSaidBesideAReferenceCounts() throws {
        let definitions = ##"""
            {"A":{"$ref":"#/$defs/B","default":1},"B":{"type":"integer","default":2,"deprecated":true}}
            """##
        func member(_ more: String) -> String { #"{"type":"object","properties":{"a":{\#(more)}}}"# }
        let inline = member(#""type":"integer","default":1,"deprecated":true"#)
        #expect(try changes(inline, member(##""$ref":"#/$defs/A""##), as: "params", definitions: definitions) == [])
        #expect(
            try changes(inline, member(##""$ref":"#/$defs/A","default":3"##), as: "params", definitions: definitions)
                == ["compatible $.a: the default 1 → the default 3"])
    }

    @Test(arguments: [
        ("params", "interface", true), ("reply", "interface", false), ("element", "interface", false),
        ("broadcasts", "interface", false), ("reports", "interface", true), ("broadcasts", "module", false),
        // A module's own contract has the reports that it sends.
        ("reports", "module", false), ("observes", "module", true), ("settings", "module", true),
    ])
    func directionFollowsFromWhoSends(kind: String, subject: String, isInput: Bool) throws {
        func contract(_ type: String) throws -> Contract {
            try self.contract(
                #"{"type":"object","properties":{"a":{"type":"\#(type)"}}}"#, as: kind, subject: subject)
        }
        let (narrow, wide) = (try contract("integer"), try contract("number"))
        #expect(wide.changes(from: narrow).result == (isInput ? .compatible : .breaking))
        #expect(narrow.changes(from: wide).result == (isInput ? .breaking : .compatible))
        var without = narrow
        (without.actions, without.broadcasts, without.reports, without.observes, without.settings) = (
            [], [], [], [], nil
        )
        let isMissed = kind != "observes" && kind != "settings"
        #expect(without.changes(from: narrow).result == (isMissed ? .breaking : .compatible))
        #expect(narrow.changes(from: without).result == .compatible)
    }

    @Test func contentOfANotificationIsComparedWithItsObserver() throws {
        func notice(_ type: String) throws -> Contract { try contract(#"{"type":"\#(type)"}"#, as: "broadcasts") }
        let (sender, observer) = (try notice("number"), try notice("integer"))
        func result(_ sender: Contract, _ observer: Contract) -> ContractComparison {
            sender.changes(in: sender.broadcasts[0], forObserver: observer.broadcasts[0], of: observer)
        }
        #expect(result(sender, observer).changes.map(\.description) == ["breaking: $: an integer → a number"])
        #expect(result(observer, sender).result == .compatible && result(sender, sender).result == .same)
        var untyped = sender.broadcasts[0]
        untyped.content = nil
        #expect(sender.changes(in: untyped, forObserver: observer.broadcasts[0], of: observer).result == .compatible)
    }

    @Test func anotherSubjectIsABreakingChange() {
        let changes = Contract(.module("A")).changes(from: Contract(.interface("A")))
        #expect(changes.changes.map(\.description) == ["breaking: $: the interface A → the module A"])
    }

    // MARK: Bounds

    /// Returns a contract whose params need as many definitions, each in the one before.
    private func chain(_ count: Int, end: String) throws -> Contract {
        let definitions = (0..<count).map { index in
            ##""D\##(index)":{"type":"object","properties":{"n":{"$ref":"#/$defs/D\##(index + 1)"}}}"##
        }
        return try contract(
            ##"{"$ref":"#/$defs/D0"}"##, as: "params",
            definitions: "{\((definitions + [#""D\#(count)":\#(end)"#]).joined(separator: ","))}")
    }

    @Test func aComparisonEndsWhereTypesAreNestedTooDeep() throws {
        let short = try chain(100, end: #"{"type":"null"}"#)
        #expect(short.changes(from: short).result == .same)
        #expect(try chain(100, end: "{}").changes(from: short).changes.map(\.kind) == [.compatible])
        let long = try chain(6_000, end: #"{"type":"null"}"#)
        let changes = long.changes(from: long)
        #expect(changes.result == .breaking)
        #expect(changes.changes.last?.new == "too large or too deep to be compared as a whole")
    }

    /// Each alternative is like each other one until deep inside.
    @Test func aComparisonEndsAfterItsSteps() throws {
        func family(_ leaf: String) throws -> Contract {
            let names = (0..<60).map { "D\($0)" }
            let all = names.map { ##"{"$ref":"#/$defs/\##($0)"}"## }.joined(separator: ",")
            let definitions = names.enumerated().map { index, name in
                let members = (0..<60).map { ##""m\##($0)":{"$ref":"#/$defs/U"}"## }.joined(separator: ",")
                return #""\#(name)":{"type":"object","properties":{\#(members),"x\#(index)":\#(leaf)}}"#
            }
            return try contract(
                ##"{"$ref":"#/$defs/U"}"##, as: "params",
                definitions: #"{"U":{"anyOf":[\#(all)]},\#(definitions.joined(separator: ","))}"#)
        }
        let changes = try family(#"{"type":"integer"}"#).changes(from: try family(#"{"type":"string"}"#))
        #expect(changes.result == .breaking && changes.changes.count <= ContractComparison.mostChanges + 1)
    }

    @Test func listOfChangesIsBoundedAndItsResultIsNot() throws {
        func wide(_ last: String) throws -> Contract {
            let members = (0..<1_200).map { #""m\#($0)":{"type":"\#($0 < 1_100 ? "null" : last)"}"# }
            return try contract(#"{"type":"object","properties":{\#(members.joined(separator: ","))}}"#, as: "reply")
        }
        let old = try contract(#"{"type":"object"}"#, as: "reply")
        let changes = try wide("string").changes(from: old)
        #expect(changes.changes.count == ContractComparison.mostChanges && changes.result == .compatible)
        let fewer = try old.changes(from: wide("string"))
        #expect(fewer.changes.count == ContractComparison.mostChanges && fewer.result == .compatible)
    }

    // MARK: Random schemas

    /// The list of changes has a breaking one exactly where the relation says no, and is empty only
    /// if the schemas are the same.
    @Test func listAgreesWithTheRelation() throws {
        var counts: [ContractComparison.Result: Int] = [:]
        for seed in 0..<1_500 {
            var random = RandomContract(seed: seed)
            var mutation = ContractMutation(seed: seed + 90_000)
            let old = random.contract()
            let new = mutation.changed(old)
            for (before, after) in zip(ContractCorpus.roots(old), ContractCorpus.roots(new))
            where before.pointer == after.pointer {
                for direction in [SchemaDifference.Direction.input, .output] {
                    var graph = SchemaGraph(old.definitions, new.definitions)
                    let (one, other) = (graph.add(before.schema, of: 0), graph.add(after.schema, of: 1))
                    var difference = SchemaDifference(graph, ContractComparison(from: nil, to: nil))
                    difference.compare(one, other, direction, .root)
                    var relation = SchemaRelation(graph)
                    let isTaken =
                        direction == .input
                        ? relation.takes(other, from: one, isStrict: true)
                        : relation.takes(one, from: other, isStrict: false)
                    let result = difference.comparison.result
                    #expect((result == .breaking) == !isTaken, "seed \(seed) \(before.pointer)")
                    #expect(result != .same || relation.areSame(one, other), "seed \(seed) \(before.pointer)")
                    counts[result, default: 0] += 1
                }
            }
        }
        #expect(counts.count == 3 && counts.values.allSatisfy { $0 > 100 }, "\(counts)")
    }

    @Test func namesOfDefinitionsAndInliningAreNoDifference() throws {
        for seed in 0..<300 {
            var random = RandomContract(seed: seed)
            let contract = random.contract()
            var other = contract
            for action in other.actions.indices {
                guard let params = other.actions[action].params, case .reference(let name) = params.form else {
                    continue
                }
                other.actions[action].params = other.definitions[name]
            }
            #expect(other.changes(from: contract).result == .same, "seed \(seed)")
            #expect(contract.changes(from: other).result == .same, "seed \(seed)")
        }
    }
}
