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
