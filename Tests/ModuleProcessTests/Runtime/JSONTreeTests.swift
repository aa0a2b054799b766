import Foundation
import StrataCore
import StrataJSON
import Testing

@testable import Strata

/// A JSON tree is a value like any other, for each decoder and encoder.
struct JSONTreeTests {
    private struct Holder: Codable, Equatable {
        var extra: JSON
        var more: JSON?
    }

    private static let trees = [
        "null", "true", "-7", "0.5", #""a \"text\"\n""#, "[]", "{}", #"[1,[null,"x"],{"a":{}}]"#,
        #"{"a b":{"c":[1.5,false]},"é":"ü"}"#, "9223372036854775807", "1e300",
    ]

    private func read(_ text: String) throws -> Holder { try JSONReader().decode(Holder.self, from: Array(text.utf8)) }

    @Test(arguments: Self.trees)
    func aTreeIsReadAndWrittenAsItIs(_ text: String) throws {
        let tree = try JSON(parsing: Array(text.utf8))
        #expect(try read(#"{"extra":\#(tree)}"#).extra == tree)
        let written = try JSONWriter().encode(Holder(extra: tree))
        #expect(try JSON(parsing: written) == ["extra": tree])
    }

    @Test(arguments: Self.trees)
    func otherCodersAgree(_ text: String) throws {
        let tree = try JSON(parsing: Array(text.utf8))
        let written = try JSONEncoder().encode(Holder(extra: tree))
        let read = try JSONDecoder().decode(Holder.self, from: written).extra
        #expect(
            try JSON(parsing: [UInt8](JSONEncoder.sorted.encode(read)))
                == JSON(parsing: [UInt8](JSONEncoder.sorted.encode(tree))))
    }

    @Test func aMissingTreeIsNotNull() throws {
        #expect(try read(#"{"extra":null}"#) == Holder(extra: nil, more: nil))
        #expect(throws: DecodingError.self) { try read("{}") }
    }

    @Test func aNumberOutOfRangeHasItsPlace() {
        let error = #expect(throws: DecodingError.self) { try read(#"{"extra":{"list":[1,1e999]}}"#) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["extra"])
    }

    @Test func membersKeepTheirOrder() throws {
        let tree: JSON = ["z": 1, "a": 2, "m": 3]
        #expect(try String(decoding: JSONWriter().encode(tree), as: UTF8.self) == #"{"z":1,"a":2,"m":3}"#)
        #expect(try read(#"{"extra":{"z":1,"a":2,"m":3}}"#).extra == tree)
    }
}

extension JSONEncoder {
    fileprivate static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
