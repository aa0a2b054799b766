/// Why a URL leads nowhere, or why a pattern can't be mapped.
///
/// The message says what was asked, what was found, and what to do. It quotes
/// at most a few short excerpts, however long the URL was, and stays under 900
/// bytes of printable ASCII, so that it fits into any header.
public struct BusURLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The protocol's error codes that URLs and patterns end with.
    public enum Code: String, Sendable {
        case badURL = "bad-url"
        case unknownScheme = "unknown-scheme"
        case unknownHost = "unknown-host"
        case unknownPath = "unknown-path"
        /// A pattern or a host that can't be mapped.
        case badParams = "bad-params"
        /// A pattern that is mapped already.
        case nameTaken = "name-taken"
        /// A pattern that would give its host more shapes than it may have.
        case overloaded
    }

    /// The protocol's code.
    public let code: Code
    /// What was asked, what was found, and what to do.
    public let message: String

    public var description: String { "\(code.rawValue): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The start of what was asked for, quoted, as printable ASCII: any other
    /// byte, and the quotation mark, is shown as an escape.
    static func excerpt(_ bytes: some Collection<UInt8>) -> String {
        var shown = "\""
        for byte in bytes {
            guard shown.utf8.count <= 80 else { return shown + "...\"" }
            if byte >= 0x20, byte <= 0x7E, byte != UInt8(ascii: "\"") {
                shown.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                shown += (byte < 16 ? "%0" : "%") + digits
            }
        }
        return shown + "\""
    }
}
