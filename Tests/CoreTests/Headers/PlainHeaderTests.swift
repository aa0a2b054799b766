import Testing

@testable import StrataCore

/// The fast path for plain headers agrees with the full scan, whatever bytes are inserted,
/// removed or changed.
@Suite(.timeLimit(.hang))
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

    private static func isPlain(_ text: String) -> Bool {
        HeaderMangling.accepts(text) { HeaderScanner().scanPlain($0, into: &$1) }
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

    /// Nothing of a header is left in the next one, whichever path each one took.
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
                        #expect(HeaderMangling.all(used) == HeaderMangling.all(fresh), "\(first), then \(text)")
                    }
                }
            }
        }
    }

    /// Numbers of each length have the right value, up to 15 digits.
    @Test func numbersOfEachLengthAreRead() throws {
        var digits = ""
        for length in 1...15 {
            digits += "\(length % 10 == 0 ? 0 : length % 10)"
            let text = #"{"kind":"reply","id":\#(digits)}"#
            #expect(Self.isPlain(text))
            let slack = [UInt8](repeating: 0x39, count: ReadBuffer.slack)
            let outcome = HeaderMangling.outcome(Array(text.utf8), slack: slack) { try $0.scan($1, into: &$2) }
            #expect(outcome.first?.contains(" reply \(digits) ") == true, "\(outcome)")
        }
    }

    @Test(arguments: 0..<20)
    func bothSayTheSame(seed: Int) {
        HeaderMangling.compare({ try $0.scan($1, into: &$2) }, on: Self.plain, seed: seed)
    }
}
