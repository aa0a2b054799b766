import StrataCore

/// `bus/create` and `bus/release`, and which session serves an instance.
///
/// A `create` waits until the interface's owner is ready, and then until the owner has answered
/// `module/create`. Meanwhile its instance is pending in the table. The answer decides:
///
///     waiting --ready--> asked, or refused
///     waiting --deadline, cancel, the creator's end, the owner's failure--> void
///     asked --reply, unknown-action--> created
///     asked --error with ran no or yes--> void
///     asked --error with ran maybe: deadline, cancel, the creator's or the owner's end--> void, released
///
/// Every other pair is impossible: the owner's call is a child of the request, so neither outlives
/// the other.
extension BusCore {
    /// Handles `create {"interface", "params"?}`.
    func create(_ asked: BusCall) throws(BusError) {
        let peer = asked.peer
        let name = Name.withoutRouterSuffix(try asked.params().required("interface"))
        // An instance keeps the provider's name.
        guard let interface = routes.interface(name) ?? adapted(name) else { throw unknownInterface(name) }
        let owner = interface.owner
        var facts = LiveFacts(
            core: self, kind: .call, peer: peer, owner: owner, interface: interface, required: name)
        try facts.check(.existence ... .owner)
        var copy = HeldRequest.Copy()
        copy.trace = Array(asked.header.pointee.trace)
        copy.body = Self.written("params", in: asked.body)
        copy.foreignInstance = try foreignNumber(asked)
        if isElsewhere(owner) { try checkCreator(peer, ofAway: owner) }
        if let receiver = receiver(of: owner, interface, key: .none) {
            guard let session = try ownerOfNew(interface, receiver, for: peer) else {
                return writeReply(peer, id: asked.id, ["instance": .string(Name.said(interface.name))])
            }
            return ask(session, interface, copy, try open(asked))
        }
        let call = try open(asked)
        facts.startStep = startStep(asked.header.pointee, of: peer)
        do throws(BusError) {
            try facts.check(.start ... .start)
            if mayAskAway(owner) { return try askAway(interface, copy, call) }
            let held = HeldRequest(copy, interface)
            try checkRoom(for: held, of: peer)
            try wait(.creation(CallReference(call), interface), for: owner)
            if isElsewhere(owner) { nodes.mayHoldRequests = true }
            keep(held, for: call, of: peer)
        } catch {
            fail(call, error)
        }
    }

    /// Continues a `create` whose interface's owner is ready, or known not to become ready.
    func ownerSettled(_ isReady: Bool, _ call: CallPointer, _ interface: InterfaceRecord) {
        guard let peer = call.pointee.caller?.takeUnretainedValue() else { return }
        do throws(BusError) {
            guard isReady, peer.isOpen else { throw unavailable(interface.owner) }
            let interface = present(interface)
            // A build that knew no params kept nothing.
            let copy = call.pointee.held == nil ? HeldRequest.Copy() : unhold(call).copy
            if isElsewhere(interface.owner) { return try askAway(interface, copy, call) }
            let owner = interface.owner
            // Another session of the owner may catch up, and it is this request's turn.
            guard let receiver = owner.peer ?? receiver(of: owner, interface, key: .none) else {
                throw unavailable(owner)
            }
            if let session = try ownerOfNew(interface, receiver, for: peer) {
                ask(session, interface, copy, call)
            } else {
                created(call, Name.said(interface.name))
            }
        } catch {
            fail(call, error)
        }
    }

    /// Returns the session that has to consent to a new instance; nil if the interface has only one
    /// instance.
    private func ownerOfNew(
        _ interface: InterfaceRecord, _ owner: Peer, for peer: Peer
    ) throws(BusError) -> Peer? {
        try LiveFacts(core: self, kind: .call, peer: peer, owner: interface.owner, interface: interface)
            .check(.actions ... .actions)
        guard interface.instances == .multiple else { return nil }
        try checkInstances(of: peer, and: owner)
        return owner
    }

    /// Checks that a creator may have another instance of an owner.
    func checkInstances(of creator: Peer, and owner: Peer) throws(BusError) {
        try require(
            creator.instances.created < table.limits.instances, .overloaded,
            "\(creator.displayName) has \(table.limits.instances) instances (limits.instances): release some")
        for one in [owner, creator] {
            try require(
                one.instances.openReleases < table.limits.calls, .overloaded,
                "\(one.displayName) has not answered module/released and module/instanceEnded "
                    + "\(one.instances.openReleases) times (limits.calls): try later")
        }
    }

    /// Asks an owner for its consent to a new instance.
    private func ask(_ owner: Peer, _ interface: InterfaceRecord, _ copy: HeldRequest.Copy, _ call: CallPointer) {
        guard let creator = call.pointee.caller?.takeUnretainedValue() else { return }
        let foreign = copy.foreignInstance
        let number = instances.add(interface, foreign: foreign, creator: creator, owner: owner)
        if foreign > 0 { (creator as? RemotePeer)?.remoteNode.instances[foreign] = number }
        var body = Array(#"{"instance":"\#(interface.name)#\#(number)","params":"#.utf8)
        body += copy.body.isEmpty ? Array("null".utf8) : copy.body
        body.append(UInt8(ascii: "}"))
        var meta: [JSON.Member] = [
            .init("from", .string(creator.from.text)), .init("level", .string(levels.names[creator.rank])),
        ]
        if !creator.node.isEmpty { meta.append(.init("node", .string(creator.node.text))) }
        callOwn(
            owner, to: "module/create", body: body, trace: copy.trace, meta: JSON.object(meta).encoded(), for: call,
            deadline: remaining(call), mustFit: true, .creation(CallReference(call), instance: number))
    }

    /// Handles the owner's answer to `module/create`, or the end of the question.
    func creationAnswered(_ asking: CallReference, _ number: UInt64, _ owner: Peer, _ answer: OwnAnswer) {
        guard let instance = instances.pending(number) else { return }
        switch answer {
        case .failure(let error) where error.code != .unknownAction || owner.isRemote:
            forget(number)
            // Nobody knows whether the owner has made it.
            if error.ran == .maybe, owner.isOpen {
                tellReleased(number, instance, depth: asking.isOpen ? asking.call.pointee.depth : 1)
            }
            if asking.isOpen { refused(asking.call, error, by: owner) }
        case .success, .failure:
            guard instance.creator.isOpen else {
                // The creator's session has ended, and its request ends in a batch that has not
                // come yet.
                forget(number)
                return tellReleased(number, instance, depth: asking.isOpen ? asking.call.pointee.depth : 1)
            }
            if owner.isRemote, case .success(let body) = answer {
                return consented(body, number, instance.interface, asking.call)
            }
            instances.confirm(number)
            created(asking.call, "\(Name.said(instance.interface.name))#\(number)")
        }
    }

    func created(_ call: CallPointer, _ name: String) {
        let reply: JSON = ["instance": .string(name)]
        answer(call, reply.encoded(), "the instance was created")
    }

    private func refused(_ call: CallPointer, _ error: BusError, by owner: Peer) {
        noteFailure(of: call, error, in: owner)
        if let creator = call.pointee.caller?.takeUnretainedValue(), !error.body.isEmpty,
            !fits(error.body.count + HeaderWriter.overhead, creator)
        {
            let count = error.body.count + HeaderWriter.overhead
            return fail(
                call, .overloaded,
                "the refusal did not fit into the queue to \(creator.displayName): \(whatIsFull(count, creator))",
                ran: .yes)
        }
        fail(call, error)
    }

    /// Returns the open question to the owner that a `create` waits for; nil if there is none.
    func creation(of call: CallPointer) -> CallPointer? {
        guard call.pointee.kind == .served, let child = call.pointee.firstChild, child.pointee.kind == .own,
            case .creation = calls.purpose(of: child)
        else { return nil }
        return child
    }

    /// Returns a member of an object, which was read already, as it was written; empty if there is
    /// none.
    private static func written(_ name: String, in body: UnsafeRawBufferPointer) -> [UInt8] {
        var tape = JSONTape()
        guard (try? tape.scan(body, maximumDepth: 64)) != nil else { return [] }
        let members = tape.members(of: 0)
        guard let place = members.firstIndex(where: { tape.string($0) == name }) else { return [] }
        let next = place + 1 < members.count ? members[place + 1] : nil
        return Array(MemberRenaming.value(of: members[place], before: next, in: tape))
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
        forget(number)
        tellReleased(number, instance, depth: call.depth)
        return .object([])
    }

    /// Ends the instances that a peer created, and those of its interfaces, when its session has
    /// ended.
    func endInstances(of peer: Peer) {
        let created = instances.endCreated(by: peer)
        work.add(created.map { EndedInstances(group: $0, told: told($0.owner), isOwner: true) })
        if let remote = peer as? RemotePeer, !created.isEmpty {
            remote.remoteNode.instances = remote.remoteNode.instances.filter { instances.isThere($0.value) }
        }
        endOwned(by: peer)
    }

    /// Ends the instances of a peer's interfaces.
    func endOwned(by peer: Peer) {
        // At the app's end no creator needs to know.
        let isTold = stage == .running
        let owned = instances.endOwned(by: peer)
        work.add(owned.map { EndedInstances(group: $0, told: isTold ? told($0.creator) : .nobody, isOwner: false) })
        advanceEndedInstances()
    }

    private func told(_ peer: Peer) -> EndedInstances.Told {
        (peer as? RemotePeer).map { .remote($0) } ?? .session(peer.number)
    }

    /// The instances in a batch: while a light peer is connected some twenty microseconds of work,
    /// otherwise a millisecond.
    static let (sharedInstances, instancesInBatch) = (12, 1_000)

    /// Takes out the next instances that have ended with a session, and notifies the other peer.
    func advanceEndedInstances() {
        // At the app's end there may be no further round.
        var left = stage != .running ? .max : isShared ? Self.sharedInstances : Self.instancesInBatch
        var toNodes = InstanceNews()
        while left > 0, let (number, ended) = work.takeEndedInstance() {
            left -= 1
            guard let instance = instances.takeOut(number) else { continue }
            switch ended.told {
            case .nobody: break
            case .remote(let peer):
                if ended.isOwner {
                    toNodes.released(number, of: peer)
                } else {
                    forget(number, instance.foreign, of: peer.remoteNode)
                    toNodes.ended(instance.foreign, of: peer)
                }
            case .session(let number):
                guard let told = connections[number], told.isOpen else { continue }
                let name = instance.interface.name
                let body: JSON = ["instance": .string("\(ended.isOwner ? name : Name.said(name))#\(instance.number)")]
                callEnd(ended.isOwner ? "module/released" : "module/instanceEnded", of: body, told, depth: 1)
            }
        }
        for (node, body) in toNodes.bodies { tell(node, body) }
    }

    /// Does the same for all that are left.
    func finishEndedInstances() {
        while work.hasEndedInstances { advanceEndedInstances() }
    }

    /// Notifies a peer that an instance has ended, at the bound of what it leaves unanswered.
    func callEnd(_ to: String, of body: JSON, _ peer: Peer, depth: UInt32) {
        peer.instances.addReleases(1)
        callOwn(
            peer, to: to, body: body.encoded(), depth: depth, deadline: table.startup, mustFit: true, .release)
    }

    func tellReleased(_ number: UInt64, _ instance: InstanceTable.Instance, depth: UInt32) {
        if let owner = instance.owner as? RemotePeer {
            return tell(owner.remoteNode, NodeFrame.body(released: [number]))
        }
        let body: JSON = ["instance": .string("\(instance.interface.name)#\(number)")]
        callEnd("module/released", of: body, instance.owner, depth: depth)
    }

    /// Handles the answer to `module/released` or `module/instanceEnded`, or its failure.
    func releaseAnswered(_ owner: Peer, _ answer: OwnAnswer) {
        owner.instances.addReleases(-1)
        // A peer that couldn't be notified would keep an instance that has ended: it has fallen
        // behind.
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
