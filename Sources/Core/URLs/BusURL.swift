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
