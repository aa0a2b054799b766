/// Where a URL leads: what its pattern was mapped to, and what the action is
/// called with.
public struct URLMatch<Value> {
    /// What the pattern was mapped to.
    public let value: Value
    /// The pattern that matched.
    public let pattern: URLPattern
    /// The URL that was resolved.
    public let url: BusURL

    /// The call's body: one JSON object of the bound segments, in the path's
    /// order, then the query's keys, in the order in which they first appear.
    ///
    /// Every value is a string; a repeated key is an array of its values in
    /// order; a bound segment wins over a query key of its name. Without any it
    /// is `{}`. Linear in the URL; at most nine times as long.
    public func body() -> [UInt8] {
        var body: [UInt8] = []
        appendBody(to: &body)
        return body
    }

    /// Appends what `body()` returns.
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
        let form = pattern.form
        for (place, text) in url.segments.enumerated() where !form.shape.isLiteral(place) {
            bound.insert(form.texts[place])
            key(form.texts[place], &body)
            text.appendJSON(to: &body)
        }
        for chain in chains(without: bound) {
            key(url.query[chain[0]].key, &body)
            if chain.count > 1 { body.append(UInt8(ascii: "[")) }
            for (place, pair) in chain.enumerated() {
                if place > 0 { body.append(UInt8(ascii: ",")) }
                url.query[pair].value.appendJSON(to: &body)
            }
            if chain.count > 1 { body.append(UInt8(ascii: "]")) }
        }
        body.append(UInt8(ascii: "}"))
    }

    /// The query's pairs by key: for each key, in the order in which they first
    /// appear, the indices of its pairs.
    private func chains(without bound: Set<DecodedText>) -> [[Int]] {
        var chains: [[Int]] = []
        var places: [DecodedText: Int] = [:]
        for (index, pair) in url.query.enumerated() where !bound.contains(pair.key) {
            if let place = places[pair.key] {
                chains[place].append(index)
            } else {
                places[pair.key] = chains.count
                chains.append([index])
            }
        }
        return chains
    }
}

extension URLMatch: Sendable where Value: Sendable {}
