/// Splits one URL, from left to right.
struct URLParser {
    private let url: UnsafeRawBufferPointer
    private var decoder: PercentDecoder

    init(_ url: UnsafeRawBufferPointer) {
        self.url = url
        // The path is there twice: decoded, and as it was sent.
        decoder = PercentDecoder(capacity: 2 * url.count)
    }

    mutating func parse() throws(BusURLError) -> BusURL {
        if let byte = url.first(where: { $0 < 0x21 || $0 > 0x7E }) {
            throw bad(
                "has the byte 0x\(String(byte, radix: 16, uppercase: true))",
                "write spaces and what is not ASCII as escapes, like %20")
        }
        guard let colon = firstSeparator() else {
            throw bad("has no \"://\"", "write scheme://host/path")
        }
        let scheme = try scheme(url[..<colon])
        let authorityEnd = end(of: colon + 3, at: "/?#")
        let host = try host(url[(colon + 3)..<authorityEnd])
        let pathEnd = end(of: authorityEnd, at: "?#")
        let path = PathSegments(url[authorityEnd..<pathEnd])
        let segments = try segments(path)
        let sent = decoder.append(path.path)
        let queryEnd = end(of: pathEnd, at: "#")
        let pairs = try pairs(url[pathEnd..<queryEnd].dropFirst())
        _ = try decode(url[queryEnd...].dropFirst())

        // Sliced only now, so that all parts share the finished buffer.
        let decoded = decoder.decoded
        return BusURL(
            scheme: scheme, host: host,
            segments: segments.map { DecodedText(valid: decoded[$0]) },
            path: DecodedText(valid: decoded[sent]),
            query: pairs.map { (key, value) in
                BusURL.Pair(key: DecodedText(valid: decoded[key]), value: DecodedText(valid: decoded[value]))
            })
    }

    /// Returns the index of the colon in the first `://`.
    private func firstSeparator() -> Int? {
        url.indices.dropLast(2).first {
            url[$0] == UInt8(ascii: ":") && url[$0 + 1] == UInt8(ascii: "/") && url[$0 + 2] == UInt8(ascii: "/")
        }
    }

    /// Returns the end of the component that starts at `start`: the first of the marks, or the
    /// URL's end.
    private func end(of start: Int, at marks: StaticString) -> Int {
        url[start...].firstIndex { byte in
            UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount).contains(byte)
        } ?? url.count
    }

    /// Validates a scheme by RFC 3986, section 3.1: a letter, then letters, digits, `+`, `-`, `.`.
    private func scheme(_ part: Slice<UnsafeRawBufferPointer>) throws(BusURLError) -> String {
        guard let first = part.first else {
            throw bad("has no scheme", "write scheme://host/path")
        }
        let rest: [UInt8] = [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")]
        guard Name.isLetter(first),
            part.allSatisfy({ Name.isLetter($0) || Name.isDigit($0) || rest.contains($0) })
        else {
            throw bad(
                "has the scheme \(BusURLError.excerpt(part))",
                "a scheme is a letter, then letters, digits, \"+\", \"-\" and \".\"")
        }
        return asciiLowercase(part)
    }

    private func host(_ part: Slice<UnsafeRawBufferPointer>) throws(BusURLError) -> String {
        if part.contains(UInt8(ascii: "@")) {
            throw bad("names a user", "leave out the \"@\" and what stands before it")
        }
        if part.contains(UInt8(ascii: ":")) {
            throw bad("has a port, or a port's colon", "write the host alone: a module has no ports")
        }
        if part.contains(UInt8(ascii: "%")) {
            throw bad("has an escape in its host", "write the host as it is mapped, without escapes")
        }
        guard !part.isEmpty else {
            throw bad("has no host", "write scheme://host/path")
        }
        return asciiLowercase(part)
    }

    private mutating func segments(_ path: PathSegments) throws(BusURLError) -> [Range<Int>] {
        var segments: [Range<Int>] = []
        for part in path { segments.append(try decode(part)) }
        return segments
    }

    private mutating func pairs(
        _ query: Slice<UnsafeRawBufferPointer>
    ) throws(BusURLError) -> [(key: Range<Int>, value: Range<Int>)] {
        guard !query.isEmpty else { return [] }
        var pairs: [(key: Range<Int>, value: Range<Int>)] = []
        var start = query.startIndex
        while true {
            let end = query[start...].firstIndex(of: UInt8(ascii: "&")) ?? query.endIndex
            let pair = query[start..<end]
            guard !pair.isEmpty else {
                throw bad("has an empty pair in its query", "write each \"&\" between two pairs only")
            }
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? end
            guard equals > start else {
                throw bad("has an empty key in its query", "write a key before each \"=\"")
            }
            let key = try decode(pair[..<equals])
            let value = try decode(pair[equals...].dropFirst())
            pairs.append((key, value))
            guard end < query.endIndex else { return pairs }
            start = end + 1
        }
    }

    private mutating func decode(
        _ part: Slice<UnsafeRawBufferPointer>
    ) throws(BusURLError) -> Range<Int> {
        do {
            return try decoder.decode(part)
        } catch {
            throw bad(error.found, error.advice)
        }
    }

    private func asciiLowercase(_ part: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: part.lazy.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private func bad(_ found: String, _ advice: String) -> BusURLError {
        BusURLError(.badURL, "the URL \(BusURLError.excerpt(url)) \(found); \(advice)")
    }
}
