public import StrataCore

/// What a broker has counted since its start, as `bus/stats` tells it.
public struct BusStats: Sendable {
    /// Something that is counted.
    public enum Counter: String, CaseIterable, Sendable {
        case calls, opens, replies, errors, broadcasts, notices, reports, violations, dropped, slowConsumers
        case badFrames, replaced
    }

    /// How long calls took, in microseconds: 0 where none has been answered.
    public struct CallTimes: Sendable {
        /// How many were answered.
        public let count: Int64
        /// What half of them took at most; then nine tenths, 99 of a hundred, all.
        public let p50, p90, p99, max: Int64
    }

    /// As the bus told it.
    public let json: JSON

    init(_ json: JSON) { self.json = json }

    /// Nil where the broker doesn't count it.
    public subscript(_ counter: Counter) -> Int64? { json["counters"]?[counter.rawValue]?.integer }

    /// Errors that requests or connections were answered with, by code.
    public var errors: [(code: String, count: Int64)] {
        (json["errors"]?.object ?? []).compactMap { member in member.value.integer.map { (member.name, $0) } }
    }

    /// Of all calls since the broker's start.
    public var callTimes: CallTimes {
        func figure(_ name: String) -> Int64 { json["callMicroseconds"]?[name]?.integer ?? 0 }
        return CallTimes(
            count: figure("count"), p50: figure("p50"), p90: figure("p90"), p99: figure("p99"), max: figure("max"))
    }

    /// The broker's process; nil where it doesn't say.
    public var pid: Int32? { json["pid"]?.integer.flatMap { $0 > 0 ? Int32(clamping: $0) : nil } }
}
