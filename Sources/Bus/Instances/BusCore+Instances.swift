import StrataCore

/// `bus/create` and `bus/release`, and which session serves an instance.
extension BusCore {
    /// Handles `create {"interface"}`, which is answered when the interface's owner is ready.
    func create(_ asked: BusCall) throws(BusError) {
        let peer = asked.peer
        let name = Name.withoutRouterSuffix(try asked.params().required("interface"))
        // An instance keeps the provider's name.
        guard let interface = routes.interface(name) ?? adapted(name) else { throw unknownInterface(name) }
        let owner = interface.owner
        var facts = LiveFacts(
            core: self, kind: .call, peer: peer, owner: owner, interface: interface, required: name)
        try facts.check(.existence ... .owner)
        if owner.isReady { return writeReply(peer, id: asked.id, try newInstance(interface, for: peer)) }
        let call = try open(asked)
        facts.startStep = startStep(asked.header.pointee, of: peer)
        do throws(BusError) {
            try facts.check(.start ... .start)
            try wait(.creation(CallReference(call), interface), for: owner)
        } catch {
            fail(call, error)
        }
    }

    /// Continues a `create` whose interface's owner is ready, or known not to become ready.
    func ownerSettled(_ isReady: Bool, _ call: CallPointer, _ interface: InterfaceRecord) {
        guard let peer = call.pointee.caller?.takeUnretainedValue() else { return }
        do throws(BusError) {
            guard isReady, peer.isOpen else { throw unavailable(interface.owner) }
            answer(call, try newInstance(present(interface), for: peer).encoded(), "the instance was created")
        } catch {
            fail(call, error)
        }
    }

    private func newInstance(_ interface: InterfaceRecord, for peer: Peer) throws(BusError) -> JSON {
        guard let owner = interface.owner.peer else { throw unavailable(interface.owner) }
        try LiveFacts(core: self, kind: .call, peer: peer, owner: interface.owner, interface: interface)
            .check(.actions ... .actions)
        // The name that the caller uses in its requests.
        let name = Name.said(interface.name)
        guard interface.instances == .multiple else { return ["instance": .string(name)] }
        try require(
            peer.instances.created < table.limits.instances, .overloaded,
            "\(peer.displayName) has \(table.limits.instances) instances (limits.instances): release some")
        try require(
            owner.instances.openReleases < table.limits.calls, .overloaded,
            "\(owner.displayName) has not answered module/released \(owner.instances.openReleases) times (limits.calls): try later"
        )
        peer.instances.addCreated(1)
        let number = instances.add(interface, creator: peer, owner: owner)
        return ["instance": .string("\(name)#\(number)")]
    }

    /// Handles `release {"instance"}`.
    func releaseInstance(_ call: BusCall) throws(BusError) -> JSON {
        let text = try call.params().required("instance")
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let name = Name.withoutRouterSuffix(String(parts[0]))
        // An interface with a single instance has nothing to release.
        if parts.count == 1, let interface = routes.interface(name), interface.instances == .single {
            return .object([])
        }
        let number = parts.count == 2 ? Array(parts[1].utf8).withUnsafeBytes { Name.instanceNumber($0) } : nil
        guard let number, let instance = instances.find(number), instance.creator === call.peer,
            instance.interface.name == name
        else {
            throw BusError(.unknownInstance, "\(call.module.name) has created no instance \(text), or it has ended")
        }
        instances.remove(number)
        tellReleased(number, instance, depth: call.depth)
        return .object([])
    }

    /// Ends the instances that a peer created, and those of its interfaces, when its session has
    /// ended.
    func endInstances(of peer: Peer) {
        instances.removeOwned(by: peer)
        for (number, instance) in instances.removeCreated(by: peer) { tellReleased(number, instance, depth: 1) }
    }

    private func tellReleased(_ number: UInt64, _ instance: InstanceTable.Instance, depth: UInt32) {
        let body: JSON = ["instance": .string("\(instance.interface.name)#\(number)")]
        let owner = instance.owner
        owner.instances.addReleases(1)
        callOwn(
            owner, to: "module/released", body: body.encoded(), depth: depth, deadline: table.startup,
            mustFit: true, .release)
    }

    /// Handles the owner's answer to `module/released`, or its failure.
    func releaseAnswered(_ owner: Peer, _ answer: OwnAnswer) {
        owner.instances.addReleases(-1)
        // An owner that couldn't be notified would keep an instance that no peer uses: it has
        // fallen behind.
        if case .failure(let error) = answer, error.code == .overloaded, error.ran == .no, owner.isOpen {
            statistics.slowConsumers += 1
            end(owner, .slowConsumer, error.message)
        }
    }

    /// Returns the session that serves a call: the one in which the instance was created. It may be
    /// an earlier one than the session that serves the module now.
    func callee(_ interface: InterfaceRecord, _ number: UInt64?, _ owner: Peer) -> Peer {
        guard interface.instances == .multiple, let number, let instance = instances.find(number) else { return owner }
        return instance.owner
    }

    /// Returns the number in `Interface#NUMBER/action`: nil if there is none, 0 if it isn't a
    /// number.
    static func instanceNumber(_ to: UnsafeRawBufferPointer) -> UInt64? {
        guard let digits = Destination(to)?.instance else { return nil }
        return Name.instanceNumber(UnsafeRawBufferPointer(rebasing: to[digits])) ?? 0
    }
}
