import StrataCore

/// Rows with replicas: which replica gets a request, and the requests that wait for any of them.
///
/// A request that no replica can take waits at their group. So does one with a key, or for an instance, while
/// others wait there, so that it doesn't overtake those.
extension BusCore {
    /// Returns the session that a request goes to now; nil if it waits, or can't be served.
    /// - Parameters:
    ///   - interface: what is called; nil for a report.
    ///   - key: the request's key; empty if it has none.
    func receiver(
        of owner: ModuleRecord, _ interface: InterfaceRecord?, key: Header.Text, instance: UInt64? = nil
    ) -> Peer? {
        guard owner.replicas != nil else { return owner.receiver }
        guard owner.waiting.isEmpty || key.isEmpty && instance == nil else { return nil }
        return replica(of: owner, interface, key: key, instance: instance)
    }

    /// Chooses the replica that gets a request; nil if none takes it now.
    private func replica(
        of group: ModuleRecord, _ interface: InterfaceRecord?, key: Header.Text, instance: UInt64?
    ) -> Peer? {
        if let session = instance.flatMap({ instances.find($0) })?.owner, let module = session.module {
            // A session that another one has replaced finishes what it has, its instances among that.
            return module.peer === session ? module.receiver : session
        }
        let interface = interface.map(present)
        return group.replicas?.choose(for: key) { member in interface.map(member.session.has) ?? true }?.receiver
    }

    /// Handles a call of `Interface~NUMBER/action`, which is for one replica. It doesn't wait for that one.
    /// - Returns: false if the call names no replica.
    func callNamedReplica(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) -> Bool {
        guard let (named, slash) = Self.replica(namedIn: header.to) else { return false }
        let name = Name.withoutRouterSuffix(named.row)
        guard let interface = routes.interface(name) else { throw unknownInterface(name) }
        let owner = interface.owner
        let to = interface.nameBytes + header.to[slash...]
        try to.withBytes { to throws(BusError) in
            guard case .route(let route) = routes.resolve(to, adapters) else {
                throw BusError(.unknownInterface, "\"\(header.to.text)\" names no action: write \(named)/action")
            }
            try check(route, header, from: peer, .existence ... .declaration)
            if isElsewhere(owner) {
                return try callAway(route, replica: named.number, header, body, from: peer)
            }
            let member = try member(named, of: interface)
            try checkDescriptors(of: route)
            guard let callee = member.receiver, member.session.has(interface) else { throw unavailable(member) }
            let request = Request(
                to: to, interface: interface, trace: header.trace, meta: header.meta,
                body: body, skipsAuthorization: header.members.contains(.auth), descriptors: turn.descriptors)
            _ = try sendToReplica(request, route, header, from: peer, named: callee)
        }
        return true
    }

    /// Sends a call of one replica to its row's node, which alone knows the replicas.
    private func callAway(
        _ route: RouteTable.Route, replica: Int, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        from peer: Peer
    ) throws(BusError) {
        guard let node = nodes(of: route.owner).first.flatMap(nodes.find) else { throw unreachable(route.owner) }
        let to = Array("\(ReplicaName(row: route.interface.name, number: replica))/".utf8) + route.action
        try to.withBytes { to throws(BusError) in
            try sendPlain(route, to: to, on: node, header, body, from: peer)
        }
    }

    private func member(_ name: ReplicaName, of interface: InterfaceRecord) throws(BusError) -> ModuleRecord {
        let owner = interface.owner
        if let found = owner.members.first(where: { $0.row?.replica?.number == name.number }) { return found }
        throw BusError(
            .unavailable,
            owner.replicas == nil
                ? "\(name) names a replica, and \(owner.name) has none: call \(interface.name)"
                : "\(owner.name) has \(owner.members.count) replicas, and none with the number \(name.number)")
    }

    /// Returns the interface and the number in `Interface~NUMBER/action`, and the place of the slash.
    static func replica(namedIn to: Header.Text) -> (name: ReplicaName, slash: Int)? {
        guard let slash = to.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return ReplicaName(UnsafeRawBufferPointer(rebasing: to[..<slash]).text).map { ($0, slash) }
    }

    /// Frees the keys of a replica whose session has ended, or that takes no further requests. Requests
    /// that waited for it because of their key may go to another one now.
    func leaveReplicas(_ module: ModuleRecord) {
        guard let group = module.group, let number = module.row?.replica?.number else { return }
        group.replicas?.sessionEnded(number)
        releaseWaiting(forReplicasOf: group)
    }

    /// Begins to send on what waits for a row's replicas, because one of them may take requests now.
    func releaseWaiting(forReplicasOf group: ModuleRecord) {
        guard group.hasWaiters else { return }
        guard group.replicas?.walk == nil else {
            group.replicas?.walk?.isToRepeat = true
            return
        }
        group.take(.requests)
        catchUpReplicas(group)
    }

    /// Sends on the next batch of what waits for a row's replicas. Requests that can't go yet are passed
    /// over, until a replica gets ready or has room again.
    func catchUpReplicas(_ group: ModuleRecord) {
        var left = isShared ? FanOut.sharedBatch : FanOut.batch
        repeat {
            if group.replicas?.walk?.isToRepeat != false { group.replicas?.walk = ReplicaGroup.Walk() }
            while let place = group.replicas?.walk?.place, place < group.waiting.count {
                guard left > 0 else { return work.add(catchingUp: group) }
                left -= releaseOne(place, of: group) ? Self.waitingRequestCost : 1
            }
            while !group.readyWaiters.isEmpty, group.members.contains(where: { $0.receiver != nil }) {
                guard left > 0 else { return work.add(catchingUp: group) }
                left -= Self.waitingRequestCost
                if let waiter = group.takeReadyWaiter() { settle(waiter, isReady: true) }
            }
        } while group.replicas?.walk?.isToRepeat == true
        group.replicas?.walk = nil
        group.take(.no)
    }

    /// Sends on a request that waits for a row's replicas, or passes it over.
    /// - Returns: whether it went.
    private func releaseOne(_ place: Int, of group: ModuleRecord) -> Bool {
        let call = group.waiting[place]
        if let held = call.pointee.held?.takeUnretainedValue() {
            // An instance's requests stay in order like those of a key.
            let isOfInstance = held.copy.to.withUnsafeBytes(Self.instanceNumber) != nil
            let key = isOfInstance ? Array(held.copy.to.prefix { $0 != UInt8(ascii: "/") }) : held.copy.key
            if group.replicas?.walk?.blocked.contains(key) != true, let callee = receiver(of: held, in: group),
                hasRoom(forWaiting: call, of: callee)
            {
                release(place, of: group, to: callee)
                return true
            }
            if !key.isEmpty { group.replicas?.walk?.blocked.insert(key) }
        }
        group.replicas?.walk?.place += 1
        return false
    }

    /// Returns the session that a waiting request goes to; nil if it waits on. If all replicas that may
    /// come are ready, and none brings the interface, the judge refuses the request at any of them.
    private func receiver(of held: HeldRequest, in group: ModuleRecord) -> Peer? {
        let found = held.copy.key.withUnsafeBytes { key in
            replica(
                of: group, held.interface, key: key, instance: held.copy.to.withUnsafeBytes(Self.instanceNumber))
        }
        if let found { return found }
        guard let interface = held.interface.map(present), !interface.isLive,
            group.members.allSatisfy({ $0.receiver != nil || !canBeWaitedFor($0) })
        else { return nil }
        return group.members.lazy.compactMap(\.receiver).first
    }

    /// Returns the error of a request that no replica can take.
    func noReplica(of group: ModuleRecord) -> BusError {
        let reasons = group.members.prefix(4).map { unavailable($0).message }
        let why = reasons.isEmpty ? "its row has none" : reasons.joined(separator: "; ")
        return BusError(.unavailable, "no replica of \(group.name) is there: \(why)")
    }

    /// Ends what waits for a row's replicas, if none of them can be waited for.
    func failWaiting(forReplica module: ModuleRecord) {
        guard let group = module.group, group.hasWaiters, !canBeWaitedFor(group) else { return }
        failWaiting(group, unavailable(group))
    }
}
