import StrataCore
import StrataTesting
import TestSupport
import Testing

@testable import StrataJSON

/// Trees, typed values and headers refuse invalid JSON alike, with the same message and at the
/// same byte.
@Suite(.timeLimit(.hang))
struct ReadersAgreeTests {
    /// The error in a text, from any reader.
    private struct Refusal: Equatable, CustomStringConvertible {
        var offset: Int
        var message: String
        var description: String { "at byte \(offset): \(message)" }
    }

    /// Accepts any value without reading it.
    private struct Anything: Decodable { init(from decoder: any Decoder) throws {} }

    private func tree(_ text: [UInt8]) -> Refusal? {
        do throws(JSONError) {
            _ = try JSON(parsing: text, maximumDepth: JSONReader.maximumDepth)
            return nil
        } catch {
            return Refusal(offset: error.offset, message: error.message)
        }
    }

    private func coder(_ text: [UInt8]) throws -> String? {
        do {
            _ = try JSONReader().decode(Anything.self, from: text)
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return context.debugDescription
        }
    }

    /// Returns the error in the text as an unknown member of a header that ends with it or
    /// continues.
    private func header(_ text: [UInt8], end: String = "") -> Refusal? {
        let start = Array(#"{"kind":"call","x":"#.utf8)
        let bytes = start + text + Array(end.utf8)
        let scanner = HeaderScanner()
        var header = Header()
        return (bytes + [UInt8](repeating: 0, count: ReadBuffer.slack)).withUnsafeBytes { space in
            do throws(HeaderError) {
                try scanner.scan(UnsafeRawBufferPointer(rebasing: space[..<bytes.count]), into: &header)
                return nil
            } catch {
                return Refusal(
                    offset: error.offset - start.count,
                    message: String(error.reason.drop { $0 != ":" }.dropFirst(2)))
            }
        }
    }

    // MARK: Known texts

    private static let inValues: [(String, Int, String)] =
        [
            (#"{"a" 1}"#, 5, "a colon is missing behind the name"),
            (#"{"a"}"#, 4, "a colon is missing behind the name"),
            (#"{"a":1,}"#, 7, "a name in quotes is missing"), ("{,}", 1, "a name in quotes is missing"),
            ("{a:1}", 1, "a name in quotes is missing"), ("{1:1}", 1, "a name in quotes is missing"),
            (#"{"a":1 "b":2}"#, 7, "a comma or } is missing"), (#"{"a":1]"#, 6, "a comma or } is missing"),
            ("[1 2]", 3, "a comma or ] is missing"), ("[1}", 2, "a comma or ] is missing"),
            ("[1", 2, "a comma or ] is missing"), ("[1,]", 3, "no value begins like this"),
            ("[,1]", 1, "no value begins like this"),
            (#"{"a":}"#, 5, "no value begins like this"), ("[", 1, "a value is missing"),
            ("[1,", 3, "a value is missing"),
            ("{", 1, "a name in quotes is missing"), ("", 0, "a value is missing"), (" ", 1, "a value is missing"),
            ("nul", 0, "no value begins like this"), ("truE", 0, "no value begins like this"),
            ("NaN", 0, "no value begins like this"),
            ("'a'", 0, "no value begins like this"), ("//x\n1", 0, "no value begins like this"),
            (".5", 0, "no value begins like this"),
            ("+1", 0, "no value begins like this"), ("\u{A0}1", 0, "no value begins like this"),
            ("\u{0}", 0, "no value begins like this"),
            ("01", 0, "a number has no leading zero"), ("[-01]", 1, "a number has no leading zero"),
            ("-", 1, "a digit is missing"), ("1.", 2, "a digit is missing"), ("1.e1", 2, "a digit is missing"),
            ("1e", 2, "a digit is missing"), ("1e+", 3, "a digit is missing"), ("[1e-x]", 4, "a digit is missing"),
            (#"["abc"#, 1, "the string does not end"), ("\"", 0, "the string does not end"),
            (#""\x""#, 1, "there is no such escape"), (#""ab\"#, 3, "there is no such escape"),
            (#""a\u12""#, 2, "four hexadecimal digits are missing"),
            (#""\u12g4""#, 1, "four hexadecimal digits are missing"),
            (#""\ud800""#, 1, "a surrogate stands alone"), (#""\ud800x""#, 1, "a surrogate stands alone"),
            (#""\ud800\u0041""#, 1, "a surrogate stands alone"), (#""\udc00\ud800""#, 1, "a surrogate stands alone"),
            (#""\ud800\n""#, 1, "a surrogate stands alone"), ("\"a\tb\"", 2, "a control character must be escaped"),
            ("\"\u{0}\"", 1, "a control character must be escaped"),
        ]

    private static let repeated: [(String, Int, String)] = [
        (#"{"b":1,"a":2,"a":3}"#, 13, "a"),
        (#"{"a":2,"b":1,"\u0061":3}"#, 13, "a"),
        (#"{"\u0061":3,"b":1,"a":2}"#, 18, "a"),
        (#"[{"u":[{"x":{},"y":1,"x":{}}]}]"#, 21, "x"),
        (#"{"":4,"":4}"#, 6, ""),
        ("{\(many),\"k50\":5}", many.utf8.count + 2, "k50"),
        ("{\(many),\"\\u006b7\":9}", many.utf8.count + 2, "k7"),
        (
            #"{"\#(long)":1,"\#(long)":2}"#, long.utf8.count + 6,
            String(repeating: "n", count: 64)
        ),
    ]

    private static let many = (0..<100).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
    private static let long = String(repeating: "n", count: 100)

    private func expectAllRefuse(_ text: String, headerEnd: String, _ refusal: Refusal) throws {
        let text = Array(text.utf8)
        #expect(tree(text) == refusal)
        #expect(try coder(text) == "The given data was not valid JSON: \(refusal).")
        #expect(header(text, end: headerEnd) == refusal)
    }

    @Test(arguments: inValues)
    func allRefuseWhatIsNoJSON(_ text: String, _ offset: Int, _ message: String) throws {
        try expectAllRefuse(text, headerEnd: "", Refusal(offset: offset, message: message))
    }

    @Test(.promise("2.10"), arguments: repeated)
    func aNameThatIsThereTwiceIsRefused(_ text: String, _ offset: Int, _ name: String) throws {
        let refusal = Refusal(offset: offset, message: "the name \"\(name)\" is there twice")
        try expectAllRefuse(text, headerEnd: "}", refusal)
    }

    /// Texts with something before or after the value, where nothing is allowed.
    private static let aroundValues: [(String, Int, String)] = [
        ("1 2", 2, "nothing may follow the value"), ("[]]", 2, "nothing may follow the value"),
        ("nulll", 4, "nothing may follow the value"), ("0x1", 1, "nothing may follow the value"),
        ("[1]\u{0}", 3, "nothing may follow the value"), ("\u{FEFF}1", 0, "a byte order mark is not allowed"),
    ]

    @Test(arguments: aroundValues)
    func treesAndTypedValuesAreAlone(_ text: String, _ offset: Int, _ message: String) throws {
        let refusal = Refusal(offset: offset, message: message)
        #expect(tree(Array(text.utf8)) == refusal)
        #expect(try coder(Array(text.utf8)) == "The given data was not valid JSON: \(refusal).")
        #expect(header(Array(text.utf8), end: "}") != nil)
    }

    private static let notUTF8: [[UInt8]] = [
        [0x80], [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
        [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE2, 0x28, 0xA1],
    ]

    @Test(arguments: notUTF8)
    func allRefuseWhatIsNoUTF8(_ bytes: [UInt8]) throws {
        for padding in 0..<9 {
            let refusal = Refusal(offset: padding + 1, message: "not valid UTF-8")
            let cut = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "x"), count: padding) + bytes
            for text in [cut, cut + [UInt8(ascii: "\"")]] {
                #expect(tree(text) == refusal)
                #expect(try coder(text) == "The given data was not valid JSON: \(refusal).")
                #expect(header(text) == refusal)
            }
        }
    }

    @Test func eachHasItsDepth() throws {
        func nest(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(tree(nest(128)) == nil)
        #expect(tree(nest(129)) == Refusal(offset: 128, message: "nested deeper than 128"))
        #expect(try coder(nest(128)) == nil)
        #expect(try coder(nest(129)) == "The given data was not valid JSON: at byte 128: nested deeper than 128.")
        #expect(header(nest(31), end: "}") == nil)
        #expect(header(nest(32), end: "}") == Refusal(offset: 31, message: "nested deeper than 32"))
        for open in ["[", "{\"a\":"] {
            let deep = Array(String(repeating: open, count: 1_000_000).utf8)
            #expect(tree(deep) != nil && header(deep) != nil)
            #expect(try coder(deep) != nil)
        }
    }

    /// The only difference: a tree has a value for each number.
    @Test func onlyATreeRefusesNumbersOutOfRange() throws {
        let text = Array(#"{"a":1e999}"#.utf8)
        #expect(tree(text) == Refusal(offset: 5, message: "the number is out of range"))
        #expect(try coder(text) == nil)
        #expect(header(text, end: "}") == nil)
    }

    // MARK: Any text

    @Test func allSayTheSameOfAnyText() throws {
        for seed in 0..<DifferenceTests.rounds {
            var generator = SeededGenerator(seed)
            var text = Array(generator.json().utf8)
            if !generator.oneIn(4) { generator.damage(&text) }
            let shown: Comment = "seed \(seed): \(String(decoding: text, as: UTF8.self))"
            let tree = tree(text)
            let coder = try coder(text)
            if tree?.message == "the number is out of range" {
                #expect(coder == nil, shown)
                continue
            }
            #expect(coder == tree.map { "The given data was not valid JSON: \($0)." }, shown)
            guard let tree else {
                #expect(header(text, end: "}") == nil, shown)
                continue
            }
            // The text after the value belongs to the header, which ends differently from a text.
            guard !tree.message.hasPrefix("nothing"), !tree.message.hasPrefix("a byte order mark") else { continue }
            #expect(header(text, end: tree.message.hasSuffix("twice") ? "}" : "") == tree, shown)
        }
    }
}
