import StrataCore
import StrataTesting
import Testing
import TestSupport

/// Scans a header that is followed by `slack` bytes of one value. They may be loaded, and must
/// not matter.
func scan<Result>(
    _ bytes: [UInt8], slack: UInt8 = 0, _ use: (borrowing Header) throws -> Result
) throws -> Result {
    let scanner = HeaderScanner()
    let space = bytes + [UInt8](repeating: slack, count: ReadBuffer.slack)
    return try space.withUnsafeBytes { space in
        var header = Header()
        try scanner.scan(UnsafeRawBufferPointer(rebasing: space[..<bytes.count]), into: &header)
        return try use(header)
    }
}

private func accepts(_ bytes: [UInt8], slack: UInt8 = 0) -> Bool {
    do {
        return try scan(bytes, slack: slack) { _ in true }
    } catch {
        return false
    }
}

/// Bytes that would continue a header if they were taken for a part of it.
private let slacks: [UInt8] = [0, 0x20, 0xFF, 0x80] + Array("\"9}],\\ek".utf8)

@Suite(.timeLimit(.hang))
struct HeaderScannerTests {
    @Test(arguments: slacks)
    func membersAreRead(slack: UInt8) throws {
        let text = #"""
            { "kind" : "call", "id":9007199254740991,"to":"Test\/\u0061ct","deadline":-5,"parent":7,"credit":0,
              "more":true,"from":"x","level":"basic","name":"ń","object":"\ud83d\ude00","via":"report",
              "subscription":3,"missed":2,"url":"a://b","auth":"skip","code":"a.b","message":"\"\\\n\t",
              "ran":"maybe","trace":"\u0030","meta":{ "a" : [1] },"other":[1,{"a":null}]}
            """#
        try scan(Array(text.utf8), slack: slack) { header in
            #expect(header.kind == .call)
            #expect(header.id == 9_007_199_254_740_991)
            #expect(header.to.text == "Test/act")
            #expect(header.deadline == -5)
            #expect(header.parent == 7)
            #expect(header.members.contains(.credit) && header.credit == 0)
            #expect(header.more == true)
            #expect(header.name.text == "ń")
            #expect(header.object.text == "😀")
            #expect(header.subscription == 3 && header.missed == 2)
            #expect(header.url.text == "a://b")
            #expect(header.code.text == "a.b")
            #expect(header.message.text == "\"\\\n\t")
            #expect(header.ran == .maybe)
            #expect(header.trace.text == #""\u0030""#)
            #expect(header.meta.text == #"{ "a" : [1] }"#)
        }
    }

    static let valid: [String] = [
        #"{"kind":"call"}"#, " \t\r\n{ \"kind\" : \"call\" } \n", #"{"kind":""}"#, #"{"kind":"nonsense"}"#,
        #"{"k\u0069nd":"call"}"#, #"{"kind":"call","id":0}"#, #"{"kind":"call","id":99999999999999999999999}"#,
        #"{"kind":"call","":1}"#, #"{"kind":"call","x":-0}"#, #"{"kind":"call","x":1.5e+10}"#,
        #"{"kind":"call","x":{"a":1,"b":{"a":1}}}"#, #"{"kind":"call","x":[{"a":1},{"a":1}]}"#,
        #"{"kind":"call","x":"\u0000"}"#, #"{"kind":"call","x":"\ud800\udc00"}"#,
        #"{"kind":"call","Kind":"x","KIND":"y"}"#,
        #"{"kind":"call","x":true,"y":false,"z":null}"#, #"{"kind":"call","x":[]}"#, #"{"kind":"call","x":{}}"#,
        #"{"kind":"call","x":"é","\#u{E9}":1,"e\#u{301}":2}"#, "{\"kind\":\"call\",\"x\":\"\u{10FFFF}\u{7F}\"}",
        #"{"kind":"call","x":"# + String(repeating: "[", count: 31) + String(repeating: "]", count: 31) + "}",
        #"{"kind":"call","name":""# + String(repeating: "n", count: 256) + #""}"#,
        #"{"kind":"call","meta":{"a":""# + String(repeating: "m", count: 4_096 - 8) + #""}}"#,
    ]

    @Test(.promise("3.5"), arguments: valid)
    func whatIsAHeaderIsTaken(text: String) {
        for slack in slacks { #expect(accepts(Array(text.utf8), slack: slack), "slack \(slack)") }
    }

    static let invalid: [String] = [
        "", " ", "[]", "null", "\"kind\"", "{", "}", "{}", #"{"id":1}"#, #"{"kind"}"#, #"{"kind":}"#,
        #"{"kind":"call""#,
        #"{"kind":"call",}"#, #"{,"kind":"call"}"#, #"{"kind":"call"} x"#, #"{"kind":"call"}{}"#, #"{"kind":"call"},"#,
        #"{'kind':'call'}"#, #"{kind:"call"}"#, #"{"kind":"call" "id":1}"#, #"{"kind":"call","id":01}"#,
        #"{"kind":"call","x":+1}"#, #"{"kind":"call","x":1.}"#, #"{"kind":"call","x":.5}"#, #"{"kind":"call","x":1e}"#,
        #"{"kind":"call","x":--1}"#, #"{"kind":"call","x":tru}"#, #"{"kind":"call","x":True}"#,
        #"{"kind":"call","x":NaN}"#,
        #"{"kind":"call","x":"\x"}"#, #"{"kind":"call","x":"\u12"}"#, #"{"kind":"call","x":"\u12g4"}"#,
        #"{"kind":"call","x":"\ud800"}"#, #"{"kind":"call","x":"\udc00"}"#, #"{"kind":"call","x":"\ud800\u0041"}"#,
        "{\"kind\":\"call\",\"x\":\"\n\"}", "{\"kind\":\"call\",\"x\":\"\u{1F}\"}", #"{"kind":"call","x":"}"#,
        #"{"kind":"call","x":[1,]}"#, #"{"kind":"call","x":[1 2]}"#, #"{"kind":"call","x":[}"#,
        #"{"kind":"call","x":{]}}"#,
        #"{"kind":"call","kind":"call"}"#, #"{"kind":"call","k\u0069nd":"call"}"#, #"{"kind":"call","x":1,"x":1}"#,
        #"{"kind":"call","x":1,"\u0078":1}"#, #"{"kind":"call","x":{"a":1,"\u0061":1}}"#,
        #"{"kind":"call","x":[[{"a":{"b":1,"b":2}}]]}"#, #"{"kind":"call","":1,"":2}"#,
        #"{"kind":"call","id":1,"id":1}"#, #"{"kind":"call","meta":{"a":1,"a":2}}"#,
        #"{"kind":5}"#, #"{"kind":null}"#, #"{"kind":"call","id":"1"}"#, #"{"kind":"call","id":null}"#,
        #"{"kind":"call","id":1.0}"#, #"{"kind":"call","id":1e3}"#, #"{"kind":"call","to":1}"#,
        #"{"kind":"call","more":1}"#,
        #"{"kind":"call","more":null}"#, #"{"kind":"call","credit":-1}"#, #"{"kind":"call","credit":9007199254740992}"#,
        #"{"kind":"call","deadline":9007199254740992}"#, #"{"kind":"call","name":""}"#,
        #"{"kind":"call","auth":"yes"}"#,
        #"{"kind":"call","ran":"perhaps"}"#, #"{"kind":"call","via":"mail"}"#, #"{"kind":"call","meta":[]}"#,
        #"{"kind":"call","meta":"a"}"#, #"{"kind":"call","trace":5}"#, "\u{FEFF}{\"kind\":\"call\"}",
        #"{"kind":"call","x":"# + String(repeating: "[", count: 32) + String(repeating: "]", count: 32) + "}",
        #"{"kind":"call","name":""# + String(repeating: "n", count: 257) + #""}"#,
        #"{"kind":"call","meta":{"a":""# + String(repeating: "m", count: 4_097 - 8) + #""}}"#,
    ]

    @Test(.promise("2.5", "3.5"), arguments: invalid)
    func whatIsNoHeaderIsRefused(text: String) {
        for slack in slacks { #expect(!accepts(Array(text.utf8), slack: slack), "slack \(slack)") }
    }

    @Test(
        arguments: [
            [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
            [0xFF],
            [0xC3, 0x28],
        ] as [[UInt8]])
    func whatIsNotUTF8IsRefusedInKeysAndValues(bytes: [UInt8]) {
        for slack in slacks {
            #expect(!accepts(Array(#"{"kind":"call","x":""#.utf8) + bytes + Array(#""}"#.utf8), slack: slack))
            #expect(!accepts(Array(#"{"kind":"call",""#.utf8) + bytes + Array(#"":1}"#.utf8), slack: slack))
            #expect(!accepts(Array(#"{"kind":"call","name":""#.utf8) + bytes + Array(#""}"#.utf8), slack: slack))
            #expect(!accepts(Array(#"{"kind":"call","x":""#.utf8) + bytes, slack: slack))
        }
    }

    @Test func aHeaderCutAnywhereIsRefused() {
        let whole = Array(#"{"kind":"call","id":12,"to":"Test/\u0061ct","meta":{"a":[1,true]},"x":"é"}"#.utf8)
        for count in 0..<whole.count {
            for slack in slacks { #expect(!accepts(Array(whole[..<count]), slack: slack), "\(count), slack \(slack)") }
        }
    }

    @Test func manyUnknownKeysAreComparedAll() {
        let keys = (0..<1_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        #expect(accepts(Array(#"{"kind":"call",\#(keys)}"#.utf8)))
        #expect(!accepts(Array(#"{"kind":"call",\#(keys),"k0":1}"#.utf8)))
        #expect(!accepts(Array(#"{"kind":"call","x":{\#(keys),"k\u0039\u0039\u0039":1}}"#.utf8)))
    }

    /// Compares with `JSON`, which takes the same steps in a loop of its own. Everything that the
    /// scanner accepts is strict JSON, and it accepts strict JSON with unknown members.
    @Test(arguments: 0..<40)
    func itAgreesWithTheJSONReaderOnMangledHeaders(seed: Int) {
        var generator = SeededGenerator(seed)
        let seeds = Self.valid.filter { $0.utf8.count < 200 }
        let mangling = Array(#"{}[],:"\0123eE+-.tfnu ax"#.utf8) + [0, 0x1F, 0x80, 0xC3, 0xA9, 0xED, 0xFF]
        for _ in 0..<500 {
            var bytes = Array((seeds.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                let place = bytes.indices.randomElement(using: &generator) ?? 0
                let byte = mangling.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                default: bytes.remove(at: place)
                }
            }
            let slack = slacks.randomElement(using: &generator) ?? 0
            var json: JSON?
            // A number may be valid but more than the reader can hold.
            var isLargeNumber = false
            do { json = try JSON(parsing: bytes, maximumDepth: 32) } catch {
                isLargeNumber = "\(error)".contains("out of range")
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if accepts(bytes, slack: slack) {
                #expect(isLargeNumber || (json?.object != nil && json?["kind"]?.string != nil), "taken: \(text)")
            } else if let members = json?.object, json?["kind"]?.string != nil {
                let unknown = members.allSatisfy { $0.name == "kind" || $0.name.utf8.count <= 1 }
                #expect(!unknown, "refused: \(text)")
            }
        }
    }
}
