import StrataCore
import StrataTesting
import Testing
import TestSupport

@Suite(.timeLimit(.hang))
struct HeaderWriterTests {
    /// Writes a frame, and returns its header and body.
    private func written(
        room: Int = 0, body: [UInt8] = [], _ write: (inout HeaderWriter) -> Void
    ) -> (header: [UInt8], body: [UInt8]) {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: HeaderWriter.overhead + room + body.count, alignment: 16)
        defer { memory.deallocate() }
        var writer = HeaderWriter(memory, .call)
        write(&writer)
        let count = body.withUnsafeBytes { writer.end(body: $0) }
        let bytes = Array(UnsafeRawBufferPointer(start: memory, count: count))
        func integer(_ offset: Int) -> Int { bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
        #expect(integer(0) == count - 4)
        let header = integer(4)
        return (Array(bytes[8..<(8 + header)]), Array(bytes[(8 + header)...]))
    }

    @Test func membersStandInTheOrderOfTheirCallsWithoutWhiteSpace() {
        let frame = written(body: Array("[1]".utf8)) { writer in
            writer.integer("id", 0)
            writer.integer("deadline", .max)
            writer.boolean("more", false)
            writer.string("from", "bus" as StaticString)
        }
        #expect(
            String(decoding: frame.header, as: UTF8.self)
                == #"{"kind":"call","id":0,"deadline":18446744073709551615,"more":false,"from":"bus"}"#)
        #expect(frame.body == Array("[1]".utf8))
    }

    @Test(.promise("3.1")) func onlyWhatMustBeIsEscaped() {
        let text = "a/é😀\u{7F}\"\\\u{8}\t\n\u{C}\r\u{0}\u{1F}"
        let frame = written(room: 400) { $0.string("name", text) }
        #expect(
            String(decoding: frame.header, as: UTF8.self)
                == "{\"kind\":\"call\",\"name\":\"a/é😀\u{7F}\\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f\"}")
    }

    @Test(arguments: Array(0...255) as [UInt8])
    func aByteIsEscapedWhereverItStands(byte: UInt8) {
        for count in 1...20 {
            for place in 0..<count {
                var text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                text[place] = byte
                let header = written(room: 200) { writer in text.withUnsafeBytes { writer.string("name", $0) } }.header
                let isSpecial = byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                #expect(header.contains(UInt8(ascii: "\\")) == isSpecial, "at \(place) of \(count)")
            }
        }
    }

    @Test(arguments: 0..<50)
    func whatIsWrittenIsReadBack(seed: Int) throws {
        var generator = SeededGenerator(seed)
        let scalars = ["\u{0}", "\u{1F}", "\"", "\\", "/", "a", "\u{7F}", "é", "漢", "😀", "\u{2028}", "\n"]
        func text(_ most: Int) -> String {
            (0..<Int.random(in: 1...most, using: &generator)).map { _ in scalars.randomElement(using: &generator) ?? ""
            }.joined()
        }
        let (to, name, message) = (text(40), text(20), text(300))
        let id = UInt64.random(in: 1...9_007_199_254_740_991, using: &generator)
        let room = (to + name + message).utf8.count * 6 + 200
        let frame = written(room: room) { writer in
            writer.integer("id", id)
            writer.string("to", to)
            writer.string("name", name)
            writer.string("message", message)
        }
        try scan(frame.header) { header in
            #expect(header.kind == .call && header.id == id)
            #expect(header.to.text == to && header.name.text == name && header.message.text == message)
        }
        let expected: JSON = [
            "kind": "call", "id": .integer(Int64(id)), "to": .string(to), "name": .string(name),
            "message": .string(message),
        ]
        #expect(try JSON(parsing: frame.header) == expected)
    }

    @Test(
        .promise("3.1"),
        arguments: [0, 9, 10, 99, 100, 12_345, 9_007_199_254_740_991, 9_999_999_999_999_999_999, .max] as [UInt64])
    func integersAreWrittenInFull(value: UInt64) {
        let frame = written { $0.integer("id", value) }
        #expect(String(decoding: frame.header, as: UTF8.self) == #"{"kind":"call","id":\#(value)}"#)
    }

    /// Tests each number of digits, at its ends and with zeros inside.
    @Test func integersOfEachLengthAreWrittenInFull() {
        var power: UInt64 = 1
        for _ in 0..<20 {
            for value in [power, power &* 2 &+ 1, power &* 9, power &- 1, power | 1] {
                let frame = written { $0.integer("id", value) }
                #expect(String(decoding: frame.header, as: UTF8.self) == #"{"kind":"call","id":\#(value)}"#)
            }
            power = power &* 10
        }
    }

    @Test(arguments: Header.Kind.allCases.filter { $0 != .unknown })
    func everyKindOpensItsHeader(kind: Header.Kind) throws {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: HeaderWriter.overhead, alignment: 16)
        defer { memory.deallocate() }
        var writer = HeaderWriter(memory, kind)
        let count = writer.endHeader(bodyCount: 0)
        let found = try scan(Array(UnsafeRawBufferPointer(start: memory + 8, count: count - 8))) { $0.kind }
        #expect(found == kind)
    }
}
