/// How many segments a pattern has, and which of them are literal.
///
/// Patterns of one shape match the same URLs only where they have the same texts.
public struct URLShape: Sendable, Hashable {
    let count: Int
    /// The first segment's bit is the highest. So of two shapes that match one URL the
    /// better has the larger number: a literal beats a bound one, leftmost first.
    let literals: UInt64

    /// The shapes that a host may have for each number of segments.
    ///
    /// A URL costs one look-up for each. There are no more with up to 8 segments.
    public static let most = 256

    /// The bit of a segment.
    static func bit(_ place: Int) -> UInt64 { 1 << UInt64(63 - place) }

    func isLiteral(_ place: Int) -> Bool { literals & Self.bit(place) != 0 }

    /// Calls the body with the places of the literal segments.
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

/// What two patterns that match the same URLs have in common: the shape, and the texts
/// of the literal segments.
///
/// A URL's segments make such a form with any shape, so one look-up says whether a
/// pattern of the shape matches.
public struct URLForm: Sendable, Hashable {
    public let shape: URLShape
    /// The sum of the literal segments' hashes. Nobody can choose texts that collide,
    /// since Swift's hashes have a secret of the process.
    private let hash: UInt64
    /// Of all segments; bound ones don't count.
    let texts: [DecodedText]

    init(_ shape: URLShape, _ texts: [DecodedText]) {
        self.shape = shape
        self.texts = texts
        var hash: UInt64 = 0
        shape.forEachLiteral { hash &+= Self.hash(texts[$0], $0) }
        self.hash = hash
    }

    /// Of texts whose hashes are known.
    init(_ shape: URLShape, _ texts: [DecodedText], _ hashes: UnsafeMutableBufferPointer<UInt64>) {
        self.shape = shape
        self.texts = texts
        var hash: UInt64 = 0
        shape.forEachLiteral { hash &+= hashes[$0] }
        self.hash = hash
    }

    /// The hash of a segment at its place.
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

/// The bound on what a URL costs: how many shapes a host may have.
extension URLTable {
    /// The shapes that come to a host, with one number of segments.
    private struct Place: Hashable {
        var host: String
        var segments: Int
    }

    /// The first pattern with which its host would have more than `URLShape.most` shapes
    /// of its number of segments; nil where all patterns can be added.
    /// - Parameter patterns: hosts are in lower case.
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

    /// Why a pattern can't be added.
    public static func tooManyShapes(_ host: String, _ pattern: URLPattern) -> BusURLError {
        BusURLError(
            .overloaded,
            "the URL pattern \(BusURLError.excerpt(pattern.text.utf8)) would give the host "
                + "\(BusURLError.excerpt(host.utf8)) more than \(URLShape.most) ways to alternate literal and bound "
                + "segments among \(pattern.form.shape.count): use fewer, shorter paths or another host")
    }

    /// How many look-ups a path costs at a host, for tests.
    package func lookUps(_ url: BusURL) -> Int { hosts[url.host]?.match(url.segments).lookUps ?? 0 }
}
