import FoundationEssentials
import Testing

@testable import StrataJSON

struct WritingTests {
    private let writer = JSONWriter()

    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try writer.encode(value), as: UTF8.self)
    }
    private func json(_ write: @escaping (any Encoder) throws -> Void) throws -> String {
        try json(Written(write: write))
    }

    @Test func numbersAreShortAndExact() throws {
        #expect(
            try json([0, -1, 9, 10, 99, 100, .max, .min])
                == "[0,-1,9,10,99,100,9223372036854775807,-9223372036854775808]")
        #expect(try json([UInt64.max, 0]) == "[18446744073709551615,0]")
        #expect(try json([Int128.min, 7]) == "[-170141183460469231731687303715884105728,7]")
        #expect(try json([Int8.min, .max]) == "[-128,127]")
        #expect(
            try json([1.0, -0.0, 0, 0.1, -2.5, 1e300, 16_777_216, 3e-9]) == "[1,-0,0,0.1,-2.5,1e+300,16777216,3e-09]")
        #expect(try json([Float(0.1), 3]) == "[0.1,3]")
    }

    @Test func textsAreEscapedWhereTheyMustBe() throws {
        #expect(try json("") == "\"\"")
        #expect(try json("a/b\u{7f}ü\u{2028}😀") == "\"a/b\u{7f}ü\u{2028}😀\"")
        #expect(try json("\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}") == #""\"\\\n\r\t\b\f\u0000\u001f""#)
        for length in 0..<20 {
            let text = String(repeating: "x", count: length)
            #expect(try json(text + "\"" + text) == "\"" + text + "\\\"" + text + "\"")
        }
    }

    @Test func foundationsTypesLookAsFoundationWritesThem() throws {
        #expect(try json(Date(timeIntervalSince1970: 1.9)) == "\"1970-01-01T00:00:01Z\"")
        #expect(try json([Data([1, 2])]) == "[\"AQI=\"]")
        #expect(try json(["u": URL(string: "http://x/y")!]) == "{\"u\":\"http://x/y\"}")
        #expect(try json([Decimal(string: "1.50")!]) == "[1.5]")
    }

    @Test func membersComeAsEncodedAndDictionariesSorted() throws {
        struct Order: Encodable {
            var z = 1
            var a = ["b": 1, "": 2, "a": 3, "ab": 4, "B": 5]
            var m = [10: 1, 9: 2]
        }
        #expect(try json(Order()) == #"{"z":1,"a":{"":2,"B":5,"a":3,"ab":4,"b":1},"m":{"10":1,"9":2}}"#)
        #expect(try json([["b": ["d": [1: 2], "c": [:]], "a": [:]]]) == #"[{"a":{},"b":{"c":{},"d":{"1":2}}}]"#)
    }

    @Test func containersMayBeWrittenInAnyOrder() throws {
        let nested = try json { encoder in
            var outer = encoder.container(keyedBy: Name.self)
            var first = outer.nestedContainer(keyedBy: Name.self, forKey: "first")
            var second = outer.nestedUnkeyedContainer(forKey: "second")
            try first.encode(1, forKey: "a")
            try outer.encode("x", forKey: "third")
            try second.encode(2)
            var within = first.nestedUnkeyedContainer(forKey: "b")
            try first.encode(["k": 3], forKey: "c")
            try within.encode(4)
            try second.encode([5])
            try within.encode(6)
            _ = second.nestedContainer(keyedBy: Name.self)
            try outer.encode(true, forKey: "fourth")
            #expect(second.count == 3)
        }
        #expect(
            nested
                == #"{"first":{"a":1,"b":[4,6],"c":{"k":3}},"second":[2,[5],{}],"third":"x","fourth":true}"#)
    }

    @Test func superEncodersMayBeTakenEarlyOrNeverUsed() throws {
        #expect(try json(Dog()) == #"{"super":{"legs":4},"name":"Rex"}"#)
        let early = try json { encoder in
            var array = encoder.unkeyedContainer()
            let first = array.superEncoder()
            _ = array.superEncoder()
            try array.encode(3)
            var object = encoder.unkeyedContainer()
            try object.encode(4)
            try [1: 2].encode(to: first)
        }
        #expect(early == #"[{"1":2},{},3,4]"#)
        let named = try json { encoder in
            var object = encoder.container(keyedBy: Name.self)
            let late = object.superEncoder(forKey: "late")
            try object.encode([Nothing()], forKey: "n")
            var single = late.singleValueContainer()
            try single.encode("x")
        }
        #expect(named == #"{"late":"x","n":[{}]}"#)
    }

    private struct Nothing: Encodable { func encode(to encoder: any Encoder) throws {} }

    @Test func whatIsEncodedAgainReplacesTheFirst() throws {
        let plain = try json { encoder in
            var object = encoder.container(keyedBy: Name.self)
            try object.encode(1, forKey: "a")
            try object.encode([2], forKey: "b")
            try object.encode(3, forKey: "a")
        }
        #expect(plain == #"{"b":[2],"a":3}"#)
        let interleaved = try json { encoder in
            var object = encoder.container(keyedBy: Name.self)
            var inner = object.nestedContainer(keyedBy: Name.self, forKey: "in")
            try inner.encode(1, forKey: "a")
            try object.encode(2, forKey: "b")
            try inner.encode(3, forKey: "a")
            try inner.encode(4, forKey: "c")
        }
        #expect(interleaved == #"{"in":{"a":3,"c":4},"b":2}"#)
        // A container is written to after its object's members have moved.
        let moved = try json { encoder in
            var outer = encoder.container(keyedBy: Name.self)
            var object = outer.nestedContainer(keyedBy: Name.self, forKey: "o")
            try object.encode("long, long", forKey: "a")
            var list = object.nestedUnkeyedContainer(forKey: "l")
            try object.encode(1, forKey: "a")
            try outer.encode(2, forKey: "z")
            try list.encode(5)
        }
        #expect(moved == #"{"o":{"l":[5],"a":1},"z":2}"#)
    }

    @Test func aFailedMemberLeavesNoTrace() throws {
        struct Stop: Error {}
        let text = try json { encoder in
            var object = encoder.container(keyedBy: Name.self)
            try object.encode(1, forKey: "a")
            try? object.encode(Double.nan, forKey: "b")
            try? object.encode(["x": [1.5, .infinity]], forKey: "c")
            try? object.encode(
                Written { encoder in
                    var inner = encoder.unkeyedContainer()
                    let early = inner.superEncoder()
                    try inner.encode("y")
                    try 5.encode(to: early)
                    throw Stop()
                }, forKey: "d")
            var array = object.nestedUnkeyedContainer(forKey: "e")
            try? array.encode(Float.infinity)
            try? array.encode([Decimal.nan])
            try array.encode(2)
        }
        #expect(text == #"{"a":1,"e":[2]}"#)
        let single = try json { encoder in
            var container = encoder.singleValueContainer()
            try? container.encode(["a": Double.nan])
            try container.encode([1])
        }
        #expect(single == "[1]")
    }

    @Test func whatHasNoNumberInJSONIsNamed() throws {
        let error = #expect(throws: EncodingError.self) { try writer.encode(["list\n": [["x": [1, Double.nan]]]]) }
        guard case .invalidValue(let value, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((value as? Double)?.isNaN == true)
        #expect(context.codingPath.map(\.stringValue) == ["list\n", "Index 0", "x", "Index 1"])
        #expect(context.codingPath.map(\.intValue) == [nil, 0, nil, 1])
        #expect(context.debugDescription == "Unable to encode Double.nan directly in JSON.")
        #expect(throws: EncodingError.self) { try writer.encode(Double.infinity) }
        #expect(throws: EncodingError.self) { try writer.encode([Float.nan]) }
        #expect(throws: EncodingError.self) { try writer.encode([Decimal.nan]) }
        #expect(throws: EncodingError.self) { try writer.encode(Nothing()) }
    }

    @Test func nestingHasABound() throws {
        func nest(_ depth: Int) -> Written {
            Written { encoder in
                var array = encoder.unkeyedContainer()
                if depth > 1 { try array.encode(nest(depth - 1)) }
            }
        }
        #expect(try json(nest(128)) == String(repeating: "[", count: 128) + String(repeating: "]", count: 128))
        #expect(throws: EncodingError.self) { try writer.encode(nest(129)) }
        #expect(throws: EncodingError.self) { try writer.encode(nest(1_000_000)) }
        #expect(throws: EncodingError.self) {
            try json { encoder in
                var array = encoder.unkeyedContainer()
                // Because all of the writer's containers are its own.
                for _ in 0..<200 { array = array.nestedUnkeyedContainer() as! UnkeyedWriter }
            }
        }
    }

    @Test func pathsAreThoseOfTheValue() throws {
        _ = try json { encoder in
            #expect(encoder.codingPath.isEmpty)
            var object = encoder.container(keyedBy: Name.self)
            var array = object.nestedUnkeyedContainer(forKey: "ü\"")
            try array.encode(1)
            let above = array.superEncoder()
            try object.encode(2, forKey: "b")
            #expect(above.codingPath.map(\.stringValue) == ["ü\"", "Index 1"])
            var single = above.singleValueContainer()
            try single.encode(
                Written {
                    #expect($0.codingPath.count == 2); try 1.encode(to: $0)
                })
        }
    }

    @Test func aValueMayEncodeAnotherWhileItIsEncoded() throws {
        let text = try json { encoder in
            var object = encoder.container(keyedBy: Name.self)
            try object.encode(String(decoding: try writer.encode([1]), as: UTF8.self), forKey: "in")
            try object.encode(2, forKey: "b")
        }
        #expect(text == #"{"in":"[1]","b":2}"#)
    }

    @Test func aContainerKeptBeyondItsValueHarmsNothing() throws {
        var kept: (any UnkeyedEncodingContainer)?
        var inner: (any UnkeyedEncodingContainer)?
        #expect(
            try json { encoder in
                var array = encoder.unkeyedContainer()
                try array.encode(Written { inner = $0.unkeyedContainer() })
                #expect(throws: EncodingError.self) { try inner?.encode(9) }
                _ = inner?.nestedContainer(keyedBy: Name.self)
                try array.encode(
                    Written { encoder in
                        var other = encoder.unkeyedContainer()
                        #expect(throws: EncodingError.self) { try inner?.encode(9) }
                        try other.encode(1)
                    })
                try array.encode(2)
                kept = array
            } == "[[],[1],2]")
        #expect(try json([3]) == "[3]")
        #expect(throws: EncodingError.self) { try kept?.encode(4) }
        _ = try json { encoder in
            var array = encoder.unkeyedContainer()
            #expect(throws: EncodingError.self) { try kept?.encode(4) }
            try array.encode(5)
        }
        #expect(try json([5]) == "[5]")
    }

    @Test func aKeyedContainerKeptBeyondItsValueHarmsNothing() throws {
        var kept: KeyedEncodingContainer<Name>?
        for number in 1...3 {
            #expect(
                try json { encoder in
                    var object = encoder.container(keyedBy: Name.self)
                    try object.encode(number, forKey: "a")
                    if number == 2 { kept = object }
                    if number == 3 { #expect(throws: EncodingError.self) { try kept?.encode(9, forKey: "b") } }
                    var inner = object.nestedContainer(keyedBy: Name.self, forKey: "c")
                    try inner.encode(number, forKey: "a")
                } == #"{"a":\#(number),"c":{"a":\#(number)}}"#)
        }
        #expect(throws: EncodingError.self) { try kept?.encode(4, forKey: "b") }
    }

    /// If this fails with another standard library, nothing is wrong but the speed.
    @Test func aKeyedContainerIsUsedAgain() throws {
        var boxes: Set<ObjectIdentifier> = []
        for _ in 1...2 {
            _ = try json { encoder in
                for _ in 1...2 {
                    boxes.insert(
                        ObjectIdentifier(unsafeBitCast(encoder.container(keyedBy: Name.self), to: AnyObject.self)))
                }
            }
        }
        #expect(boxes.count == 1)
    }

    @Test func whatIsNoLongerKeptIsFreed() throws {
        weak var state: WriterState?
        var kept: KeyedEncodingContainer<Name>?
        do {
            let writer = JSONWriter()
            let value = Written { encoder in
                state = try #require(encoder as? ValueWriter).state
                var object = encoder.container(keyedBy: Name.self)
                // In the midst of it another value is written, by the same writer.
                try object.encode(String(decoding: try writer.encode(["a": 1]), as: UTF8.self), forKey: "in")
                kept = object
            }
            #expect(String(decoding: try writer.encode(value), as: UTF8.self) == #"{"in":"{\"a\":1}"}"#)
        }
        _ = kept?.nestedContainer(keyedBy: Name.self, forKey: "late")
        #expect(state != nil && kept != nil)
        kept = nil
        #expect(state == nil)
    }

    @Test func itIsTheSameAfterALargeValueAndAnError() throws {
        let large = String(repeating: "x", count: 1 << 20)
        #expect(try json([large]).utf8.count == large.utf8.count + 4)
        #expect(throws: EncodingError.self) { try writer.encode([1, .nan]) }
        #expect(try json([1]) == "[1]")
    }
}
