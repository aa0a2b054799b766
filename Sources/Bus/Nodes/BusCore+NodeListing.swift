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
            .present([
                "name": .string(node.name), "own": false, "state": .string(node.life.word),
                "operates": .bool(mayOperate(node.name)), "since": node.since == 0 ? .null : JSON(node.since / 1_000),
                "reason": node.reason.json, "open": JSON(node.peers.reduce(0) { $0 + $1.servedCount }),
                "queued": JSON(node.connection?.outbox.pending ?? 0),
                "rowsThatDiffer": node.mismatched.isEmpty
                    ? JSON?.none : JSON(node.mismatched.sorted { $0.key < $1.key }.map(\.value)),
            ])
        }
        return ["nodes": .array(table.nodes.isEmpty ? [] : [own] + others)]
    }
}
