import StrataCore

/// `bus/nodes`.
extension BusCore {
    /// Describes the app's nodes, this one first.
    func nodesAnswer(_: BusCall) -> JSON {
        let own: JSON = .present([
            "name": table.node.map { .string($0) }, "own": true, "state": "up",
            "operates": .bool(mayOperate(table.node ?? "")),
        ])
        let others = nodes.nodes.map { node -> JSON in
            let (state, view) = (state(of: node), node.view)
            return .present([
                "name": .string(node.name), "own": false, "state": .string(state.word),
                "operates": .bool(mayOperate(node.name)),
                "since": state.since == 0 ? .null : .integer(state.since),
                "reason": state.why.json,
                "rttMicroseconds": view.map(\.roundTrip).flatMap { $0 > 0 ? $0 : nil }?.json,
                "unackedBytes": view?.unacknowledged.json, "resentBytes": view?.resent.json, "gaps": view?.gaps.json,
                "sessions": view?.sessions.json, "open": JSON(node.peers.reduce(0) { $0 + $1.servedCount }),
                "queued": JSON(node.connection?.outbox.pending ?? 0),
                "rowsThatDiffer": node.mismatched.isEmpty
                    ? JSON?.none : JSON(node.mismatched.sorted { $0.key < $1.key }.map(\.value)),
            ])
        }
        return ["nodes": .array(table.nodes.isEmpty ? [] : [own] + others)]
    }
}

extension Int64 {
    fileprivate var json: JSON { .integer(self) }
}
