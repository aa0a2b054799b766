/// The number of a pattern's segments, and which of them are literal.
///
/// Two patterns of one shape match the same URLs only if their literal segments are the same.
public struct URLShape: Sendable, Hashable {
    let count: Int
    /// One bit per segment, set if it is literal; the first segment has the highest bit. Of two
    /// shapes that match one URL, the better has the larger number, as a literal beats a bound
    /// segment, leftmost first.
    let literals: UInt64

    /// The most shapes of a host for each number of segments.
    ///
    /// Resolving a URL costs one look-up per shape. Up to 8 segments have no more shapes than this
    /// anyway.
    public static let most = 256

    /// Returns the bit of a segment.
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
    /// The texts of all segments; those of bound ones don't count.
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
    /// A host and a number of segments, for which the new shapes are counted.
    private struct Place: Hashable {
        var host: String
        var segments: Int
    }

    /// Returns the first pattern that would give its host more than `URLShape.most` shapes of one
    /// number of segments; nil if all patterns can be added.
    /// - Parameter patterns: the patterns to add, with each host in lower case.
    public func firstBeyondLimit<Patterns: Sequence>(of patterns: Patterns) -> (host: String, pattern: URLPattern)?
    where Patterns.Element == (host: String, pattern: URLPattern) {
        var coming: [Place: Set<URLShape>] = [:]
        return patterns.first { host, pattern in
            let shape = pattern.form.shape
            let known = hosts[host]
            guard known?.has(shape) != true else { return false }
            let place = Place(host: host, segments: shape.count)
            guard coming[place, default: []].insert(shape).inserted else { return false }
            return (known?.shapeCount(segments: shape.count) ?? 0) + (coming[place]?.count ?? 0) > URLShape.most
        }
    }

    /// Returns the error for a pattern that can't be added.
    public static func tooManyShapes(_ host: String, _ pattern: URLPattern) -> BusURLError {
        BusURLError(
            .overloaded,
            "the URL pattern \(BusURLError.excerpt(pattern.text.utf8)) would give the host "
                + "\(BusURLError.excerpt(host.utf8)) more than \(URLShape.most) ways to alternate literal and bound "
                + "segments among \(pattern.form.shape.count): use fewer, shorter paths or another host")
    }

    /// Returns the number of look-ups that a URL costs, for tests.
    package func lookUps(_ url: BusURL) -> Int { hosts[url.host]?.match(url.segments).lookUps ?? 0 }
}
