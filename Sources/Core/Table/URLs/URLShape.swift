/// The number of a pattern's segments, which of them are literal, and whether it ends in a rest.
///
/// Two patterns of one shape match the same URLs only if their literal segments are the same.
public struct URLShape: Sendable, Hashable {
    /// The number of segments, at most `URLPattern.mostSegments`. A rest counts as one.
    let count: Int
    /// One bit per segment, set if it is literal; the first segment has the highest bit.
    let literals: UInt64
    /// Whether the last segment is a rest, which matches one or more segments.
    let hasRest: Bool

    /// The most shapes of a host for each number of segments, and of all its patterns that end in
    /// a rest.
    ///
    /// Resolving a URL costs one look-up per shape. Up to 8 segments have no more shapes than this
    /// anyway.
    public static let most = 256

    /// Whether this shape is the better one of two that match one path: literal beats bound beats
    /// rest, in the leftmost segment where they differ.
    ///
    /// Before both rests, the larger number of `literals` is the better shape. Where the numbers
    /// are equal, the later rest is better, and none at all is best. A literal behind the other
    /// shape's rest can't mislead: that rest stands where this shape has a bound or literal segment.
    func beats(_ other: URLShape) -> Bool {
        literals == other.literals ? fixed > other.fixed : literals > other.literals
    }

    /// The number of segments before the rest; of shapes without one, more than any.
    private var fixed: Int { hasRest ? count - 1 : .max }

    /// Whether a path of this many segments has the right length.
    func fits(_ segments: Int) -> Bool { hasRest ? count <= segments : count == segments }

    /// Returns the bit of a segment, one of the first 64.
    static func bit(_ place: Int) -> UInt64 { 1 << UInt64(63 - place) }

    func isLiteral(_ place: Int) -> Bool { literals & Self.bit(place) != 0 }

    /// Calls the body with the index of each literal segment.
    @inline(__always)
    func forEachLiteral(_ body: (Int) -> Void) {
        var left = literals
        while left != 0 {
            let place = left.leadingZeroBitCount
            body(place)
            left ^= Self.bit(place)
        }
    }
}

/// The common part of all patterns that match the same URLs: the shape and the literal texts.
///
/// Any shape turns a URL's segments into such a form, so one look-up tells whether a pattern of
/// that shape matches.
public struct URLForm: Sendable, Hashable {
    public let shape: URLShape
    /// The sum of the literal segments' hashes. No peer can choose texts that collide, since Swift
    /// seeds its hashes with a secret in each process.
    private let hash: UInt64
    /// The texts of all segments; those of bound ones and of a rest don't count.
    let texts: [DecodedText]

    init(_ shape: URLShape, _ texts: [DecodedText]) {
        self.shape = shape
        self.texts = texts
        var hash: UInt64 = 0
        shape.forEachLiteral { hash &+= Self.hash(texts[$0], $0) }
        self.hash = hash
    }

    /// Makes a form from texts whose hashes are known.
    init(_ shape: URLShape, _ texts: [DecodedText], _ hashes: UnsafeMutableBufferPointer<UInt64>) {
        self.shape = shape
        self.texts = texts
        var hash: UInt64 = 0
        shape.forEachLiteral { hash &+= hashes[$0] }
        self.hash = hash
    }

    /// Returns the hash of a segment at its position.
    static func hash(_ text: DecodedText, _ place: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(place)
        text.hash(into: &hasher)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    public static func == (one: URLForm, other: URLForm) -> Bool {
        guard one.hash == other.hash, one.shape == other.shape else { return false }
        return one.texts.withUnsafeBufferPointer { texts in
            other.texts.withUnsafeBufferPointer { others in
                var isSame = true
                one.shape.forEachLiteral { isSame = isSame && texts[$0] == others[$0] }
                return isSame
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}

/// The limit on the cost of a URL, which is the number of shapes of a host.
extension URLTable {
    /// A host and a number of segments, for which the new shapes are counted; nil for all patterns
    /// that end in a rest.
    private struct Place: Hashable {
        var host: String
        var segments: Int?
    }

    /// Returns the first pattern that would give its host more than `URLShape.most` shapes of one
    /// number of segments, or with a rest; nil if all patterns can be added.
    /// - Parameter patterns: the patterns to add, with each host in lower case.
    public func firstBeyondLimit<Patterns: Sequence>(of patterns: Patterns) -> (host: String, pattern: URLPattern)?
    where Patterns.Element == (host: String, pattern: URLPattern) {
        var coming: [Place: Set<URLShape>] = [:]
        return patterns.first { host, pattern in
            let shape = pattern.form.shape
            let known = hosts[host]
            guard known?.has(shape) != true else { return false }
            let place = Place(host: host, segments: shape.hasRest ? nil : shape.count)
            guard coming[place, default: []].insert(shape).inserted else { return false }
            return (known?.shapeCount(beside: shape) ?? 0) + (coming[place]?.count ?? 0) > URLShape.most
        }
    }

    /// Returns the error for a pattern that can't be added.
    public static func tooManyShapes(_ host: String, _ pattern: URLPattern) -> BusURLError {
        let shape = pattern.form.shape
        return BusURLError(
            .overloaded,
            "the URL pattern \(BusURLError.excerpt(pattern.text.utf8)) would give the host "
                + "\(BusURLError.excerpt(host.utf8)) more than \(URLShape.most) ways to alternate literal and bound "
                + "segments \(shape.hasRest ? "before a rest" : "among \(shape.count)"): use fewer, shorter paths or "
                + "another host")
    }

    /// Returns the number of look-ups that a URL costs, for tests.
    package func lookUps(_ url: BusURL) -> Int { find(url).lookUps }
}
