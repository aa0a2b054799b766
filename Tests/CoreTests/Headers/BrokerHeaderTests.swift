import Testing
import TestSupport

@testable import StrataCore

/// The short way through the headers of calls that the broker wrote says what
/// the full scan says, whatever is put in, taken out or changed.
@Suite(.timeLimit(.minutes(1)))
struct BrokerHeaderTests {
    private static let short = [
        #"{"kind":"call","id":7,"to":"Test/act","from":"Menu","deadline":30000,"credit":16}"#,
        #"{"kind":"call","id":999999999999999,"to":"Cart#12/add","from":"operator","deadline":0,"credit":0}"#,
        #"{"kind":"call","id":12,"to":"","from":"","deadline":1,"credit":9}"#,
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
                \(header.members.rawValue) \(header.kind) \(header.id) \(header.to.text) \(header.from.text) \
                \(header.deadline) \(header.credit) \(header.name.text) \(header.url.text) \(header.trace.count)
                """
        }
    }

    private static func isShort(_ text: String) -> Bool {
        let space = Array(text.utf8) + [UInt8](repeating: 0, count: ReadBuffer.slack)
        return space.withUnsafeBytes { space in
            var header = Header()
            return HeaderScanner().scanCall(UnsafeRawBufferPointer(rebasing: space[..<text.utf8.count]), into: &header)
        }
    }

    @Test func theseGoTheShortWay() {
        for text in Self.short { #expect(Self.isShort(text), "\(text)") }
    }

    @Test(arguments: [
        #"{"kind":"call","id":07,"to":"T/a","from":"M","deadline":1,"credit":1}"#,
        #"{"kind":"call","id":7,"to":"T/\u0061","from":"M","deadline":1,"credit":1}"#,
        #"{"kind":"call","id":7,"to":"T/a","from":"Mé","deadline":1,"credit":1}"#,
        #"{"kind":"call","id":7,"to":"T/a","from":"M","deadline":1,"credit":1 }"#,
        #"{"kind":"call","id":7,"to":"T/a","from":"M","deadline":1,"credit":1,"meta":{}}"#,
        #"{"kind":"call","id":7,"to":"T/a","from":"M","deadline":-1,"credit":1}"#,
        #"{"kind":"call","id":7,"to":"T/a","from":"M","deadline":1.5,"credit":1}"#,
        #"{"kind":"call","id":7,"to":"T/a","from":"M","deadline":1,"credit":1"#,
        #"{"kind":"call","id":7,"to":"T/a","from":"M","deadline":1,"credit":1}}"#,
        #"{"kind":"reply","id":7}"#,
    ])
    func theRestIsForTheOthers(text: String) { #expect(!Self.isShort(text)) }

    @Test func nothingOfACallIsLeftInTheNextHeader() throws {
        let scanner = HeaderScanner()
        var header = Header()
        for text in [Self.short[0], #"{"kind":"reply","id":7}"#] {
            let space = Array(text.utf8) + [UInt8](repeating: 0, count: ReadBuffer.slack)
            try space.withUnsafeBytes { space in
                try scanner.scanFromBroker(UnsafeRawBufferPointer(rebasing: space[..<text.utf8.count]), into: &header)
            }
        }
        #expect(header.kind == .reply)
        #expect(header.from.isEmpty && header.to.isEmpty && header.deadline == 0 && header.credit == 0)
    }

    @Test(arguments: 0..<20)
    func bothSayTheSame(seed: Int) {
        var generator = SeededGenerator(seed)
        let mangling = Array(#"{}[],:"\0123456789eE+-.tkidof ax"#.utf8) + [0, 0x1F, 0x80, 0xC3, 0xFF]
        for _ in 0..<2_000 {
            var bytes = Array((Self.short.randomElement(using: &generator) ?? "").utf8)
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
            let short = Self.outcome(bytes, slack: slack) { try $0.scanFromBroker($1, into: &$2) }
            let full = Self.outcome(bytes, slack: slack) { try $0.scanFully($1, into: &$2) }
            #expect(short == full, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
