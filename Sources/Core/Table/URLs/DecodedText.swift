internal import Glibc

/// A decoded part of a URL or a pattern, as valid UTF-8.
///
/// Two texts are compared byte by byte, unlike Swift's strings. Those treat both spellings of "é"
/// as equal, so one mapping would take URLs that are meant for another. A text is a slice of the
/// buffer that all parts of one URL share.
public struct DecodedText: Sendable, Hashable {
    /// The bytes, which are valid UTF-8. The indices don't start at 0.
    public let bytes: ArraySlice<UInt8>

    /// Takes bytes that are known to be valid UTF-8.
    init(valid bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The UTF-8 of a string.
    public init(_ string: String) {
        bytes = ArraySlice(string.utf8)
    }

    /// The text as a new string.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the text has no bytes.
    public var isEmpty: Bool { bytes.isEmpty }

    public static func == (a: DecodedText, b: DecodedText) -> Bool {
        a.bytes.withUnsafeBytes { a in
            b.bytes.withUnsafeBytes { b in
                a.count == b.count && (a.count == 0 || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0)
                // because a buffer that isn't empty has an address
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        // Ends the text, so that moving the border between two adjacent texts changes the hash.
        hasher.combine(0xFF as UInt8)
    }

    /// Appends the text as a JSON string with its quotation marks, and escapes only what must be
    /// escaped.
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

/// Decodes the parts of one URL or pattern into one buffer.
///
/// The escapes of each part are decoded once. Each part must be valid UTF-8 by itself, so a
/// character can't span a slash.
struct PercentDecoder {
    /// A fault in a part, and advice on it, for an error message.
    struct Fault: Error {
        let found: String
        let advice: String
    }

    private(set) var decoded: [UInt8] = []

    /// Reserves room for parts of `capacity` bytes in all; decoding never makes them longer.
    init(capacity: Int) {
        decoded.reserveCapacity(capacity)
    }

    /// Appends the decoded part and returns its range in `decoded`.
    mutating func decode(_ part: Slice<UnsafeRawBufferPointer>) throws(Fault) -> Range<Int> {
        let start = decoded.count
        var at = part.startIndex
        var isASCII = true
        while at < part.endIndex {
            var byte = part[at]
            at += 1
            if byte == UInt8(ascii: "%") {
                guard at + 1 < part.endIndex, let high = Self.digit(part[at]),
                    let low = Self.digit(part[at + 1])
                else {
                    throw Fault(
                        found: "has the bad escape \(BusURLError.excerpt(part[(at - 1)...].prefix(3)))",
                        advice: "two hexadecimal digits follow a \"%\"; write a percent sign as %25")
                }
                byte = high << 4 | low
                at += 2
            }
            isASCII = isASCII && byte < 0x80
            decoded.append(byte)
        }
        guard isASCII || Self.isUTF8(decoded[start...]) else {
            throw Fault(
                found: "has bad UTF-8 in \(BusURLError.excerpt(part))",
                advice: "escape the bytes of UTF-8, whole characters in each part")
        }
        return start..<decoded.count
    }

    /// Appends a part as it is, which is ASCII, and returns its range in `decoded`.
    mutating func append(_ part: Slice<UnsafeRawBufferPointer>) -> Range<Int> {
        let start = decoded.count
        decoded += part
        return start..<decoded.count
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        do {
            _ = try UTF8Span(validating: bytes.span)
            return true
        } catch {
            return false
        }
    }
}

/// The segments of a URL's or a pattern's path, before decoding.
///
/// The path is empty or starts with a slash. Both `""` and `/` have no segments. One trailing slash
/// is dropped after a segment that isn't empty: `/a/` equals `/a`. But `//` has two empty segments,
/// and `/a//` has `a` and two empty ones.
struct PathSegments: Sequence, IteratorProtocol {
    /// The path without the dropped slash.
    let path: Slice<UnsafeRawBufferPointer>
    /// The start of the next segment; past the end if there is none.
    private var start: Int

    init(_ path: Slice<UnsafeRawBufferPointer>) {
        var path = path
        let slash = UInt8(ascii: "/")
        if path.last == slash, path.count == 1 || path.dropLast().last != slash {
            path = path.dropLast()
        }
        self.path = path
        start = path.isEmpty ? path.endIndex + 1 : path.startIndex + 1
    }

    mutating func next() -> Slice<UnsafeRawBufferPointer>? {
        guard start <= path.endIndex else { return nil }
        let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        defer { start = end + 1 }
        return path[start..<end]
    }
}
