/// The result of resolving a URL: the value of its pattern, and the parameters of the call.
public struct URLMatch<Value> {
    /// The value that the pattern was mapped to.
    public let value: Value
    /// The pattern that matched.
    public let pattern: URLPattern
    /// The URL that was resolved.
    public let url: BusURL

    /// Returns the body of the call, a JSON object. It has the bound segments in the path's order,
    /// then the rest, then the query's keys in the order of their first appearance.
    ///
    /// Every value is a string; a repeated key becomes an array of its values in order. The rest is
    /// as it was sent, with its slashes and escapes. A bound segment and the rest beat a query key
    /// of the same name. With none of them, the body is `{}`. The time is linear in the URL's
    /// length, and the body is at most nine times as long as the URL.
    public func body() -> [UInt8] {
        var body: [UInt8] = []
        appendBody(to: &body)
        return body
    }

    /// Appends the result of `body()`.
    public func appendBody(to body: inout [UInt8]) {
        body.append(UInt8(ascii: "{"))
        var isFirst = true
        func key(_ name: DecodedText, _ body: inout [UInt8]) {
            if !isFirst { body.append(UInt8(ascii: ",")) }
            isFirst = false
            name.appendJSON(to: &body)
            body.append(UInt8(ascii: ":"))
        }

        var bound: Set<DecodedText> = []
        for (place, segment) in pattern.segments.enumerated() {
            switch segment {
            case .literal: continue
            case .bound(let name):
                bound.insert(name)
                key(name, &body)
                url.segments[place].appendJSON(to: &body)
            case .rest(let name):
                bound.insert(name)
                key(name, &body)
                url.path(from: place).appendJSON(to: &body)
            }
        }
        let (firsts, next) = chains(without: bound)
        for first in firsts {
            key(url.query[first].key, &body)
            if next[first] != nil { body.append(UInt8(ascii: "[")) }
            url.query[first].value.appendJSON(to: &body)
            var place = first
            while let pair = next[place] {
                body.append(UInt8(ascii: ","))
                url.query[pair].value.appendJSON(to: &body)
                place = pair
            }
            if next[first] != nil { body.append(UInt8(ascii: "]")) }
        }
        body.append(UInt8(ascii: "}"))
    }

    /// Links the query's pairs of each key.
    /// - Returns: the index of each key's first pair, in order, and for each pair the index of the
    ///   next one of its key; nil for the last.
    private func chains(without bound: Set<DecodedText>) -> (firsts: [Int], next: [Int?]) {
        var firsts: [Int] = []
        var next = [Int?](repeating: nil, count: url.query.count)
        var lasts: [DecodedText: Int] = [:]
        lasts.reserveCapacity(url.query.count)
        for (index, pair) in url.query.enumerated() where !bound.contains(pair.key) {
            if let last = lasts.updateValue(index, forKey: pair.key) {
                next[last] = index
            } else {
                firsts.append(index)
            }
        }
        return (firsts, next)
    }
}

extension URLMatch: Sendable where Value: Sendable {}
