import StrataTesting
import Testing

@testable import StrataPipe

/// The codec of control messages: whole, truncated, damaged and random.
struct ControlMessageTests {
    static let greeting = ControlMessage.Greeting(node: "berlin", link: 0xF31C, session: .max, window: 4 << 20)
    static let samples: [(ControlMessage, String)] = [
        (
            .hello(greeting),
            #"{"v":1,"hello":{"node":"berlin","link":"f31c","session":"ffffffffffffffff","window":4096}}"#
        ),
        (
            .welcome(greeting),
            #"{"v":1,"welcome":{"node":"berlin","link":"f31c","session":"ffffffffffffffff","window":4096}}"#
        ),
        (.bye(session: 0x8C1F, code: .shuttingDown), #"{"v":1,"bye":{"session":"8c1f","code":"shutting-down"}}"#),
        (.probe(0xAB), #"{"v":1,"probe":{"nonce":"ab"}}"#),
        (.claim(link: 1, nonce: 2, isHeld: true), #"{"v":1,"claim":{"link":"1","nonce":"2","held":true}}"#),
    ]

    static func read(_ text: String) throws(ControlError) -> ControlMessage { try read(Array(text.utf8)) }

    static func read(_ bytes: [UInt8]) throws(ControlError) -> ControlMessage {
        try bytes.withUnsafeBytes { raw in
            Result { () throws(ControlError) in try ControlMessage(reading: raw) }
        }.get()
    }

    @Test func eachMessageHasItsText() throws {
        for (message, text) in Self.samples {
            #expect(String(decoding: message.encoded(), as: UTF8.self) == text)
            #expect(try Self.read(text) == message)
            for count in 0..<text.utf8.count {
                #expect(throws: ControlError.unreadable) { try Self.read(Array(text.utf8.prefix(count))) }
            }
        }
    }

    @Test func anotherVersionIsNamed() {
        #expect(throws: ControlError.version(2)) { try Self.read(#"{"v":2,"salute":{}}"#) }
    }

    @Test func unknownMembersAreIgnored() throws {
        let text = #"{"v":1,"bye":{"session":"8c1f","code":"shutting-down","more":[1]},"other":null}"#
        #expect(try Self.read(text) == Self.samples[2].0)
    }

    @Test func badMembersAreRefused() {
        func refused(_ old: String, _ new: String) {
            let text = Self.samples[0].1
            let place = text.range(of: old)
            #expect(place != nil, "\(old)")
            guard let place else { return }
            #expect(throws: ControlError.unreadable, "\(new)") {
                try Self.read(text.replacingCharacters(in: place, with: new))
            }
        }
        refused(#""f31c""#, #""F31C""#)
        refused(#""f31c""#, #""0""#)
        refused(#""f31c""#, #""""#)
        refused(#""f31c""#, #""10000000000000000""#)
        refused(#""f31c""#, "12")
        refused("4096", "63")
        refused("4096", "32769")
        refused("4096", "64.5")
        refused(#""berlin""#, "null")
        refused(#"{"node""#, #"{"name""#)
        refused("}}", "}}" + String(repeating: " ", count: ControlMessage.longest))
        #expect(throws: ControlError.unreadable) { try Self.read(#"{"v":1,"bye":{"session":"1","code":"A b"}}"#) }
        #expect(throws: ControlError.unreadable) { try Self.read(#"{"v":1}"#) }
    }

    @Test func damagedBytesAreReadOrRefused() throws {
        var generator = SeededGenerator(2)
        for _ in 0..<5_000 {
            var bytes = Array(Self.samples.randomElement(using: &generator)!.1.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let message = try? Self.read(bytes) else { continue }
            #expect(try Self.read(message.encoded()) == message)
        }
    }
}

extension String {
    /// The place of the first occurrence of a text.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }

    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
