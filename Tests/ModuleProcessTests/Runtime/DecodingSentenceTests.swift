import FoundationEssentials
import StrataCore
import Testing

@testable import Strata

/// A refused body is described in JSON's terms: the place, what was expected, and what was found.
struct DecodingSentenceTests {
    enum Colour: String, Codable { case red, green }

    struct Inner: Codable {
        var name: String
        var small: UInt8?
        var colour: Colour?
        var at: Date?
        var link: URL?
        var content: Data?
        var ratio: Double?
        var own: Own?
    }

    struct Own: Codable {
        init(from decoder: any Decoder) throws {
            throw DecodingError.typeMismatch(
                Own.self, .init(codingPath: decoder.codingPath, debugDescription: "Never right."))
        }
        func encode(to encoder: any Encoder) throws {}
    }

    struct Outer: Codable {
        var items: [Inner]
        var odd: [String: Int]?
    }

    @Test(arguments: [
        (#"{"items": [{"name": "a"}, {"name": 5}]}"#, "$.items[1].name: expected a string, found a number"),
        (#"{"items": [{}]}"#, "$.items[0].name: expected a value, found nothing"),
        (#"{"items": [{"name": null}]}"#, "$.items[0].name: expected a string, found null"),
        (#"{"items": [null]}"#, "$.items[0]: expected an object, found null"),
        (#"{"items": {}}"#, "$.items: expected an array, found an object"),
        (#"{}"#, "$.items: expected a value, found nothing"),
        (#"[]"#, "$: expected an object with `items`, found an array"),
        (#"{"items": [], "odd": {"a b": true}}"#, "$.odd[\"a b\"]: expected an integer, found true or false"),
        (
            #"{"items": [{"name": "a", "small": 256}]}"#,
            "$.items[0].small: expected an integer from 0 to 255, found 256"
        ),
        (
            #"{"items": [{"name": "a", "colour": "blue"}]}"#,
            "$.items[0].colour: expected a value of Colour, found blue"
        ),
        (
            #"{"items": [{"name": "a", "at": "today"}]}"#,
            "$.items[0].at: expected a date and time such as 2026-01-31T12:00:00Z, found another string"
        ),
        (#"{"items": [{"name": "a", "link": ""}]}"#, "$.items[0].link: expected a URL, found another string"),
        (
            #"{"items": [{"name": "a", "content": "?"}]}"#,
            "$.items[0].content: expected a string in base64, found another string"
        ),
        (
            #"{"items": [{"name": "a", "ratio": 1e999}]}"#,
            "$.items[0].ratio: expected a number that fits in Double, found 1e999"
        ),
        (#"{"items": [{"name": "a", "own": 1}]}"#, "$.items[0].own: Never right."),
        (#"{"items": ]}"#, "$: The given data was not valid JSON: at byte 10: no value begins like this."),
    ])
    func refusedBodiesAreDescribed(_ body: String, _ sentence: String) async {
        let message = await Task { @ModuleActor in
            do throws(ModuleError) {
                _ = try Array(body.utf8).withUnsafeBytes { bytes in
                    Result { () throws(ModuleError) in try Coding.params(Outer.self, bytes) }
                }.get()
                return "decoded"
            } catch {
                return error.message
            }
        }.value
        #expect(message == sentence)
    }
}
