/// A URL of the bus, `scheme://host/path?query#fragment`, judged and split.
///
/// Says nothing about whether it leads anywhere: that is `URLTable`'s. The
/// fragment is judged and dropped. A plain value that keeps its decoded parts
/// in one buffer; whoever forwards the URL keeps the bytes it came in.
public struct BusURL: Sendable, Equatable {
    /// One pair of the query, decoded.
    public struct Pair: Sendable, Equatable {
        /// Never empty.
        public let key: DecodedText
        /// Empty where the pair has no `=` or nothing after it.
        public let value: DecodedText
    }

    /// In lower case.
    public let scheme: String
    /// In lower case.
    public let host: String
    /// The path's segments, decoded; none for `/` and for no path at all.
    ///
    /// One trailing slash is dropped after a segment that isn't empty; any
    /// other empty segment is kept, and matches nothing.
    public let segments: [DecodedText]
    /// The query's pairs in order, repeated keys too.
    public let query: [Pair]

    /// Judges and splits a URL; costs one pass over it.
    ///
    /// - Throws: `bad-url`, for the first of: a byte outside 0x21 to 0x7E; no
    ///   `://`; an empty or malformed scheme; a user, a port, an escape in the
    ///   host, no host; a bad escape, bad UTF-8, an empty pair or key.
    public init(_ bytes: UnsafeRawBufferPointer) throws(BusURLError) {
        var parser = URLParser(bytes)
        self = try parser.parse()
    }

    /// Judges and splits a string's UTF-8.
    public init(_ url: String) throws(BusURLError) {
        self = try Array(url.utf8).withUnsafeBufferPointer { (bytes) throws(BusURLError) in
            try BusURL(UnsafeRawBufferPointer(bytes))
        }
    }

    init(scheme: String, host: String, segments: [DecodedText], query: [Pair]) {
        self.scheme = scheme
        self.host = host
        self.segments = segments
        self.query = query
    }
}

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
