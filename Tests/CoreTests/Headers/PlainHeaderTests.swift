import Testing
import TestSupport

@testable import StrataCore

/// The short way through plain headers says what the full scan says, whatever
/// is put in, taken out or changed.
@Suite(.timeLimit(.minutes(1)))
struct PlainHeaderTests {
    private static let plain = [
        #"{"kind":"call","id":1,"to":"Test/act"}"#,
        #"{"kind":"call","id":999999999999999,"to":"Cart#12/add","deadline":2000}"#,
        #"{"kind":"call","id":12,"to":"T/a","deadline":1,"credit":16}"#,
        #"{"kind":"call","id":12,"to":"","credit":9}"#,
        #"{"kind":"reply","id":4194304}"#,
        #"{"kind":"reply","id":9}"#,
        #"{"kind":"reply","id":0}"#,
        #"{"kind":"call","id":12,"to":"T/a","deadline":0,"credit":0}"#,
        #"{"kind":"broadcast","name":"feed.full"}"#,
        #"{"kind":"broadcast","name":"x"}"#,
    ]

    /// What a scan made of a header, as text.
    private static func outcome(
        _ bytes: [UInt8], slack: [UInt8], _ scan: (HeaderScanner, UnsafeRawBufferPointer, inout Header) throws -> Void
    ) -> String {
        let scanner = HeaderScanner()
        let space = bytes + slack
        return space.withUnsafeBytes { space in
            var header = Header()
            do { try scan(scanner, UnsafeRawBufferPointer(rebasing: space[..<bytes.count]), &header) } catch {
                return "\(error)"
            }
            return """
                \(header.members.rawValue) \(header.kind) \(header.id) \(header.to.text) \(header.deadline) \
                \(header.credit) \(header.name.text) \(header.trace.count) \(header.meta.count) \(header.more)
                """
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        let space = Array(text.utf8) + [UInt8](repeating: 0, count: ReadBuffer.slack)
        return space.withUnsafeBytes { space in
            var header = Header()
            return HeaderScanner().scanPlain(UnsafeRawBufferPointer(rebasing: space[..<text.utf8.count]), into: &header)
        }
    }

    @Test func theseArePlain() {
        for text in Self.plain { #expect(Self.isPlain(text), "\(text)") }
    }

    @Test(arguments: [
        #"{"kind":"call","id":00,"to":"Test/act"}"#, #"{"kind":"call","id":01,"to":"Test/act"}"#,
        #"{"kind":"call","id":1000000000000000,"to":"Test/act"}"#, #"{"kind":"call","id":1,"to":"Te\u0073t/act"}"#,
        #"{"kind":"call","id":1,"to":"Tést/act"}"#, #"{"kind":"call","id":1,"to":"Test/act","deadline":-1}"#,
        #"{"kind":"call","id":1,"to":"Test/act","more":true}"#, #"{"kind":"reply","id":7 }"#,
        #"{"kind":"reply","id":7}}"#, #"{"kind":"reply","id":7"#, #"{"kind":"reply","id":7,"id":7}"#,
        #"{"kind":"broadcast","name":""}"#, #"{"kind":"call","id":1,"to":"T/a","credit":1,"deadline":1}"#,
    ])
    func theRestIsForTheFullScan(text: String) { #expect(!Self.isPlain(text)) }

    /// Nothing of a header is left in the next one, whichever way either took.
    @Test func nothingStaysOfTheHeaderBefore() throws {
        let texts =
            Self.plain + [
                #"{"kind":"error","id":3,"code":"failed","message":"no","ran":"yes","trace":"t","meta":{"a":1}}"#,
                #"{"kind":"call","id":4,"to":"T/a","parent":9,"auth":"skip","url":"a:b","deadline":7,"credit":1}"#,
                #"{"kind":"notice","name":"n","object":"o","level":"l","from":"f","subscription":2,"missed":3,"more":true}"#,
                #"{"kind":"made-up","id":5,"to":"T/b","name":"n"}"#,
            ]
        let scanner = HeaderScanner()
        var used = Header()
        for first in texts {
            for second in texts {
                for text in [first, second] {
                    let space = Array(text.utf8) + [UInt8](repeating: 0, count: ReadBuffer.slack)
                    try space.withUnsafeBytes { space in
                        let bytes = UnsafeRawBufferPointer(rebasing: space[..<text.utf8.count])
                        try scanner.scan(bytes, into: &used)
                        var fresh = Header()
                        try HeaderScanner().scan(bytes, into: &fresh)
                        #expect(Self.all(used) == Self.all(fresh), "\(first), then \(text)")
                    }
                }
            }
        }
    }

    /// Each member as text.
    private static func all(_ header: borrowing Header) -> [String] {
        [
            "\(header.members.rawValue) \(header.kind) \(header.id) \(header.deadline) \(header.parent)",
            "\(header.credit) \(header.subscription) \(header.missed) \(header.more) \(header.ran)",
            header.to.text, header.name.text, header.object.text, header.url.text, header.from.text, header.level.text,
            header.code.text, header.message.text, header.unknownKind.text, header.trace.text, header.meta.text,
        ]
    }

    /// Numbers of each length are what they say, and read as far as 15 digits.
    @Test func numbersOfEachLengthAreRead() throws {
        var digits = ""
        for length in 1...15 {
            digits += "\(length % 10 == 0 ? 0 : length % 10)"
            let text = #"{"kind":"reply","id":\#(digits)}"#
            #expect(Self.isPlain(text))
            let outcome = Self.outcome(Array(text.utf8), slack: [UInt8](repeating: 0x39, count: ReadBuffer.slack)) {
                try $0.scan($1, into: &$2)
            }
            #expect(outcome.contains(" reply \(digits) "), "\(outcome)")
        }
    }

    @Test(arguments: 0..<20)
    func bothSayTheSame(seed: Int) {
        var generator = SeededGenerator(seed)
        let mangling = Array(#"{}[],:"\0123456789eE+-.tkidof ax"#.utf8) + [0, 0x1F, 0x80, 0xC3, 0xFF]
        for _ in 0..<2_000 {
            var bytes = Array((Self.plain.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
                let place = bytes.indices.randomElement(using: &generator) ?? 0
                let byte = mangling.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                case 2: bytes.removeLast(bytes.count - place)
                default: bytes.remove(at: place)
                }
            }
            // What stands behind a header may look like its rest.
            let slack = (0..<ReadBuffer.slack).map { _ in mangling.randomElement(using: &generator) ?? 0 }
            let short = Self.outcome(bytes, slack: slack) { try $0.scan($1, into: &$2) }
            let full = Self.outcome(bytes, slack: slack) { try $0.scanFully($1, into: &$2) }
            #expect(short == full, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
