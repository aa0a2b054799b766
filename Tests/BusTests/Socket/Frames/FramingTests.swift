import StrataCore
import StrataTesting
import Testing

/// The protocol's section 2, before and after hello: bytes that are no frame end the connection,
/// and harm no other peer.
@Suite(.timeLimit(.hang))
struct FramingTests {
    struct Bytes: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var code: String
        var bytes: [UInt8]
    }

    private static func header(_ text: String) -> [UInt8] { FrameBytes.frame(Array(text.utf8)) }

    static let unreadable: [Bytes] = [
        Bytes(
            testDescription: "text of another protocol", code: "too-large", bytes: Array("GET / HTTP/1.1\r\n\r\n".utf8)),
        Bytes(
            testDescription: "4 GiB announced", code: "too-large", bytes: FrameBytes.lengths(frame: .max, header: 10)),
        Bytes(
            testDescription: "one byte over the frame's limit", code: "too-large",
            bytes: FrameBytes.lengths(frame: (16 << 20) + 1, header: 10)),
        Bytes(
            testDescription: "one byte over the header's limit", code: "too-large",
            bytes: FrameBytes.lengths(frame: 60_000, header: (16 << 10) + 1)),
        Bytes(
            testDescription: "a frame too short for its own length", code: "bad-frame",
            bytes: FrameBytes.lengths(frame: 3, header: 0)),
        Bytes(testDescription: "zeros", code: "bad-frame", bytes: [UInt8](repeating: 0, count: 64)),
        Bytes(
            testDescription: "a header longer than its frame", code: "bad-frame",
            bytes: FrameBytes.lengths(frame: 20, header: 17)),
        Bytes(testDescription: "an empty header", code: "bad-header", bytes: FrameBytes.frame([])),
        Bytes(testDescription: "a header that is an array", code: "bad-header", bytes: header("[]")),
        Bytes(testDescription: "a header cut off", code: "bad-header", bytes: header(#"{"kind":"call""#)),
        Bytes(
            testDescription: "a header in Latin 1", code: "bad-header",
            bytes: FrameBytes.frame(
                Array(#"{"kind":"call","x":""#.utf8) + [0xE9] + Array(#""}"#.utf8))),
        Bytes(
            testDescription: "a byte order mark", code: "bad-header",
            bytes: FrameBytes.frame(
                [0xEF, 0xBB, 0xBF] + Array(#"{"kind":"call"}"#.utf8))),
        Bytes(testDescription: "something after the object", code: "bad-header", bytes: header(#"{"kind":"call"}x"#)),
        Bytes(testDescription: "no kind", code: "bad-header", bytes: header(#"{"id":1,"to":"bus/ping"}"#)),
        Bytes(
            testDescription: "a key twice", code: "bad-header",
            bytes: header(#"{"kind":"call","id":1,"to":"bus/ping","id":2}"#)),
        Bytes(
            testDescription: "a key twice, once escaped", code: "bad-header",
            bytes: header(#"{"kind":"call","id":1,"to":"bus/ping","\u0069d":2}"#)),
        Bytes(
            testDescription: "a key twice within an unknown member", code: "bad-header",
            bytes: header(#"{"kind":"call","id":1,"to":"bus/ping","x":{"y":[{"a":1,"a":2}]}}"#)),
        Bytes(
            testDescription: "33 deep", code: "bad-header",
            bytes: header(
                #"{"kind":"call","x":"# + String(repeating: "[", count: 32) + String(repeating: "]", count: 32) + "}")),
        Bytes(
            testDescription: "a known member of a wrong type", code: "bad-header",
            bytes: header(#"{"kind":"call","to":null}"#)),
    ]

    @Test(.promise("2.2", "2.5", "12.2", "12.3"), arguments: unreadable)
    func bytesThatAreNoFrameEndTheConnectionWithTheirCode(_ unreadable: Bytes) throws {
        try TestBus.run(.sixModules()) { bus in
            let other = try bus.module("Bee")
            let peer = try bus.module("Ant")
            try peer.send(bytes: unreadable.bytes)
            let error = try peer.expectEnd(unreadable.code)
            #expect(error.ran == "no")
            #expect(!error.message.isEmpty)
            try other.expectNothing()
            let stats = try other.asked("bus/stats")
            #expect(stats["counters"]?["badFrames"] == 1)
        }
    }

    @Test(.promise("2.5"), arguments: unreadable)
    func bytesThatAreNoFrameEndTheConnectionBeforeHelloToo(_ unreadable: Bytes) throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            try peer.send(bytes: unreadable.bytes)
            try peer.expectEnd(unreadable.code)
        }
    }

    @Test(.promise("2.6")) func framesBeforeAnUnreadableOneAreAnswered() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.send(
                bytes: FrameBytes.frame(["kind": "call", "id": 500, "to": "bus/ping"])
                    + FrameBytes.lengths(frame: 3, header: 0))
            _ = try peer.find(["kind": "error", "code": "bad-frame"])
            try peer.expectEnd()
        }
    }

    @Test(.promise("1.8")) func aNameIsFreeAsSoonAsItsConnectionHasEndedForGarbage() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.send(bytes: FrameBytes.lengths(frame: 1, header: 0))
            try peer.expectEnd("bad-frame")
            _ = try bus.module("Ant")
        }
    }

    @Test(.promise("2.1"), arguments: [1, 2, 3, 7, 64, 1_000])
    func framesMayArriveInAnyPieces(size: Int) throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.connect("Bee", answersLifecycle: true)
            let hello: JSON = ["protocol": 1, "module": "Bee"]
            let header: JSON = ["kind": "call", "id": 900, "to": "Test/take"]
            try caller.send(
                bytes: FrameBytes.frame(["kind": "call", "id": 901, "to": "bus/hello"], body: hello)
                    + FrameBytes.frame(header, body: ["text": .filler(300)]),
                inPiecesOf: size)
            try caller.expectReply(to: 901)
            try callee.reply(to: try callee.expectCall("Test/take", ["text": .filler(300)]), ["ok": true])
            try caller.expectReply(to: 900, body: ["ok": true])
        }
    }

    @Test(.promise("2.1")) func manyFramesMayArriveAtOnce() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let frames = (1...500).flatMap { number in
                FrameBytes.frame(
                    ["kind": "call", "id": .integer(Int64(10_000 + number)), "to": "Test/take"],
                    body: .integer(Int64(number)))
            }
            try caller.send(bytes: frames)
            for number in 1...500 { try callee.expectCall("Test/take", .integer(Int64(number))) }
            try callee.expectNothing()
        }
    }

    @Test(.promise("2.4")) func aFrameOfAllThatTheLimitAllowsPasses() throws {
        try TestBus.run(.sixModules { $0.limits.frame = 1 << 20 }) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let header = Array(#"{"kind":"call","id":900,"to":"Test/take"}"#.utf8)
            let room = (1 << 20) - 4 - header.count
            let body = [UInt8(ascii: "\"")] + [UInt8](repeating: 0x61, count: room - 2) + [UInt8(ascii: "\"")]
            try caller.send(bytes: FrameBytes.frame(header, body: body))
            let call = try callee.expectCall("Test/take")
            #expect(call.body == body)
            try callee.send(bytes: FrameBytes.frame(Array(#"{"kind":"reply","id":\#(call.id)}"#.utf8), body: body))
            #expect(try caller.expectReply(to: 900).body == body)
            try caller.send(bytes: FrameBytes.frame(header, body: body + [0x20]))
            try caller.expectEnd("too-large")
        }
    }

    @Test(.promise("2.9"), arguments: ["", "null", "not JSON", "{\"a\":1,\"a\":2}", "\u{FEFF}{}"])
    func bodiesPassUnread(body: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.send(header: #"{"kind":"call","id":900,"to":"Test/take"}"#, body: body)
            let call = try callee.expectCall("Test/take")
            #expect(call.body == Array(body.utf8))
            try callee.send(header: #"{"kind":"reply","id":\#(call.id)}"#, body: body)
            #expect(try caller.expectReply(to: 900).body == Array(body.utf8))
        }
    }

    @Test(.promise("2.8", "13.40")) func aFrameThatIsNotCompleteInTimeIsABadFrame() throws {
        try TestBus.run(.sixModules { $0.assembly = 50 }) { bus in
            let peer = try bus.module("Ant")
            try peer.send(bytes: FrameBytes.lengths(frame: 100, header: 50) + [0x7B])
            try peer.expectEnd("bad-frame")
        }
    }

    @Test func aPeerThatEndsWithinAFrameJustEnds() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.send(bytes: FrameBytes.lengths(frame: 100, header: 50) + [0x7B])
            peer.endWriting()
            try peer.expectEnd()
            _ = try bus.module("Ant")
        }
    }
}
