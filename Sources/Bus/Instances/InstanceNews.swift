/// What a batch of ended instances means for other nodes.
struct InstanceNews {
    private var byNode: [(node: NodeRecord, released: [UInt64], ended: [UInt64])] = []

    /// Notes that an owner there is to be told of the end of an instance.
    mutating func released(_ number: UInt64, of owner: RemotePeer) {
        if let place = place(of: owner) { byNode[place].released.append(number) }
    }

    /// Notes that a creator there is to be told of the end of an instance, by its node's number.
    mutating func ended(_ number: UInt64, of creator: RemotePeer) {
        if let place = place(of: creator) { byNode[place].ended.append(number) }
    }

    private mutating func place(of peer: RemotePeer) -> Int? {
        guard peer.isOpen else { return nil }
        if let place = byNode.firstIndex(where: { $0.node === peer.remoteNode }) { return place }
        byNode.append((peer.remoteNode, [], []))
        return byNode.count - 1
    }

    /// The frames' bodies.
    var bodies: [(NodeRecord, [UInt8])] {
        byNode.map { ($0.node, NodeFrame.body(released: $0.released, ended: $0.ended)) }
    }
}
