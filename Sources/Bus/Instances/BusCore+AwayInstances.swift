import StrataCore

/// Instances whose owner runs on another node than their creator.
///
/// The creator's bus passes the `create` on to the owner's, which asks the owner. Each of the two has the instance in its
/// table, with a number of its own: the creator's bus says its number with the `create`, and in each call. What ends an
/// instance on one side is told to the other in a `node` frame, in order with the calls.
extension BusCore {
    // MARK: On the creator's node

    /// Asks the bus of an owner's node for a new instance.
    func askAway(_ interface: InterfaceRecord, _ copy: HeldRequest.Copy, _ call: CallPointer) throws(BusError) {
        guard let creator = call.pointee.caller?.takeUnretainedValue() else { return }
        let owner = try bestRemote(of: interface.owner)
        try checkInstances(of: creator, and: owner)
        let number = instances.add(interface, creator: creator, owner: owner)
        var body = Array(#"{"interface":"\#(interface.name)","instance":\#(number),"params":"#.utf8)
        body += copy.body.isEmpty ? Array("null".utf8) : copy.body
        body.append(UInt8(ascii: "}"))
        callOwn(
            owner, to: "bus/create", body: body, trace: copy.trace, for: call, depth: call.pointee.depth,
            deadline: remaining(call), mustFit: true, .creation(CallReference(call), instance: number))
    }

    /// Checks that a peer may create instances of other nodes' interfaces.
    func checkCreator(_ peer: Peer, ofAway owner: ModuleRecord) throws(BusError) {
        try require(
            !peer.isRemote, .forbidden,
            "\(peer.displayName) asked for an instance of \(owner.name), which doesn't run on this node")
        try require(
            peer.module?.row != nil, .forbidden,
            "\(owner.name) runs on another node, which takes requests of rows: \(peer.displayName) is a guest")
    }

    /// Whether an owner runs on another node that can be asked at once.
    func mayAskAway(_ owner: ModuleRecord) -> Bool {
        isElsewhere(owner) && !owner.hasWaiters && owner.remotes.contains(where: \.isRouted)
    }

    /// Handles the answer of the owner's bus: `{"instance"}`, without a number if there is only one.
    func consented(_ body: [UInt8], _ number: UInt64, _ interface: InterfaceRecord, _ call: CallPointer) {
        let answer = body.withUnsafeBytes { try? MemberReader(body: $0, of: "the answer to bus/create") }
        if let name = try? answer?.string("instance"), !name.utf8.contains(UInt8(ascii: "#")) {
            forget(number)
            created(call, Name.said(interface.name))
        } else {
            instances.confirm(number)
            created(call, "\(Name.said(interface.name))#\(number)")
        }
    }

    /// Returns the peer that owns an instance which a request names.
    /// - Parameter node: the node that the request names; nil if it names none.
    func remoteOwner(
        of number: UInt64, on node: NodeRecord?, _ request: Request, from peer: Peer
    ) throws(BusError) -> RemotePeer {
        let name = "\(request.interface?.name ?? "")#\(number)"
        guard let instance = instances.find(number), instance.creator === peer,
            instance.interface === request.interface
        else {
            throw BusError(
                .unknownInstance, "\(peer.displayName) has created no instance \(name), or it has ended")
        }
        guard let owner = instance.owner as? RemotePeer, node == nil || node === owner.remoteNode else {
            throw BusError(
                .unknownInstance, "the instance \(name) isn't on the node \(node?.name ?? ""): leave the node out")
        }
        return owner
    }

    /// Ends instances that another node's bus says have ended.
    func ended(_ numbers: [UInt64], on node: NodeRecord) {
        for number in numbers {
            guard let instance = instances.find(number), (instance.owner as? RemotePeer)?.remoteNode === node else {
                continue
            }
            forget(number)
            let body: JSON = ["instance": .string("\(Name.said(instance.interface.name))#\(number)")]
            callEnd("module/instanceEnded", of: body, instance.creator, depth: 1)
        }
    }

    // MARK: On the owner's node

    /// Returns the number that a creator's node gives to a new instance; 0 for a creator of this node.
    func foreignNumber(_ asked: BusCall) throws(BusError) -> UInt64 {
        guard let peer = asked.peer as? RemotePeer else { return 0 }
        let number = try asked.params().integer("instance") ?? 0
        try require(
            number > 0 && peer.remoteNode.instances[UInt64(number)] == nil, .badParams,
            "bus/create of the node \(peer.remoteNode.name) needs a new \"instance\", its own number, and said \(number)"
        )
        return UInt64(number)
    }

    /// Calls `use` with a call's `to`, in which an instance has this node's number.
    func withOwnNumber(
        _ to: UnsafeRawBufferPointer, of sender: RemotePeer, _ use: (UnsafeRawBufferPointer) -> Void
    ) throws(BusError) {
        guard let digits = Destination(to)?.instance else { return use(to) }
        let foreign = Name.instanceNumber(UnsafeRawBufferPointer(rebasing: to[digits]))
        guard let number = foreign.flatMap({ sender.remoteNode.instances[$0] }) else {
            throw BusError(
                .unknownInstance, "\(sender.displayName) has created no instance \(to.text), or it has ended")
        }
        let own = Array(to[..<digits.lowerBound]) + Array("\(number)".utf8) + Array(to[digits.upperBound...])
        own.withUnsafeBytes(use)
    }

    /// Ends instances that their creators' bus has released.
    func released(_ numbers: [UInt64], by node: NodeRecord) {
        for foreign in numbers {
            guard let number = node.instances[foreign], let instance = instances.find(number) else { continue }
            forget(number)
            tellReleased(number, instance, depth: 1)
        }
    }

    // MARK: On both

    /// Removes an instance that has not ended with a session.
    func forget(_ number: UInt64) {
        guard let instance = instances.remove(number), instance.foreign > 0 else { return }
        if let creator = instance.creator as? RemotePeer { forget(number, instance.foreign, of: creator.remoteNode) }
    }

    /// Forgets the number that a node has given to an instance, unless a newer one has it by now.
    func forget(_ number: UInt64, _ foreign: UInt64, of node: NodeRecord) {
        if node.instances[foreign] == number { node.instances[foreign] = nil }
    }
}
