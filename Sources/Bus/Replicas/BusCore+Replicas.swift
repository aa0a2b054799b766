import StrataCore

/// Rows with replicas: which replica gets a request, and the requests that wait for any of them.
///
/// A request that no replica can take waits at the record that stands for them. So does one with a key, or for an
/// instance, while others wait there, so that it doesn't overtake those.
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
        return replica(of: owner, interface, key: key)?.peer
    }

    /// Chooses the replica that gets a request.
    private func replica(of group: ModuleRecord, _ interface: InterfaceRecord?, key: Header.Text) -> ModuleRecord? {
        let choice = group.replicas?.choose(for: key) { member in
            // What the row provides, each session has brought.
            guard let interface, !interface.isDeclared else { return true }
            return member.session.has(interface)
        }
        guard case .replica(let member) = choice else { return nil }
        return member
    }

    /// Handles a call of `Interface~NUMBER/action`, which is for one replica. It doesn't wait for that one.
    /// - Returns: false if the call names no replica.
    func callNamedReplica(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) -> Bool {
        guard let slash = header.to.firstIndex(of: UInt8(ascii: "/")),
            let named = ReplicaName(UnsafeRawBufferPointer(rebasing: header.to[..<slash]).text)
        else { return false }
        let name = Name.withoutRouterSuffix(named.row)
        guard let interface = routes.interface(name) else { throw unknownInterface(name) }
        let owner = interface.owner
        guard let member = owner.members.first(where: { $0.row?.replica?.number == named.number }) else {
            throw BusError(
                .unavailable,
                owner.replicas == nil
                    ? "\(named) names a replica, and \(owner.name) has none: call \(interface.name)"
                    : "\(owner.name) has \(owner.members.count) replicas, and none with the number \(named.number)")
        }
        let to = interface.nameBytes + header.to[slash...]
        try to.withBytes { to throws(BusError) in
            guard case .route(let route) = routes.resolve(to, adapters) else {
                throw BusError(.unknownInterface, "\"\(header.to.text)\" names no action: write \(named)/action")
            }
            try check(route, header, from: peer, .existence ... .declaration)
            guard let callee = member.receiver else { throw unavailable(member) }
            let request = Request(
                to: to, interface: interface, trace: header.trace, meta: header.meta,
                body: body, skipsAuthorization: header.members.contains(.auth))
            _ = try sendToReplica(request, route, header, from: peer, named: callee)
        }
        return true
    }

    /// Frees what belongs to a replica whose session has ended, or that takes no further requests.
    func leaveReplicas(_ module: ModuleRecord) {
        guard let number = module.row?.replica?.number else { return }
        module.group?.replicas?.sessionEnded(number)
    }

    /// Begins to send on what waits for a row's replicas, because one of them takes requests now.
    func releaseWaiting(forReplica module: ModuleRecord) {
        guard let group = module.group, group.hasWaiters, group.catchingUp == .no else { return }
        group.take(.requests)
        catchUpReplicas(group)
    }

    /// Sends on the next batch of what waits for a row's replicas.
    func catchUpReplicas(_ group: ModuleRecord) {
        var left = isShared ? FanOut.sharedBatch : FanOut.batch
        while group.hasWaiters {
            guard left > 0 else { return work.add(catchingUp: group) }
            left -= Self.waitingRequestCost
            if group.waiting.isEmpty {
                guard group.members.contains(where: { $0.receiver != nil }) else { break }
                if let waiter = group.takeReadyWaiter() { settle(waiter, isReady: true) }
                continue
            }
            let call = group.waiting[0]
            guard let held = call.pointee.held?.takeUnretainedValue(),
                let member = held.copy.key.withUnsafeBytes({ replica(of: group, held.interface, key: $0) }),
                let callee = member.peer, hasRoom(forWaiting: call, of: callee)
            else { break }
            releaseFirst(of: group, to: callee)
        }
        // A replica that gets ready, or whose queue has room again, continues.
        group.take(.no)
    }

    /// Ends what waits for a row's replicas, if none of them can be waited for.
    func failWaiting(forReplica module: ModuleRecord) {
        guard let group = module.group, group.hasWaiters, !canBeWaitedFor(group) else { return }
        failWaiting(group, unavailable(group))
    }
}
