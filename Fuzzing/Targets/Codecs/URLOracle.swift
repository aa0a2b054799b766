import StrataCore

/// A URL or a pattern, split as section 9 of the protocol says. It has all bytes available and
/// ignores speed.
struct URLOracle: Equatable {
    struct Pair: Equatable {
        var key: [UInt8]
        var value: [UInt8]
    }

    /// A pattern's segment.
    struct Segment: Equatable {
        /// From the best match to the worst.
        enum Kind: Int { case literal, bound, rest }

        var text: [UInt8]
        var kind: Kind
    }

    var scheme: [UInt8]
    var host: [UInt8]
    var segments: [[UInt8]]
    /// The segments as they were sent; none of a URL that the code under test has split.
    var sent: [[UInt8]]
    var query: [Pair]

    static func == (one: URLOracle, other: URLOracle) -> Bool {
        one.scheme == other.scheme && one.host == other.host && one.segments == other.segments
            && one.query == other.query
    }

    /// Takes over what the code under test made of a URL.
    init(_ url: BusURL) {
        (scheme, host) = (Array(url.scheme.utf8), Array(url.host.utf8))
        segments = url.segments.map { Array($0.bytes) }
        sent = []
        query = url.query.map { Pair(key: Array($0.key.bytes), value: Array($0.value.bytes)) }
    }

    /// Splits a URL; nil if the text is not a URL.
    init?(_ text: [UInt8]) {
        guard text.allSatisfy(Self.isPlain),
            let place = (0..<text.count).first(where: { text[$0...].starts(with: "://".utf8) })
        else { return nil }
        let (beforeFragment, fragment) = Self.cut(Array(text[(place + 3)...]), "#")
        let (beforeQuery, query) = Self.cut(beforeFragment, "?")
        let (host, path) = Self.cut(beforeQuery, "/")
        scheme = Self.lower(text[..<place])
        self.host = Self.lower(host[...])
        guard let first = scheme.first, ("a"..."z").contains(Character(Unicode.Scalar(first))),
            scheme.allSatisfy({ Array("abcdefghijklmnopqrstuvwxyz0123456789+-.".utf8).contains($0) }),
            !host.isEmpty, !host.contains(where: { "@:%".utf8.contains($0) }),
            let segments = Self.segments(path), Self.decoded(fragment ?? []) != nil
        else { return nil }
        self.segments = segments
        sent = Self.raw(path ?? [])
        self.query = []
        guard let query, !query.isEmpty else { return }
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let (key, value) = Self.cut(Array(pair), "=")
            guard !key.isEmpty, let key = Self.decoded(key), let value = Self.decoded(value ?? []) else { return nil }
            self.query.append(Pair(key: key, value: value))
        }
    }

    /// Returns the segments of a pattern; nil if the text is not a pattern.
    static func pattern(_ text: [UInt8]) -> [Segment]? {
        let (before, path) = cut(text, "/")
        guard text.count <= 4_096, before.isEmpty, let path, text.allSatisfy(isPlain),
            !text.contains(where: { "?#".utf8.contains($0) })
        else { return nil }
        let parts = raw(path)
        guard parts.count <= 64, !parts.contains([]) else { return nil }
        var segments: [Segment] = []
        for part in parts {
            let kind: Segment.Kind =
                switch part.first {
                case UInt8(ascii: ":"): .bound
                case UInt8(ascii: "*"): .rest
                default: .literal
                }
            let name = kind == .literal ? part : Array(part.dropFirst())
            guard kind == .literal || Name.isAction(String(decoding: name, as: UTF8.self)), let text = decoded(name),
                kind != .literal || !part.contains(UInt8(ascii: "*")), segments.last?.kind != .rest,
                kind == .literal || !segments.contains(where: { $0.kind != .literal && $0.text == text })
            else { return nil }
            segments.append(Segment(text: text, kind: kind))
        }
        return segments
    }

    /// Returns the members of an action's body for this URL and a matching pattern.
    func body(_ pattern: [Segment]) -> [(name: [UInt8], values: [[UInt8]], isArray: Bool)] {
        var members = zip(pattern, segments).filter { $0.0.kind == .bound }.map {
            (name: $0.0.text, values: [$0.1], isArray: false)
        }
        if let rest = pattern.last, rest.kind == .rest {
            let value = Array(sent[(pattern.count - 1)...].joined(separator: [UInt8(ascii: "/")]))
            members.append((rest.text, [value], false))
        }
        let bound = members.map(\.name)
        for pair in query where !bound.contains(pair.key) {
            if let place = members.firstIndex(where: { $0.name == pair.key }) {
                members[place].values.append(pair.value)
                members[place].isArray = true
            } else {
                members.append((pair.key, [pair.value], false))
            }
        }
        return members
    }

    // MARK: Parts

    private static func isPlain(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

    /// Returns the text before the first mark, and the text after it; nil if there is no mark.
    private static func cut(_ text: [UInt8], _ mark: Unicode.Scalar) -> ([UInt8], [UInt8]?) {
        guard let place = text.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (Array(text[..<place]), Array(text[(place + 1)...]))
    }

    /// Splits a path without its first slash.
    private static func raw(_ path: [UInt8]) -> [[UInt8]] {
        var parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        if parts.last == [], parts.count == 1 || parts[parts.count - 2] != [] { parts.removeLast() }
        return parts
    }

    private static func segments(_ path: [UInt8]?) -> [[UInt8]]? {
        let parts = raw(path ?? [])
        let all = parts.compactMap(decoded)
        return all.count == parts.count ? all : nil
    }

    /// Decodes escapes; nil for a bad escape, or for bytes that are not UTF-8.
    private static func decoded(_ part: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = part[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
    }

    private static func lower(_ text: ArraySlice<UInt8>) -> [UInt8] {
        text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }
}
