/// A path that a module maps to an action, like `/show/:tip`.
///
/// A segment that starts with a colon is bound: it matches any single segment and passes it to the
/// action under its name, which has the form of an action's name. Any other segment is literal, and
/// its escapes are decoded once. The last segment may be a rest, like `*path` in `/files/*path`: it
/// matches one or more segments, and passes them as they were sent. Write a literal segment's
/// leading colon as `%3A`, and each literal star as `%2A`.
public struct URLPattern: Sendable {
    /// One segment of a pattern.
    public enum Segment: Sendable, Equatable {
        /// Matches exactly this text, byte by byte.
        case literal(DecodedText)
        /// Matches any segment that isn't empty.
        case bound(DecodedText)
        /// Matches one or more segments, none of them empty; always the last one.
        case rest(DecodedText)
    }

    /// The pattern as it was written.
    public let text: String
    /// The form of the paths that it matches. Two patterns that differ only in the names of bound
    /// segments or of the rest have equal forms.
    public let form: URLForm

    /// The pattern's segments; none for `/`.
    public var segments: [Segment] {
        form.texts.enumerated().map { place, text in
            if form.shape.isLiteral(place) { return .literal(text) }
            return form.shape.hasRest && place == form.shape.count - 1 ? .rest(text) : .bound(text)
        }
    }

    /// The longest pattern, in bytes.
    public static let longest = 4_096
    /// The most segments of a pattern.
    public static let mostSegments = 64

    /// Makes the pattern `/`, which matches a host without a path.
    public init() {
        text = "/"
        form = URLForm(URLShape(count: 0, literals: 0, hasRest: false), [])
    }

    /// Validates and splits a pattern.
    ///
    /// One trailing slash has no meaning, as in a URL.
    ///
    /// - Throws: `bad-params`, if no URL could match the pattern or its meaning is unclear: no
    ///   leading slash; a byte outside 0x21 to 0x7E; a `?` or `#`; an empty segment; a bad escape;
    ///   bad UTF-8; a malformed name of a bound segment or a rest; a rest that isn't last; any other
    ///   `*`; a name bound twice; or over `longest` or `mostSegments`.
    public init(_ text: String) throws(BusURLError) {
        self.text = text
        form = try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(BusURLError) in
            try Self.split(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Whether both patterns match the same paths, which means they differ only in the names of
    /// bound segments and of the rest.
    public func matchesSame(as other: URLPattern) -> Bool { form == other.form }

    private static func split(
        _ bytes: UnsafeRawBufferPointer
    ) throws(BusURLError) -> URLForm {
        func bad(_ found: String, _ advice: String) -> BusURLError {
            BusURLError(.badParams, "the URL pattern \(BusURLError.excerpt(bytes)) \(found); \(advice)")
        }
        guard bytes.count <= longest else {
            throw bad("has \(bytes.count) bytes", "at most \(longest) are allowed")
        }
        guard bytes.first == UInt8(ascii: "/") else {
            throw bad("does not start with \"/\"", "write /segment/segment, or / for the host alone")
        }
        for byte in bytes {
            guard byte >= 0x21, byte <= 0x7E else {
                throw bad(
                    "has the byte 0x\(String(byte, radix: 16, uppercase: true))",
                    "write spaces and what is not ASCII as escapes, like %20")
            }
            guard byte != UInt8(ascii: "?"), byte != UInt8(ascii: "#") else {
                throw bad(
                    "has a \"?\" or \"#\"", "map the path alone, or write %3F and %23 inside a segment")
            }
        }
        var decoder = PercentDecoder(capacity: bytes.count)
        var parts: [Range<Int>] = []
        var literals: UInt64 = 0
        var hasRest = false
        for part in PathSegments(bytes[...]) {
            guard !part.isEmpty else {
                throw bad("has an empty segment", "no URL matches it: write one \"/\" between two segments")
            }
            guard parts.count < mostSegments else {
                throw bad("has more than \(mostSegments) segments", "map fewer, and read the rest from the query")
            }
            guard !hasRest else {
                throw bad(
                    "has segments after a rest",
                    "a rest takes all that is left of a path, so it comes last; a literal star is %2A")
            }
            let isBound = part.first == UInt8(ascii: ":")
            if isBound, !Name.isAction(UnsafeRawBufferPointer(rebasing: part.dropFirst())) {
                throw bad(
                    "binds \(BusURLError.excerpt(part))",
                    "a bound segment is \":\" and a name of up to 64 letters, digits, \".\", \"_\" and \"-\""
                        + " that starts with a letter or \"_\"; a literal colon is %3A, a literal star %2A")
            }
            if !isBound, part.contains(UInt8(ascii: "*")) {
                guard part.first == UInt8(ascii: "*"),
                    Name.isAction(UnsafeRawBufferPointer(rebasing: part.dropFirst()))
                else {
                    throw bad(
                        "has a star in \(BusURLError.excerpt(part))",
                        "a rest is \"*\" and a name of up to 64 letters, digits, \".\", \"_\" and \"-\" that starts"
                            + " with a letter or \"_\"; a literal star is %2A")
                }
                hasRest = true
            }
            do {
                let isLiteral = !isBound && !hasRest
                if isLiteral { literals |= URLShape.bit(parts.count) }
                parts.append(try decoder.decode(isLiteral ? part : part.dropFirst()))
            } catch {
                throw bad(error.found, error.advice)
            }
        }
        let shape = URLShape(count: parts.count, literals: literals, hasRest: hasRest)
        let decoded = decoder.decoded
        let texts = parts.map { DecodedText(valid: decoded[$0]) }
        var names = Set<DecodedText>(minimumCapacity: texts.count - literals.nonzeroBitCount)
        for (place, text) in texts.enumerated() where !shape.isLiteral(place) {
            guard names.insert(text).inserted else {
                throw bad(
                    "binds \(BusURLError.excerpt(text.bytes)) twice",
                    "give each bound segment and the rest its own name; a literal colon is %3A, a literal star %2A")
            }
        }
        return URLForm(shape, texts)
    }
}
