import StrataContracts
import StrataCore
import Testing

/// What a check of a value says of unions, and at its bounds.
@Suite(.timeLimit(.hang))
struct CheckBoundsTests {
    private func verdict(_ schema: String, _ value: String, _ definitions: [String: String] = [:]) throws
        -> SchemaVerdict
    {
        let contract = try Contract(
            parsing: Array(
                #"""
                {"contract":1,"interface":"A","actions":{"x":{"params":\#(schema)}},"$defs":{
                \#(definitions.map { "\"\($0)\":\($1)" }.joined(separator: ","))}}
                """#.utf8))
        return try contract.checker(for: #require(contract.actions[0].params)).check(text: Array(value.utf8))
    }

    private func said(_ schema: String, _ value: String) throws -> String {
        switch try verdict(schema, value) {
        case .allowed: "allowed"
        case .refused(let mismatch): "\(mismatch)"
        case .undecided(let why): why
        }
    }

    private static let shapes = #"""
        {"anyOf":[{"type":"object","properties":{"kind":{"type":"string","enum":["circle"]},"r":{"type":"number"}},
        "required":["kind","r"]},{"type":"object","properties":{"kind":{"type":"string","enum":["square"]},
        "side":{"type":"number"}},"required":["side","kind"]},{"type":"null"}]}
        """#
    private static let cases = #"""
        {"anyOf":[{"type":"object","properties":{"circle":{"type":"number"}},"required":["circle"],
        "additionalProperties":false},{"type":"object","properties":{"square":{"type":"number"}},"required":["square"],
        "additionalProperties":false}]}
        """#

    @Test(arguments: [
        (shapes, #"{"kind":"square","side":1}"#, "allowed"), (shapes, "null", "allowed"),
        (shapes, #"{"kind":"square","sied":1}"#, #"$.side: expected a number, found nothing (there is "sied")"#),
        (shapes, #"{"kind":"circle","r":"1"}"#, #"$.r: expected a number, found the string "1""#),
        (shapes, #"{"kind":"hexagon"}"#, #"$.kind: expected "circle" or "square", found the string "hexagon""#),
        (shapes, "{}", #"$.kind: expected "circle", found nothing"#),
        (
            shapes, "5",
            #"$: expected an object whose "kind" is "circle", an object whose "kind" is "square" or null, found the number 5"#
        ),
        (cases, #"{"circle":"1"}"#, #"$.circle: expected a number, found the string "1""#),
        (cases, #"{"cirle":1}"#, #"$: expected an object with "circle" or "square", found an object with "cirle""#),
        (cases, "{}", #"$: expected an object with "circle" or "square", found an object without members"#),
        (cases, #"{"circle":1,"x":2}"#, "$.x: expected no such member, found the number 2"),
        (
            #"{"anyOf":[{"type":"integer","minimum":0},{"type":"null"}]}"#, "-1",
            "$: expected an integer of 0 or more or null, found the number -1"
        ),
        (
            #"{"type":"object","properties":{"kind":{"type":"null"}},"additionalProperties":false}"#, #"{"Kind":null}"#,
            #"$.Kind: expected no such member, found null (did you mean "kind"?)"#
        ),
        (
            #"{"type":"object","propertyNames":{"type":"string","enum":["a"]},"additionalProperties":{}}"#,
            #"{"b c":1}"#,
            #"$["b c"]: expected a name that is "a", found the name the string "b c""#
        ),
    ])
    func messageNamesWhatWasMeant(schema: String, value: String, message: String) throws {
        #expect(try said(schema, value) == message)
    }

    @Test(arguments: [
        (
            #"{"type":"integer"}"#, ["1", "1.0", "-0.0", "1e3", "12345678901234567890", "1e300"],
            ["1.5", "true", "\"1\"", "null"]
        ),
        (
            #"{"type":"integer","minimum":9007199254740993}"#, ["9007199254740993"],
            ["9007199254740992", "9007199254740992.0"]
        ),
        (#"{"type":"number","maximum":9007199254740992}"#, ["9007199254740992", "0.5"], ["9007199254740993", "1e17"]),
        (#"{"type":"number","minimum":-0.5}"#, ["-0.5", "0", "-0"], ["-1", "-0.50001"]),
        (#"{"type":"integer","enum":[1,2]}"#, ["1", "2.0"], ["3", "\"1\"", "1.5", "true"]),
        (#"{"type":"string","enum":["é"]}"#, ["\"é\"", "\"\\u00e9\""], ["\"e\u{301}\"", "\"\""]),
        (
            #"{"type":"string","minLength":2,"maxLength":2}"#,
            ["\"e\u{301}\"", "\"\u{1F600}a\"", "\"\\ud83d\\ude00a\""], ["\"é\"", "\"abc\""]
        ),
        (
            #"{"type":"string","pattern":"\#(Schema.Text.integerPattern)"}"#,
            ["\"0\"", "\"-7\"", "\"123456789012345678\""],
            ["\"-0\"", "\"01\"", "\"\"", "\"-\"", "\"1\\n\"", "\"1234567890123456789\""]
        ),
        // What receivers check is left to them.
        (#"{"type":"string","pattern":"^a$"}"#, ["\"b\""], ["1"]),
        (#"{"type":"string","format":"uuid"}"#, ["\"b\""], ["1"]),
        (#"{"type":"string","contentEncoding":"base64"}"#, ["\"!\""], ["1"]),
    ])
    func singleValuesAreAllowedAsJSONSchemaSays(schema: String, allowed: [String], refused: [String]) throws {
        for value in allowed { #expect(try verdict(schema, value) == .allowed, "\(value)") }
        for value in refused {
            guard case .refused = try verdict(schema, value) else {
                Issue.record("\(schema) allowed \(value)")
                continue
            }
        }
    }

    @Test func aRangeCoversExactlyWhatIsWrong() throws {
        let schema = #"{"type":"object","additionalProperties":{"type":"array","items":{"type":"null"}}}"#
        for (text, marked) in [
            (#" { "a" : [ null , {"x":[1,"]"]} ] } "#, #"{"x":[1,"]"]}"#),
            (#"{"a":[],"b\"":[null, -1.5e3 ]}"#, "-1.5e3"),
            (#"{"a":[null],"c":"\\\"}"}"#, #""\\\"}""#), ("\n[ [ ] ]\n", "[ [ ] ]"), (#"{"a":[null,[]]}"#, "[]"),
        ] {
            guard case .refused(let mismatch) = try verdict(schema, text) else {
                Issue.record("\(text) was allowed")
                continue
            }
            #expect(String(decoding: Array(text.utf8)[mismatch.range], as: UTF8.self) == marked, "\(text)")
        }
    }

    @Test func aCheckGivesUpWhereAValueIsNestedTooDeep() throws {
        let list = ##"{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/L"}},{"type":"null"}]}"##
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + "null" + String(repeating: "]", count: depth)
        }
        #expect(try verdict(##"{"$ref":"#/$defs/L"}"##, nested(128), ["L": list]) == .allowed)
        #expect(try verdict(##"{"$ref":"#/$defs/L"}"##, nested(129), ["L": list]) == .undecided("nested over 128 deep"))
        #expect(
            try verdict(##"{"$ref":"#/$defs/L"}"##, nested(100_000), ["L": list]) == .undecided("nested over 128 deep"))
        // What no schema describes isn't looked into.
        #expect(try verdict("{}", nested(100_000)) == .allowed)
    }

    @Test func aCheckGivesUpAfterItsSteps() throws {
        let value = "[\(Array(repeating: "1", count: 40_000).joined(separator: ","))]"
        let numbers = (2..<300).map(String.init).joined(separator: ",")
        let schema = #"{"type":"array","items":{"anyOf":[{"type":"integer","enum":[\#(numbers)]},{"type":"integer"}]}}"#
        #expect(try verdict(schema, value) == .undecided("over 1000000 comparisons"))
    }

    /// Without a memo, each level would double the work.
    @Test func likeAlternativesInARecursionAreComparedOnce() throws {
        func node(_ last: String) -> String {
            ##"{"type":"object","properties":{"next":{"$ref":"#/$defs/T"},"last":{"type":"\##(last)"}},"required":["next"]}"##
        }
        let tree = #"{"anyOf":[\#(node("string")),\#(node("boolean")),{"type":"null"}]}"#
        let value = String(repeating: #"{"next":"#, count: 100) + "5" + String(repeating: "}", count: 100)
        guard case .refused(let mismatch) = try verdict(##"{"$ref":"#/$defs/T"}"##, value, ["T": tree]) else {
            Issue.record("it wasn't refused")
            return
        }
        #expect(mismatch.path == "$" + String(repeating: ".next", count: 100))
    }

    @Test func whatIsNoJSONIsNoVerdict() throws {
        #expect(throws: JSONError.self) { try verdict("{}", #"{"a":1,"a":2}"#) }
        let twice = JSON.object([.init("a", 1), .init("a", 2)])
        let reason = #"the value can't be written as JSON: at byte 7: the name "a" is there twice"#
        #expect(SchemaChecker(Schema(.any)).check(twice) == .undecided(reason))
    }
}
