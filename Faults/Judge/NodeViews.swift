internal import FaultRecord

/// The times in which two nodes were not connected, as their modules were told.
struct NodeViews {
    /// By pair, in order of time, without overlaps.
    private var downs: [Pair: [ClosedRange<UInt64>]] = [:]

    /// The deaths of brokers.
    private let deaths: [(node: UInt8, time: UInt64)]

    private struct Pair: Hashable {
        let (low, high): (UInt8, UInt8)
        init(_ one: UInt8, _ other: UInt8) { (low, high) = (min(one, other), max(one, other)) }
    }

    init(_ logs: [ProcessLog], _ faults: [Record]) {
        let ends = faults.filter {
            [.killBroker, .handOver, .killNode].contains(FaultKind(rawValue: $0.kind))
        }
        deaths = ends.filter { $0.kind != FaultKind.handOver.rawValue }.map { ($0.code, $0.time) }
        var found: [Pair: [ClosedRange<UInt64>]] = [:]
        for log in logs {
            for (pair, range) in Self.downs(log, ends) { found[pair, default: []].append(range) }
        }
        downs = found.mapValues(Self.merged)
    }

    /// Returns the times that one process was told of. It isn't told of the end of its own broker.
    private static func downs(_ log: ProcessLog, _ ends: [Record]) -> [(Pair, ClosedRange<UInt64>)] {
        var downs: [(Pair, ClosedRange<UInt64>)] = []
        var lost: [UInt8: UInt64] = [:]
        var session: UInt64?
        for record in log.records {
            switch record.event {
            case .session, .ready: session = record.time
            case .nodeLost: lost[record.kind] = record.time
            case .nodeBack:
                let end = ends.last { $0.code == log.node && $0.time <= record.time }?.time
                let from = lost.removeValue(forKey: record.kind) ?? max(session ?? 0, end ?? 0)
                downs.append((Pair(log.node, record.kind), min(from, record.time)...record.time))
            default: break
            }
        }
        for (node, time) in lost { downs.append((Pair(log.node, node), time...time)) }
        return downs
    }

    private static func merged(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
        var merged: [ClosedRange<UInt64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Returns the time since which two nodes are connected; nil if they are not.
    func connected(_ one: UInt8, _ other: UInt8, at time: UInt64) -> UInt64? {
        let all = downs[Pair(one, other)] ?? []
        if all.contains(where: { $0.contains(time) }) { return nil }
        return all.last { $0.upperBound < time }?.upperBound ?? 0
    }

    /// Whether the broker of one of two nodes died in between, and with it the count of the broadcasts
    /// that passed between them.
    func forgot(_ one: UInt8, _ other: UInt8, from: UInt64, to: UInt64) -> Bool {
        deaths.contains { ($0.node == one || $0.node == other) && from <= $0.time && $0.time <= to }
    }

    /// Whether two nodes were not connected at some time in between.
    func wereParted(_ one: UInt8, _ other: UInt8, from: UInt64, to: UInt64) -> Bool {
        from <= to && (downs[Pair(one, other)] ?? []).contains { $0.overlaps(from...to) }
    }
}
