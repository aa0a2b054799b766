internal import Glibc

/// A part of a URL or a pattern, its escapes decoded: valid UTF-8.
///
/// Compared byte by byte, which Swift's strings are not: for them the two
/// spellings of "é" are equal, and a mapping would take the other's URLs.
/// A slice of the buffer that all parts of one URL share.
public struct DecodedText: Sendable, Hashable {
    /// The bytes, valid UTF-8. Indices don't start at 0.
    public let bytes: ArraySlice<UInt8>

    /// Takes bytes that are known to be valid UTF-8.
    init(valid bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The UTF-8 of a string.
    public init(_ string: String) {
        bytes = ArraySlice(string.utf8)
    }

    /// The text as a string of its own.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether there is no byte.
    public var isEmpty: Bool { bytes.isEmpty }

    public static func == (a: DecodedText, b: DecodedText) -> Bool {
        a.bytes.withUnsafeBytes { a in
            b.bytes.withUnsafeBytes { b in
                a.count == b.count && (a.count == 0 || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0)
                // because one with bytes has an address
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        // Two texts in a row differ from their seam moved.
        hasher.combine(0xFF as UInt8)
    }

    /// Writes the text as a JSON string, quotation marks included, without
    /// needless escapes.
    func appendJSON(to body: inout [UInt8]) {
        let digits: StaticString = "0123456789abcdef"
        body.append(UInt8(ascii: "\""))
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                body.append(UInt8(ascii: "\\"))
                body.append(byte)
            case 0x08: body.append(contentsOf: "\\b".utf8)
            case 0x09: body.append(contentsOf: "\\t".utf8)
            case 0x0A: body.append(contentsOf: "\\n".utf8)
            case 0x0C: body.append(contentsOf: "\\f".utf8)
            case 0x0D: body.append(contentsOf: "\\r".utf8)
            case 0..<0x20:
                body.append(contentsOf: "\\u00".utf8)
                body.append(digits.utf8Start[Int(byte >> 4)])
                body.append(digits.utf8Start[Int(byte & 15)])
            default: body.append(byte)
            }
        }
        body.append(UInt8(ascii: "\""))
    }
}
