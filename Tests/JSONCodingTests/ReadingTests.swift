import FoundationEssentials
import StrataCore
import StrataTesting
import Testing
import TestSupport

@testable import StrataJSON

struct ReadingTests {
    private let reader = JSONReader()

    private func read<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try reader.decode(type, from: Array(text.utf8))
    }

    private func read(_ text: String, _ body: @escaping @Sendable (any Decoder) throws -> Void) throws {
        try Read.$body.withValue(body) { _ = try read(text, as: Read.self) }
    }

    /// Returns the error and its place, in Foundation's words.
    private func problem<Value: Decodable>(_ text: String, as type: Value.Type) -> String {
        do {
            return "\(try read(text, as: type))"
        } catch DecodingError.keyNotFound(let key, let context) {
            return "no \(key.stringValue) in \(context.codingPath.map(\.stringValue))"
        } catch DecodingError.valueNotFound(let type, let context) {
            return "null for \(type) at \(context.codingPath.map(\.stringValue)): \(context.debugDescription)"
        } catch DecodingError.typeMismatch(let type, let context) {
            return "no \(type) at \(context.codingPath.map(\.stringValue)): \(context.debugDescription)"
        } catch DecodingError.dataCorrupted(let context) {
            return "corrupt at \(context.codingPath.map(\.stringValue)): \(context.debugDescription)"
        } catch {
            return "\(error)"
        }
    }

    @Test func integersAreExact() throws {
        #expect(try read("[0,-0,1.0,1e2,100e-2,0.5e1,-12.50e1]", as: [Int].self) == [0, 0, 1, 100, 1, 5, -125])
        #expect(try read("[9223372036854775807,-9223372036854775808]", as: [Int].self) == [.max, .min])
        #expect(
            try read("[9007199254740993.0,9223372036854775807.0]", as: [Int64].self) == [9_007_199_254_740_993, .max])
        #expect(try read("[18446744073709551615,1e19]", as: [UInt64].self) == [.max, 10_000_000_000_000_000_000])
        #expect(try read("170141183460469231731687303715884105727", as: Int128.self) == .max)
        #expect(try read("[0e999999999999999999999,0.000]", as: [Int8].self) == [0, 0])
        for text in ["1.5", "128", "-129", "1e3", "1e999999999999999999999", "1e-1", "12345678901234567890123456789"] {
            #expect(problem(text, as: Int8.self) == "corrupt at []: Parsed JSON number <\(text)> does not fit in Int8.")
        }
        #expect(problem("-1", as: UInt.self) == "corrupt at []: Parsed JSON number <-1> does not fit in UInt.")
        #expect(throws: DecodingError.self) { try read("9223372036854775808", as: Int.self) }
        #expect(throws: DecodingError.self) { try read("-9223372036854775809", as: Int.self) }
    }

    @Test func floatingPointNumbersAreTheNearest() throws {
        for text in [
            "0.1", "-2.5", "1e22", "1e23", "123456789012345678", "9007199254740993", "5e-324", "1.7976931348623157e308",
            "0.30000000000000004", "3.14159265358979323846264338327950288", "1e-22", "8.41e21", "17", "0", "4.35e-9",
        ] {
            #expect(try read(text, as: Double.self) == Double(text))
            if let float = Float(text), float.isFinite, float != 0 || text == "0" {
                #expect(try read(text, as: Float.self) == float)
            }
        }
        #expect(try read("-0", as: Double.self).sign == .minus)
        #expect(try read("-0.0e5", as: Float.self).sign == .minus)
        for text in ["1e309", "-1e400", "1e-400"] {
            #expect(throws: DecodingError.self) { try read(text, as: Double.self) }
        }
        #expect(throws: DecodingError.self) { try read("1e39", as: Float.self) }
    }

    @Test func textsAreUnescaped() throws {
        #expect(
            try read(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00ü""#, as: String.self)
                == "\"\\/\u{8}\u{c}\n\r\tAé€😀ü")
        for length in 0..<20 {
            let text = String(repeating: "x", count: length)
            #expect(
                try read("[\"\(text)\", \"\(text)\\n\(text)\", \"\(text)é\(text)\"]") == [
                    text, text + "\n" + text, text + "é" + text,
                ])
        }
    }

    /// Accepts any value.
    private struct Anything: Decodable { init(from decoder: any Decoder) throws {} }

    @Test func allOfUTF8IsRead() throws {
        for text in ["\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"] {
            #expect(try read("\"\(text)\"", as: String.self) == text)
        }
    }

    @Test func errorsSayWhatAndWhere() throws {
        struct Item: Decodable {
            var number: Int
            var list: [String: [Bool]]?
            var nested: Nested?
            var date: Date?
            var url: URL?
        }
        struct Nested: Decodable { var x: UInt8 }
        #expect(problem("{}", as: Item.self) == "no number in []")
        #expect(problem("[{\"number\":1,\"nested\":{}}]", as: [Item].self) == "no x in [\"Index 0\", \"nested\"]")
        #expect(
            problem("{\"number\":null}", as: Item.self)
                == "null for Int at [\"number\"]: Cannot get value of type Int -- found null value instead")
        #expect(
            problem("{\"number\":\"x\"}", as: Item.self)
                == "no Int at [\"number\"]: Expected to decode Int but found a string instead.")
        #expect(
            problem("{\"number\":1,\"list\":{\"a\\n\":[true,false,1]}}", as: Item.self)
                == "no Bool at [\"list\", \"a\\n\", \"Index 2\"]: Expected to decode Bool but found number instead.")
        #expect(
            problem("{\"number\":1,\"nested\":[]}", as: Item.self)
                == "no Dictionary<String, Any> at [\"nested\"]: Expected to decode Dictionary<String, Any> but found an array instead."
        )
        #expect(
            problem("{\"number\":1,\"nested\":{\"x\":256}}", as: Item.self)
                == "corrupt at [\"nested\", \"x\"]: Parsed JSON number <256> does not fit in UInt8.")
        #expect(
            problem("{\"number\":1,\"date\":\"x\"}", as: Item.self)
                == "corrupt at [\"date\"]: Expected date string to be ISO8601-formatted.")
        #expect(problem("{\"number\":1,\"url\":\"\"}", as: Item.self) == "corrupt at [\"url\"]: Invalid URL string.")
        #expect(
            problem("null", as: [Int].self)
                == "null for Array<Any> at []: Cannot get unkeyed decoding container -- found null value instead")
        #expect(
            problem("true", as: Item.self)
                == "no Dictionary<String, Any> at []: Expected to decode Dictionary<String, Any> but found bool instead."
        )
    }

    @Test func namesOfDifferentObjectsMayBeTheSame() throws {
        struct Two: Codable, Equatable { var a: Int, b: Int }
        let many = (0..<100).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        #expect(try read(#"{"b":1,"a":2,"\u0041":3,"x":{"a":1},"y":{"a":1}}"#) == Two(a: 2, b: 1))
        #expect(try read("{\(many)}", as: [String: Int].self).count == 100)
        // The same characters in another encoding are another name.
        #expect(try self.read("{\"e\u{301}\":1,\"\u{e9}\":2}", as: Accents.self) == Accents(composed: 2))
    }

    private struct Accents: Decodable, Equatable {
        var composed: Int
        enum CodingKeys: String, CodingKey { case composed = "\u{e9}" }
    }

    @Test func membersAreFoundInAnyOrder() throws {
        struct Wide: Codable, Equatable {
            var a = 1, b = 2, c = 3, d = 4, longer = 5, longest = 6, e: Int? = nil, f: Int? = nil
        }
        var generator = SeededGenerator(7)
        var members = [#""a":1"#, #""b":2"#, #""c":3"#, #""d":4"#, #""longer":5"#, #""longest":6"#, #""none":{"a":9}"#]
        for extra in [0, 40] {
            members += (0..<extra).map { "\"more\($0)\":[]" }
            for _ in 0..<50 {
                members.shuffle(using: &generator)
                #expect(try read("{\(members.joined(separator: " , "))}") == Wide())
            }
        }
    }

    @Test func containersAnswerWhatTheyHold() throws {
        try read(#"{"a":null,"b":[1,null,{"x":2}],"c":{"d":"e"}}"#) { decoder in
            let object = try decoder.container(keyedBy: Name.self)
            #expect(object.allKeys.map(\.stringValue) == ["a", "b", "c"])
            #expect(object.contains("a") && object.contains("c") && !object.contains("d"))
            #expect(try object.decodeNil(forKey: "a"))
            #expect(try !object.decodeNil(forKey: "b"))
            #expect(throws: DecodingError.self) { try object.decodeNil(forKey: "d") }
            #expect(try object.decodeIfPresent(Int.self, forKey: "a") == nil)
            #expect(try object.decodeIfPresent([Int].self, forKey: "z") == nil)
            var array = try object.nestedUnkeyedContainer(forKey: "b")
            #expect(array.count == 3 && array.currentIndex == 0 && !array.isAtEnd)
            #expect(throws: DecodingError.self) { try array.decode(String.self) }
            #expect(try !array.decodeNil())
            #expect(try array.decode(UInt16.self) == 1)
            #expect(try array.decodeNil())
            let nested = try array.nestedContainer(keyedBy: Name.self)
            #expect(try nested.decode(Int.self, forKey: "x") == 2)
            #expect(nested.codingPath.map(\.stringValue) == ["b", "Index 2"])
            #expect(array.isAtEnd && array.currentIndex == 3)
            #expect(throws: DecodingError.self) { try array.decode(Int.self) }
            #expect(throws: DecodingError.self) { try array.decodeNil() }
            #expect(throws: DecodingError.self) { try array.superDecoder() }
            let above = try object.superDecoder(forKey: "c").container(keyedBy: Name.self)
            #expect(try above.decode(String.self, forKey: "d") == "e")
            let absent = try object.superDecoder()
            #expect(absent.codingPath.map(\.stringValue) == ["super"])
            #expect(try absent.singleValueContainer().decodeNil())
        }
    }

    @Test func aDecoderKeptBeyondTheCallStillReads() throws {
        // Unsafe, because the closure is Sendable and runs before withValue returns.
        nonisolated(unsafe) var kept: (any Decoder)?
        var bytes = Array(#"{"a":"a text that is not short","b":[1]}"#.utf8)
        try Read.$body.withValue({ kept = $0 }) { _ = try reader.decode(Read.self, from: bytes) }
        for index in bytes.indices { bytes[index] = 0 }
        #expect(try read("[7]", as: [Int].self) == [7])
        let object = try #require(try kept?.container(keyedBy: Name.self))
        #expect(try object.decode(String.self, forKey: "a") == "a text that is not short")
        #expect(try object.decode([Int].self, forKey: "b") == [1])
    }

    @Test func aContainerKeptBeyondTheCallStillReads() throws {
        // Unsafe, because the closure is Sendable and runs before withValue returns.
        nonisolated(unsafe) var kept: [KeyedDecodingContainer<Name>] = []
        for number in 1...3 {
            try read(#"{"a":\#(number),"b":{"a":\#(10 * number)}}"#) { decoder in
                let object = try decoder.container(keyedBy: Name.self)
                let inner = try object.nestedContainer(keyedBy: Name.self, forKey: "b")
                #expect(try inner.decode(Int.self, forKey: "a") == 10 * number)
                if number == 2 { kept = [object, inner] }
            }
        }
        #expect(try kept.map { try $0.decode(Int.self, forKey: "a") } == [2, 20])
        #expect(try kept[0].nestedContainer(keyedBy: Name.self, forKey: "b").decode(Int.self, forKey: "a") == 20)
    }

    @Test func containersOfTheSameKeysAreReadInTurn() throws {
        try read(#"[{"a":1},{"a":2},{"a":3}]"#) { decoder in
            var list = try decoder.unkeyedContainer()
            let first = try list.nestedContainer(keyedBy: Name.self)
            let second = try list.nestedContainer(keyedBy: Name.self)
            #expect(try first.decode(Int.self, forKey: "a") == 1)
            #expect(try second.decode(Int.self, forKey: "a") == 2)
            #expect(try list.nestedContainer(keyedBy: Name.self).decode(Int.self, forKey: "a") == 3)
            #expect(try first.decode(Int.self, forKey: "a") == 1)
        }
    }

    /// If this fails with another standard library, nothing is wrong but the speed.
    @Test func aContainerIsUsedAgain() throws {
        // Unsafe, because the closure is Sendable and runs before withValue returns.
        nonisolated(unsafe) var boxes: Set<ObjectIdentifier> = []
        for _ in 1...2 {
            try read("{}") { decoder in
                for _ in 1...2 {
                    let box = unsafeBitCast(try decoder.container(keyedBy: Name.self), to: AnyObject.self)
                    boxes.insert(ObjectIdentifier(box))
                }
            }
        }
        #expect(boxes.count == 1)
    }

    @Test func whatIsNoLongerKeptIsFreed() throws {
        // Unsafe, because the closures are Sendable and run before withValue returns; here and below.
        nonisolated(unsafe) weak var state: ReaderState?
        nonisolated(unsafe) var kept: (decoder: ValueReader, object: KeyedDecodingContainer<Name>)?
        try read(#"{"a":1}"#) { kept = (try #require($0 as? ValueReader), try $0.container(keyedBy: Name.self)) }
        state = kept?.decoder.state
        // One more, of the decoder that is over.
        #expect(try kept?.decoder.container(keyedBy: Name.self).decode(Int.self, forKey: "a") == 1)
        #expect(state != nil)
        kept = nil
        #expect(state == nil)
        do {
            let reader = JSONReader()
            try Read.$body.withValue({
                let object = try $0.container(keyedBy: Name.self)
                kept = (try #require($0 as? ValueReader), object)
                state = kept?.decoder.state
                kept = nil
            }) { _ = try reader.decode(Read.self, from: Array("{}".utf8)) }
            #expect(state != nil)
        }
        #expect(state == nil)
    }

    @Test func aValueMayDecodeAnotherWhileItIsDecoded() throws {
        // Unsafe, because the closure is Sendable and runs on this thread.
        nonisolated(unsafe) let reader = reader
        try read(#"{"in":"[1]","b":2}"#) { decoder in
            let object = try decoder.container(keyedBy: Name.self)
            let inner = try object.decode(String.self, forKey: "in")
            #expect(try reader.decode([Int].self, from: Array(inner.utf8)) == [1])
            #expect(try object.decode(Int.self, forKey: "b") == 2)
        }
    }

    @Test func pathsInLongTextsAreFoundAtOnce() throws {
        // Each element fails once. Finding its path from the start each time would take ten
        // thousand million steps.
        struct Either: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if (try? container.decode(String.self)) == nil { _ = try container.decode(Int.self) }
            }
        }
        let text = "[" + Array(repeating: "1", count: 100_000).joined(separator: ",") + "]"
        #expect(try read(text, as: [Either].self).count == 100_000)
    }

    @Test func classesReadTheirSuperclass() throws {
        let dog = try read(#"{"name":"Rex","super":{"legs":3}}"#, as: Dog.self)
        #expect(dog.legs == 3 && dog.name == "Rex")
    }
}
