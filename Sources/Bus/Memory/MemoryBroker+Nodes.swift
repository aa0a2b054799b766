import StrataCore

/// What the bus knows of other nodes.
extension MemoryBroker {
    /// Another node, as the bus sees it.
    package struct SeenNode {
        package let state: String
        package let reason: String
        /// Its rows that are ready, sorted.
        package let ready: [String]
        /// The names and patterns that it observes, each with the latest rank of an observer.
        package let observed: [String: Int]
        /// The number of this node's requests that are open there.
        package let open: Int
        /// The number of bytes that wait for it.
        package let queued: Int
    }

    /// Returns what the bus knows of another node; nil if the app has none of that name.
    package func seen(_ node: String) -> SeenNode? {
        bus.nodes.find(node).map { node in
            SeenNode(
                state: node.life.word, reason: node.reason, ready: node.ready.sorted(),
                observed: Dictionary(
                    node.sent.observed.map { (Request.Bytes.text($0.key.text), $0.value) }, uniquingKeysWith: max),
                open: node.peers.reduce(0) { $0 + $1.servedCount }, queued: node.connection?.outbox.pending ?? 0)
        }
    }

    /// Whether the bus sees another node as up.
    package func isUp(_ node: String) -> Bool { bus.nodes.find(node)?.life == .up }

    /// Whether a row has a module here that is ready.
    package func isReady(_ row: String) -> Bool { bus.modules.find(row).map { $0.isReady && $0.peer != nil } ?? false }
}
