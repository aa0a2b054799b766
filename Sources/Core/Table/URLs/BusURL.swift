/// A URL of the bus, `scheme://host/path?query#fragment`, validated and split.
///
/// It doesn't say whether the URL leads anywhere; `URLTable` does. The fragment is validated and
/// dropped. A plain value, which keeps its decoded parts in one buffer. A broker that forwards the
/// URL keeps the original bytes.
public struct BusURL: Sendable, Equatable {
    /// One pair of the query, decoded.
    public struct Pair: Sendable, Equatable {
        /// Never empty.
        public let key: DecodedText
        /// Empty if the pair has no `=`, or nothing after it.
        public let value: DecodedText
    }

    /// In lower case.
    public let scheme: String
    /// In lower case.
    public let host: String
    /// The decoded segments of the path; none for `/` or for a missing path.
    ///
    /// One trailing slash is dropped after a segment that isn't empty. Any other empty segment is
    /// kept, and matches nothing.
    public let segments: [DecodedText]
    /// The path as it was sent, without the dropped slash.
    let path: DecodedText
    /// The query's pairs in order, including repeated keys.
    public let query: [Pair]

    /// Returns the path as it was sent, from a segment on, without the slash before it.
    /// - Parameter place: the index of one of the segments.
    func path(from place: Int) -> DecodedText {
        var rest = path.bytes.dropFirst()
        for _ in 0..<place { rest = rest.drop { $0 != UInt8(ascii: "/") }.dropFirst() }
        return DecodedText(valid: rest)
    }

    /// Validates and splits a URL, in one pass over it.
    ///
    /// - Throws: `bad-url`, for the first of these: a byte outside 0x21 to 0x7E; no `://`; an empty
    ///   or malformed scheme; a user, a port or an escape in the host, or no host; a bad escape,
    ///   bad UTF-8, an empty pair or an empty key.
    public init(_ bytes: UnsafeRawBufferPointer) throws(BusURLError) {
        var parser = URLParser(bytes)
        self = try parser.parse()
    }

    /// Validates and splits a string's UTF-8.
    public init(_ url: String) throws(BusURLError) {
        self = try Array(url.utf8).withUnsafeBufferPointer { (bytes) throws(BusURLError) in
            try BusURL(UnsafeRawBufferPointer(bytes))
        }
    }

    init(scheme: String, host: String, segments: [DecodedText], path: DecodedText, query: [Pair]) {
        self.scheme = scheme
        self.host = host
        self.segments = segments
        self.path = path
        self.query = query
    }
}

/// The reason why a URL leads nowhere, or why a pattern can't be mapped.
///
/// The message says what was requested, what was found, and what to do. It quotes only a few short
/// excerpts, however long the URL is. It is printable ASCII of less than 900 bytes, so it fits into
/// any header.
public struct BusURLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The protocol's error codes for URLs and patterns.
    public enum Code: String, Sendable {
        case badURL = "bad-url"
        case unknownScheme = "unknown-scheme"
        case unknownHost = "unknown-host"
        case unknownPath = "unknown-path"
        /// A pattern or a host that can't be mapped.
        case badParams = "bad-params"
        /// A pattern that is already mapped.
        case nameTaken = "name-taken"
        /// A pattern that would give its host more shapes than the limit.
        case overloaded
    }

    /// The protocol's error code.
    public let code: Code
    /// What was requested, what was found, and what to do.
    public let message: String

    public var description: String { "\(code.rawValue): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Returns the start of `bytes` in quotes, as printable ASCII. Any other byte, and the
    /// quotation mark, becomes an escape.
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
