import StrataContracts
import Testing

/// What the reader of contracts refuses, and how it says so.
@Suite(.timeLimit(.hang))
struct ReadingContractsTests {
    /// Returns the error of a document; nil if it is read.
    private func error(_ text: String) -> String? {
        do {
            _ = try Contract(parsing: Array(text.utf8))
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Returns the error of a document in which the params of one action have a schema.
    private func error(schema: String, definitions: String = "") -> String? {
        error(
            """
            {"contract":1,"interface":"A","actions":{"x":{"params":\(schema)}}\
            \(definitions.isEmpty ? "" : ",\"$defs\":{\(definitions)}")}
            """)
    }

    @Test(arguments: [
        (#"{"interface":"A"}"#, "$: the member contract is missing: a contract begins with \"contract\": 1"),
        (#"{"contract":2,"interface":"A"}"#, "$.contract: this reads contracts of the format 1; found"),
        (#"{"contract":1}"#, "$: the member interface is missing, or module"),
        (#"{"contract":1,"interface":"A","module":"B"}"#, "$: a contract is of an interface or of a module"),
        (#"{"contract":1,"interface":"1A"}"#, "$.interface: \"1A\" can't be an interface's name"),
        (#"{"contract":1,"interface":"A","version":"2"}"#, "$.version: \"2\" is no version: write major.minor"),
        (#"{"contract":1,"interface":"A","version":"02.1"}"#, "$.version: \"02.1\" is no version"),
        (#"{"contract":1,"interface":"A","instances":"many"}"#, "$.instances: expected single or multiple"),
        (#"{"contract":1,"interface":"A","settings":{}}"#, "$.settings: settings is of a module's contract only"),
        (#"{"contract":1,"interface":"A","actoins":{}}"#, "$: "),
        (#"{"contract":1,"interface":"A","actions":{"a b":{}}}"#, "$.actions"),
        (#"{"contract":1,"interface":"A","actions":{"x":{"reply":{},"element":{}}}}"#, "$.actions.x: "),
        (#"{"contract":1,"interface":"A","actions":[]}"#, "$.actions: "),
        (#"{"contract":1,"interface":"A","actions":{"x":{"errors":{"nodot":{}}}}}"#, "$.actions.x.errors"),
        (#"{"contract":1,"interface":"A","actions":{"x":{},"x":{}}}"#, "$"), ("[]", "$: "), ("", "$"), ("{", "$"),
    ])
    func documentThatBreaksARuleIsRefusedAtItsPlace(text: String, beginning: String) {
        let error = error(text)
        #expect(error?.hasPrefix(beginning) == true, "\(error ?? "it was read")")
    }

    @Test(arguments: [
        (#"{"not":{}}"#, "the keyword not isn't one that contracts have"),
        (#"{"type":"object","propertis":{}}"#, "did you mean properties?"),
        (#"{"type":["string","null"]}"#, ".type: a type is one word: write anyOf for several types"),
        (#"{"type":"strng"}"#, ".type: expected null, boolean, integer, number, string, array or object"),
        (#"{"type":"string","minimum":1}"#, "the keyword minimum doesn't go with the type string"),
        (#"{"type":"integer","minimum":2,"maximum":1}"#, "minimum 2 is over maximum 1, so nothing is allowed"),
        (#"{"type":"integer","minimum":1.5}"#, ".minimum: "), (#"{"anyOf":[]}"#, "anyOf has at least one schema"),
        (#"{"enum":["a"]}"#, "an enum needs \"type\": \"string\" or \"type\": \"integer\" beside it"),
        (#"{"type":"string","enum":[]}"#, "an enum has 1 to 4096 values; found 0"),
        (#"{"type":"string","enum":["a","a"]}"#, "is there twice"),
        (#"{"type":"string","enum":[1]}"#, ".enum[0]: expected string"),
        (##"{"$ref":"#/definitions/A"}"##, ".$ref: expected #/$defs/NAME"),
        (##"{"$ref":"#/$defs/B"}"##, "there is no B in $defs"),
        (#"{"type":"string","contentEncoding":"hex"}"#, "base64"),
        (#"{"type":"object","required":["a"]}"#, "required"),
        (#"{"type":"object","properties":{"a":{}},"required":["a","a"]}"#, "required"),
        (#"{"type":"array","items":{},"minItems":-1}"#, "minItems"),
        (#"{"type":"array","prefixItems":[{}]}"#, "items"),
        ("5", "$.actions.x.params: "), (#"{"deprecated":"yes"}"#, ".deprecated: "),
    ])
    func schemaThatBreaksARuleIsRefusedWithAReason(schema: String, part: String) {
        let error = error(schema: schema)
        #expect(error?.hasPrefix("$.actions.x.params") == true, "\(error ?? "it was read")")
        #expect(error?.contains(part) == true, "\(error ?? "it was read")")
    }

    @Test func referencesThatOnlyLeadToEachOtherAreRefused() {
        let loop = ##""A":{"anyOf":[{"$ref":"#/$defs/B"},{"type":"null"}]},"B":{"$ref":"#/$defs/A"}"##
        #expect(error(schema: ##"{"$ref":"#/$defs/A"}"##, definitions: loop)?.hasPrefix("$.$defs.") == true)
        let list = ##""A":{"type":"array","items":{"$ref":"#/$defs/A"}}"##
        #expect(error(schema: ##"{"$ref":"#/$defs/A"}"##, definitions: list) == nil)
    }

    @Test func eachBoundIsChecked() {
        let deep = (0..<40).reduce(#"{"type":"null"}"#) { schema, _ in #"{"type":"array","items":\#(schema)}"# }
        #expect(error(schema: deep)?.contains("schemas are nested over 32 deep") == true)
        let wide = Array(repeating: #"{"type":"null"}"#, count: 65).joined(separator: ",")
        #expect(error(schema: #"{"anyOf":[\#(wide)]}"#)?.contains("anyOf has at most 64 schemas; found 65") == true)
        let many = (0...4_096).map(String.init).joined(separator: ",")
        #expect(
            error(schema: #"{"type":"integer","enum":[\#(many)]}"#)?.contains("1 to 4096 values; found 4097") == true)
        let long = #"{"description":"\#(String(repeating: "x", count: ContractLimits.bytes))"}"#
        #expect(error(schema: long)?.hasPrefix("$: ") == true)
        let values = Array(repeating: "1", count: ContractLimits.values).joined(separator: ",")
        #expect(error(schema: #"{"examples":[\#(values)]}"#)?.contains("65") == true)
    }

    @Test func noBeginningOfADocumentIsADocument() throws {
        let text = Array(
            #"{"contract":1,"interface":"A","version":"1.0","actions":{"x":{"params":{"type":"string"}}}}"#.utf8)
        _ = try Contract(parsing: text)
        for count in text.indices {
            #expect(throws: ContractError.self) { try Contract(parsing: Array(text[..<count])) }
        }
    }
}
