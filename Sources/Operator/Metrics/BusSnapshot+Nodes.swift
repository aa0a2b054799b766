internal import StrataCore

/// The metrics of the ways to other nodes.
extension BusSnapshot {
    var nodeFamilies: [MetricFamily] {
        [
            each("strata_node_up", .gauge, "Whether the node is up.") { MetricValue(Int64($0.isUp ? 1 : 0)) },
            each(
                "strata_node_rtt_seconds", .gauge, unit: "seconds",
                "The round trip between the links of this node and the other one, smoothed."
            ) { $0.roundTrip.map { MetricValue(microseconds: $0) } },
            each(
                "strata_node_unacked_bytes", .gauge, unit: "bytes",
                "Bytes that the link has sent, and that the other one isn't known to have."
            ) { $0.unacknowledged.map { MetricValue($0) } },
            each("strata_node_resent_bytes", .counter, unit: "bytes", "Bytes that the link has sent again.") {
                $0.resent.map { MetricValue($0) }
            },
            each("strata_node_gaps", .counter, "How often bytes were missing before what arrived.") {
                $0.gaps.map { MetricValue($0) }
            },
            each("strata_node_sessions", .counter, "Sessions with the node since the link's start.") {
                $0.sessions.map { MetricValue($0) }
            },
        ].filter { !$0.samples.isEmpty }
    }

    /// Returns a family with a sample for each other node that has the number.
    private func each(
        _ name: String, _ kind: MetricFamily.Kind, unit: String = "", _ help: String,
        _ value: (NodeRow) -> MetricValue?
    ) -> MetricFamily {
        var family = MetricFamily(name, kind, unit: unit, help)
        for node in nodes where !node.isOwn {
            if let value = value(node) { family.add(value, [("node", node.name)]) }
        }
        return family
    }
}
