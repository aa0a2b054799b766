import StrataContracts
import StrataCore
import Testing

/// The text of a document is the same from each of Strata's languages.
@Suite(.timeLimit(.hang))
struct CanonicalTextTests {
    @Test func membersHaveOneOrderAndOneLayout() throws {
        let given = ##"""
            {"$defs":{"P":{"required":["b"],"description":"p","properties":{"b":{"default":null,"type":"null"},
            "a":{"$ref":"#/$defs/P","deprecated":true}},"type":"object"}},"instances":"single",
            "reports":{},"actions":{"b":{"errors":{},"element":{}},"a":{"errors":{"A.x":{},"A.b":{"description":"é\n\u0001"}},
            "reply":{"additionalProperties":false,"type":"object"},"auth":false,"deprecated":false,"params":{
            "minItems":2,"items":false,"prefixItems":[{"maximum":5,"type":"number"},{"maximum":5.0,"type":"integer"}],
            "type":"array"}}},"version":"1.0","interface":"A","contract":1}
            """##
        let canonical = ##"""
            {
              "contract": 1,
              "interface": "A",
              "version": "1.0",
              "actions": {
                "a": {
                  "auth": false,
                  "params": {
                    "type": "array",
                    "prefixItems": [
                      {
                        "type": "number",
                        "maximum": 5.0
                      },
                      {
                        "type": "integer",
                        "maximum": 5
                      }
                    ],
                    "items": false,
                    "minItems": 2
                  },
                  "reply": {
                    "type": "object",
                    "additionalProperties": false
                  },
                  "errors": {
                    "A.b": {
                      "description": "é\n\u0001"
                    },
                    "A.x": {}
                  }
                },
                "b": {
                  "element": {}
                }
              },
              "$defs": {
                "P": {
                  "type": "object",
                  "properties": {
                    "b": {
                      "type": "null",
                      "default": null
                    },
                    "a": {
                      "$ref": "#/$defs/P",
                      "deprecated": true
                    }
                  },
                  "required": [
                    "b"
                  ],
                  "description": "p"
                }
              }
            }

            """##
        let contract = try Contract(parsing: Array(given.utf8))
        #expect(String(decoding: contract.encoded(), as: UTF8.self) == canonical)
        #expect(try Contract(parsing: Array(canonical.utf8)) == contract)
    }

    /// The right sides are what Python 3.11 prints.
    @Test(
        arguments: [
            (1e16, "1e+16"), (9_007_199_254_740_994, "9007199254740994.0"),
            (9_007_199_254_740_992, "9007199254740992.0"),
            (9_999_999_999_999_998, "9999999999999998.0"), (-9_500_000_000_000_000, "-9500000000000000.0"),
            (123_456_789_012_345_680, "1.2345678901234568e+17"), (1.5e300, "1.5e+300"), (1e22, "1e+22"),
            (1e-5, "1e-05"),
            (1.25e-5, "1.25e-05"), (0.0001, "0.0001"), (0.1, "0.1"), (-0.0, "-0.0"), (100, "100.0"),
            (.leastNonzeroMagnitude, "5e-324"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
        ] as [(Double, String)])
    func doublesAreWrittenAsPythonWritesThem(number: Double, text: String) throws {
        var contract = Contract(.interface("A"))
        contract.broadcasts = [.init("n", content: Schema(.number(minimum: number, maximum: nil, format: nil)))]
        let written = String(decoding: contract.encoded(), as: UTF8.self)
        #expect(written.contains("\"minimum\": \(text)\n"), "\(written)")
        #expect(try Contract(parsing: Array(written.utf8)) == contract)
    }

    @Test func namesAreSortedByTheirBytes() throws {
        var contract = Contract(.module("M"))
        contract.broadcasts = ["é", "z", "Z", "e\u{301}", "\u{1F600}", "\u{FF5E}"].map { .init($0) }
        let read = try Contract(parsing: contract.encoded())
        #expect(read.broadcasts.map(\.name) == ["Z", "e\u{301}", "z", "é", "\u{FF5E}", "\u{1F600}"])
        #expect(read.encoded() == contract.encoded())
    }

    @Test func aModulesContractsAreWrittenAndRead() throws {
        var contracts = ModuleContracts(module: Contract(.module("M")))
        let text = #"{"module":{"contract":1,"module":"M"},"provides":[],"requires":[]}"#
        #expect(contracts.json().description == text)
        contracts.provides = [Contract(.interface("B"), version: "1.2"), Contract(.interface("A"))]
        contracts.requires = [Contract(.interface("C"))]
        let read = try ModuleContracts(parsing: contracts.encoded())
        #expect(read.provides.map(\.subject) == [.interface("A"), .interface("B")])
        #expect(read.provides[1].version == "1.2" && read.requires == contracts.requires)
        #expect(read.encoded() == contracts.encoded())
        #expect(try ModuleContracts(parsing: Array(#"{"module":{"contract":1,"module":"M"}}"#.utf8)).requires == [])
    }

    @Test(arguments: [
        (#"{}"#, "$: the member module is missing"),
        (
            #"{"module":{"contract":1,"interface":"M"}}"#,
            "$.module: expected the contract of a module; found that of the "
        ),
        (#"{"module":{"contract":1,"module":"M","x":1}}"#, #"$.module: there is no member "x""#),
        (
            #"{"module":{"contract":1,"module":"M"},"provide":[]}"#,
            "$: there is no member \"provide\": did you mean provides"
        ),
        (#"{"module":{"contract":1,"module":"M"},"provides":{}}"#, "$.provides: expected an array, found an object"),
        (
            #"{"module":{"contract":1,"module":"M"},"provides":[{"contract":1,"module":"N"}]}"#,
            "$.provides[0]: expected the contract of an interface"
        ),
        (
            #"{"module":{"contract":1,"module":"M"},"requires":[{"contract":1,"interface":"A"},{"contract":1,"interface":"A"}]}"#,
            "$.requires[1]: A is there twice"
        ),
        (
            #"{"module":{"contract":1,"module":"M"},"requires":[{"contract":1,"interface":"A","actions":{"x":{"params":1}}}]}"#,
            "$.requires[0].actions.x.params: a schema is an object; found the number 1"
        ),
    ])
    func aModulesContractsThatBreakARuleAreRefused(text: String, beginning: String) {
        do {
            _ = try ModuleContracts(parsing: Array(text.utf8))
            Issue.record("it was read")
        } catch {
            #expect("\(error)".hasPrefix(beginning), "\(error)")
        }
    }
}
