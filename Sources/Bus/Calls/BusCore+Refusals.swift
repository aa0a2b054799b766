import StrataCore

/// What is against a request: the judge decides it, from what the bus knows.
extension BusCore {
    /// Asks some of the checks on a routed call.
    @inline(never)
    func check(
        _ route: RouteTable.Route, _ header: borrowing Header, from peer: Peer, _ checks: ClosedRange<Check>
    ) throws(BusError) {
        let refusal = route.action.withUnsafeBytes { action in
            LiveFacts(
                core: self, kind: .call, peer: peer, owner: route.owner, interface: route.interface, name: action,
                required: route.required, instance: route.instance,
                skipsAuthorization: header.members.contains(.auth)
            ).error(checks)
        }
        if let refusal { throw refusal }
    }

    /// What is known of a request that waits, or has waited.
    func facts(of request: Request, _ owner: ModuleRecord, from peer: Peer) -> LiveFacts {
        LiveFacts(
            core: self, kind: request.kind, peer: peer, owner: owner, interface: request.interface,
            name: request.kind == .report ? request.name : request.action,
            instance: Self.instanceNumber(request.to), skipsAuthorization: request.skipsAuthorization)
    }

    func unknownInterface(_ name: String) -> BusError {
        let known = routes.interfaceNames(around: name, most: 1_024) + adapters.names
        let hint = didYouMean(name, known, else: "strata routes lists those there are")
        return BusError(.unknownInterface, "no row and no live module provides \(name): \(hint)")
    }

    /// The interface that adapters lead to from a required name.
    func adapted(_ required: String) -> InterfaceRecord? {
        adapters.target(required, "", isProvided: { routes.interface($0) != nil }).flatMap {
            routes.interface($0.interface)
        }
    }

    /// The step of its sender's start that a request is made for.
    func startStep(_ header: borrowing Header, of peer: Peer) -> StartStep? {
        guard header.members.contains(.parent), let parent = openParent(header, of: peer),
            parent.pointee.isLifecycle, let module = peer.module
        else { return nil }
        switch module.successor.flatMap({ $0.peer === peer ? $0.step : nil }) ?? module.life.step {
        case .settingUp: return .setUp
        case .initializing: return .initialize
        case .none, .joined, .setUp, .initialized, .started: return nil
        }
    }
}
