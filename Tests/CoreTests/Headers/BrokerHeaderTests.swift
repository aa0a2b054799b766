import Testing

@testable import StrataCore

/// The fast path for headers of calls from the broker agrees with the full scan, whatever bytes
/// are inserted, removed or changed.
@Suite(.timeLimit(.hang))
struct BrokerHeaderTests {
    private static let short = [
        #"{"kind":"call","id":7,"to":"Test/act","from":"Menu","deadline":30000,"credit":16}"#,
        #"{"kind":"call","id":999999999999999,"to":"Cart#12/add","from":"operator","deadline":0,"credit":0}"#,
        #"{"kind":"call","id":12,"to":"","from":"","deadline":1,"credit":9}"#,
    ]

    private static func isShort(_ text: String) -> Bool {
        HeaderMangling.accepts(text) { HeaderScanner().scanCall($0, into: &$1) }
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
        HeaderMangling.compare({ try $0.scanFromBroker($1, into: &$2) }, on: Self.short, seed: seed)
    }
}
