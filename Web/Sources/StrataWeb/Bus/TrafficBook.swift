import StrataOperator

/// The messages of one kind and name from one sender to one receiver, as `bus/traffic` counts them.
struct TrafficEdge {
    let from: String
    let to: String
    let kind: String
    let name: String
    var count: Int64
    var errors: Int64
    var waiting: Int64?

    init(_ json: JSON) {
        from = json["from"]?.string ?? ""
        to = json["to"]?.string ?? ""
        kind = json["kind"]?.string ?? ""
        name = json["name"]?.string ?? ""
        count = json["count"]?.integer ?? 0
        errors = json["errors"]?.integer ?? 0
        waiting = json["waiting"]?.integer
    }

    /// What tells it from other edges.
    var key: String { "\(kind)\u{0}\(from)\u{0}\(to)\u{0}\(name)" }
}

/// The edges of the bus's traffic, with their rates. The bus bounds their number.
struct TrafficBook {
    private struct Entry {
        var edge: TrafficEdge
        var perSecond = 0.0
        /// The count at the last measurement.
        var before: Int64 = 0
    }

    private var entries: [String: Entry] = [:]
    private var measuredAt: UInt64 = 0

    mutating func add(_ edge: TrafficEdge) { entries[edge.key, default: Entry(edge: edge)].edge = edge }

    /// Measures the rates since the last time.
    /// - Parameter now: nanoseconds.
    /// - Returns: the keys of the edges whose rate has changed.
    mutating func measure(at now: UInt64) -> [String] {
        defer { measuredAt = now }
        guard measuredAt > 0, now > measuredAt else { return [] }
        let seconds = Double(now - measuredAt) / 1e9
        var changed: [String] = []
        for key in Array(entries.keys) {
            guard let entry = entries[key] else { continue }
            let rate = Double(max(0, entry.edge.count - entry.before)) / seconds
            guard rate != entry.perSecond || entry.before != entry.edge.count else { continue }
            if rate != entry.perSecond { changed.append(key) }
            entries[key]?.perSecond = rate
            entries[key]?.before = entry.edge.count
        }
        return changed
    }

    /// Returns an edge as the page gets it.
    func json(_ key: String) -> JSON {
        guard let entry = entries[key] else { return .null }
        let edge = entry.edge
        var members: [JSON.Member] = [
            .init("from", .string(edge.from)), .init("to", .string(edge.to)), .init("kind", .string(edge.kind)),
            .init("name", .string(edge.name)), .init("count", .integer(edge.count)),
            .init("errors", .integer(edge.errors)), .init("perSecond", .integer(Int64(entry.perSecond.rounded(.up)))),
        ]
        if let waiting = edge.waiting { members.append(.init("waiting", .integer(waiting))) }
        return .object(members)
    }
}
