import Testing

@testable import StrataCore

@Suite(.timeLimit(.hang))
struct JSONTests {
    @Test func everyKindOfValueIsRead() throws {
        let json = try JSON(parsing: #" {"a": [null, true, false, -7, 1.5, "x"], "b": {}} "#)
        #expect(json == ["a": [nil, true, false, -7, 1.5, "x"], "b": [:]])
    }

    @Test func numbersAreReadAsIntegersAndAsDoubles() throws {
        #expect(try JSON(parsing: "9223372036854775807") == .integer(.max))
        #expect(try JSON(parsing: "-9223372036854775808") == .integer(.min))
        #expect(try JSON(parsing: "9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(try JSON(parsing: "1e2") == .number(100))
        #expect(try JSON(parsing: "1e2").integer == 100)
        #expect(try JSON(parsing: "1.5").integer == nil)
        let texts = ["1.5", "-3", "9223372036854775807", "\"1\"", "null"]
        #expect(try texts.map { try JSON(parsing: $0).double } == [1.5, -3, 0x1p63, nil, nil])
    }

    @Test(arguments: ["1e999", "-1e999", "[1,{\"a\":1e309}]"])
    func numbersOutOfRangeAreRefused(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSON(parsing: text) }
        #expect(error?.message == "the number is out of range")
    }

    @Test func escapesAreUndoneAndOnlyNeededOnesWritten() throws {
        let json = try JSON(parsing: #""\"\\\/\b\f\n\r\t\u0001\u00e9\ud83d\ude00é😀\u007f""#)
        #expect(json.string == "\"\\/\u{8}\u{C}\n\r\t\u{1}é😀é😀\u{7F}")
        #expect(json.description == #""\"\\/\b\f\n\r\t\u0001é😀é😀"# + "\u{7F}\"")
    }

    @Test func keysThatDifferOnlyInNormalizationAreTwo() throws {
        let json = try JSON(parsing: "{\"\u{E9}\": 1, \"e\u{301}\": 2}")
        #expect(json.object?.count == 2)
        #expect(json["e\u{301}"] == 2)
    }

    @Test func depthIsCountedFromOne() throws {
        _ = try JSON(parsing: String(repeating: "[", count: 4) + String(repeating: "]", count: 4), maximumDepth: 4)
        _ = try JSON(parsing: "[[],[],[],[]]", maximumDepth: 2)
        _ = try JSON(parsing: "1", maximumDepth: 0)
        #expect(throws: JSONError.self) { try JSON(parsing: "[[[]]]", maximumDepth: 2) }
        #expect(throws: JSONError.self) { try JSON(parsing: String(repeating: "[", count: 1_000_000)) }
    }

    @Test(arguments: [(#"{"a":[1,"x",null],"b":{"c":true}}"#, 7), ("1", 1), ("[]", 1), ("[[],{}]", 3)])
    func valuesAreCountedWithoutKeys(_ text: String, _ count: Int) throws {
        #expect(try values(of: text, most: count) == count)
        #expect(throws: JSONError.self) { try JSON(parsing: Array(text.utf8), most: count - 1) }
    }

    @Test(.promise("13.18")) func readingEndsAtTheFirstValueTooMany() throws {
        // The rest is not JSON, and isn't read.
        let text = Array("[1,2,3,4, nonsense".utf8)
        let error = #expect(throws: JSONError.self) { try JSON(parsing: text, most: 3) }
        #expect(error?.hasTooManyValues == true && error?.offset == 5)
        let malformed = #expect(throws: JSONError.self) { try JSON(parsing: text, most: 6) }
        #expect(malformed?.hasTooManyValues == false)
    }

    private func values(of text: String, most: Int) throws -> Int {
        let check = Array(text.utf8).withUnsafeBytes { JSON.check($0, maximumDepth: 64, maximumValues: most) }
        try #require(check.isJSON)
        return check.values
    }

    @Test func aHugeObjectIsReadInLinearTime() throws {
        let members = (0..<100_000).map { "\"k\($0)\":\($0)" }
        #expect(try JSON(parsing: "{" + members.joined(separator: ",") + "}").object?.count == 100_000)
        #expect(throws: JSONError.self) {
            try JSON(parsing: "{" + members.joined(separator: ",") + ",\"k7\":0}")
        }
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let json: JSON = [
            "z": 1, "a": [nil, true, -1, 0.1, 1e300, .number(.leastNonzeroMagnitude), 2.0, "\u{0}\n\"\\é"], "": [:],
            "e": [],
        ]
        #expect(try JSON(parsing: json.encoded()) == json)
        #expect(JSON.object([JSON.Member("b", 1), JSON.Member("a", [2, 3])]).description == #"{"b":1,"a":[2,3]}"#)
        #expect(JSON.number(.infinity).description == "null")
    }

    @Test func truncatedAndChangedTextNeverTraps() throws {
        let text = Array(#"{"a":[1.5e3,"é\u00e9\ud83d\ude00",null,true],"b":{"c":-0.1}}"#.utf8)
        _ = try JSON(parsing: text)
        for end in 0..<text.count {
            #expect(throws: JSONError.self) { try JSON(parsing: Array(text[..<end])) }
        }
        for index in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[index] = byte
                if let json = try? JSON(parsing: changed) {
                    #expect(try JSON(parsing: json.encoded()) == json)
                }
            }
        }
    }

    @Test(arguments: [
        ("[1,{\"a\":null},3]", 5, true, 5), ("[1,{\"a\":null},3]", 4, false, 4), ("7", 1, true, 1),
        ("[", 9, false, 2), ("[1,", 9, false, 3), ("", 9, false, 1), ("[[]]", 9, true, 2), ("[[[]]]", 9, false, 3),
    ])
    func valuesAreCountedAsFarAsTheyAreRead(_ text: String, _ most: Int, _ isJSON: Bool, _ values: Int) {
        let check = Array(text.utf8).withUnsafeBytes { JSON.check($0, maximumDepth: 2, maximumValues: most) }
        #expect(check == (isJSON, values))
    }
}

extension JSON {
    fileprivate init(parsing bytes: [UInt8], most values: Int) throws {
        self = try bytes.withUnsafeBytes { try JSON(parsing: $0, maximumValues: values) }
    }
}
