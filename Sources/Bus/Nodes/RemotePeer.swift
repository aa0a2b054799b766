import StrataCore

/// A row of another node, or that node's operators, as a peer of this bus: it makes requests here,
/// and serves requests from here. It has no connection; its node's carries its frames.
final class RemotePeer: Peer {
    unowned let remoteNode: NodeRecord  // because a node ends its peers

    init(_ node: NodeRecord, over connection: Peer, _ pool: OutboxPool) {
        remoteNode = node
        super.init(number: 0, credentials: connection.credentials, outbox: Outbox(pool: pool))
        belongs(to: node.name, over: connection)
    }

    /// Whether its module is ready, as its broker says.
    var isReady: Bool { module.map { remoteNode.ready.contains($0.name) } ?? false }

    /// Whether a request may have reached its broker before the node was lost.
    /// - Parameter end: the position behind the request in the connection's queue.
    func mayHaveGot(_ end: UInt64) -> Bool { remoteNode.mayHaveGot(end) }
}
