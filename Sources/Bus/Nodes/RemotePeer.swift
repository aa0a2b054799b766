import StrataCore

/// A row of another node, that node's operators, or its broker, as a peer of this bus: it makes
/// requests here, and serves requests from here. It has no connection; its node's carries its frames.
final class RemotePeer: Peer {
    let remoteNode: NodeRecord
    /// The connection that carries its frames: kept here, because `carrier` doesn't retain it.
    private let nodeConnection: Peer
    /// The position in the connection's queue before which everything may have reached its broker;
    /// set when it ends.
    private var reached = UInt64.max

    /// - Parameter number: a number that no connection has.
    init(_ node: NodeRecord, number: UInt64, over connection: Peer, _ pool: OutboxPool) {
        remoteNode = node
        nodeConnection = connection
        super.init(number: number, credentials: connection.credentials, outbox: Outbox(pool: pool))
        belongs(to: node.name, over: connection)
    }

    /// Whether its module is ready, as its broker says.
    var isReady: Bool { module.map { remoteNode.ready.contains($0.name) } ?? false }

    /// Whether its node has the same row, so that messages for it go there.
    var isRouted: Bool { module.map { remoteNode.mismatched[$0.name] == nil } ?? true }

    /// Whether a request may have reached its broker before the node was lost.
    /// - Parameter end: the position behind the request in the connection's queue.
    func mayHaveGot(_ end: UInt64) -> Bool { end <= reached }

    /// Ends it.
    /// - Parameter reached: the position in the connection's queue before which everything may have
    ///   reached its broker.
    func ends(reached: UInt64) {
        self.reached = reached
        take(.closed)
        module?.remove(remote: self)
    }
}
