/// Decodes the parts of one URL or pattern into one buffer.
///
/// The escapes of each part are decoded once, and each part must be valid
/// UTF-8 by itself: a character can't be spread over a slash.
struct PercentDecoder {
    /// What is wrong with a part, and what to do, for a message.
    struct Fault: Error {
        let found: String
        let advice: String
    }

    private(set) var decoded: [UInt8] = []

    /// Makes room for all parts of so many bytes; decoding never adds any.
    init(capacity: Int) {
        decoded.reserveCapacity(capacity)
    }

    /// Appends the decoded part and tells where in `decoded` it stands.
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
