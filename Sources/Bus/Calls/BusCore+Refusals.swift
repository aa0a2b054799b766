import StrataCore

/// What is said against a request: by the app's policy, by the order of the
/// start, by what its owner has.
extension BusCore {
    func unknownInterface(_ name: String) -> BusError {
        let near = nearestNames(to: name, in: routes.interfaceNames(around: name, most: 1_024) + adapters.names)
        let hint =
            near.isEmpty ? "strata routes lists those there are" : "did you mean \(near.joined(separator: " or "))?"
        return BusError(.unknownInterface, "no row and no live module provides \(name): \(hint)")
    }

    /// The checks on a waiting request's action, made when its owner is there.
    func lateRefusal(_ interface: InterfaceRecord, _ request: Request, from caller: Peer) -> BusError? {
        if let refusal = setAsideRefusal(interface, request.action) { return refusal }
        guard interface.isLive else { return notOffered(interface) }
        let listed = interface.action(request.action)
        if interface.actions != nil && listed == nil {
            return unknownAction(interface, request.action.text)
        }
        return instanceRefusal(interface, Self.instanceNumber(request.to), from: caller)
    }

    /// An interface that its owner, who is there, doesn't bring: it is its row's
    /// since a reload, or was the session's before.
    func notOffered(_ interface: InterfaceRecord) -> BusError {
        if let now = routes.interface(interface.name), now !== interface {
            return BusError(
                .unavailable,
                "\(interface.name) was \(interface.owner.name)'s, and is \(now.owner.name)'s since the manifest was read "
                    + "again: ask again")
        }
        guard interface.isDeclared else { return unknownInterface(interface.name) }
        let owner = interface.owner.name
        return BusError(
            .unavailable,
            "\(owner) runs without \(interface.name), which its row provides since the manifest was read again: "
                + "strata restart \(owner)")
    }

    private func unknownAction(_ interface: InterfaceRecord, _ action: String) -> BusError {
        let names = (interface.actions ?? []).lazy.map(\.name)
        let near = nearestNames(to: action, in: names)
        let hint =
            !near.isEmpty
            ? "did you mean \(near.joined(separator: " or "))?"
            : "it has \(names.prefix(10).joined(separator: ", "))\(names.count > 10 ? " and \(names.count - 10) more" : "")"
        return BusError(.unknownAction, "the interface \(interface.name) has no action \(action): \(hint)")
    }

    @inline(never)
    func actionRefusal(_ route: RouteTable.Route, from caller: Peer) -> BusError? {
        if route.isSetAside, let refusal = setAsideRefusal(route) { return refusal }
        guard route.interface.isLive else { return notOffered(route.interface) }
        if route.isUnknownAction { return unknownAction(route.interface, Request.Bytes.text(route.action)) }
        return instanceRefusal(route.interface, route.instance, from: caller)
    }

    /// What the app's policy and the peer's role have against a call.
    /// - Parameter required: the name that the caller used, where an adapter
    ///   leads on from it: that one must be declared.
    /// - Parameter isInstance: whether the call is to an instance: it has the
    ///   provider's name, also where it was created by the one that is declared.
    @inline(never)
    func policyRefusal(
        _ interface: InterfaceRecord, _ header: borrowing Header, from peer: Peer, required: String? = nil,
        isInstance: Bool = false
    ) -> BusError? {
        if peer.role == .launcher {
            return BusError(.forbidden, "the launcher calls bus alone, and asked for \(interface.name)")
        }
        if header.members.contains(.auth), peer.module?.row?.trusted != true {
            return BusError(
                .forbidden,
                "\(peer.displayName) said auth: skip, and its row isn't trusted: call without it, or set trusted: true")
        }
        guard let caller = peer.module, caller !== interface.owner, table.calls != .any else { return nil }
        let requires = caller.row?.requires ?? []
        let refusal = table.calls.refusal(
            ofCallFrom: peer.rank, to: interface.owner.rank,
            isDeclared: requires.contains(required ?? interface.name)
                || isInstance && requires.contains { adapted($0) === interface })
        switch refusal {
        case nil: return nil
        case .level:
            return BusError(
                .levelViolation,
                "\(caller.name) of level \(levels.names[peer.rank]) called \(interface.name) of the later level "
                    + "\(levels.names[interface.owner.rank]), and calls are \(table.calls.rawValue): broadcast "
                    + "it, or open a URL")
        case .undeclared:
            return BusError(
                .undeclared,
                "\(caller.name) of level \(levels.names[peer.rank]) called \(required ?? interface.name) of level "
                    + "\(levels.names[interface.owner.rank]) without requiring it: add it to requires of its row")
        }
    }

    /// The interface that adapters lead to from a required name.
    func adapted(_ required: String) -> InterfaceRecord? {
        adapters.target(required, "", isProvided: { routes.interface($0) != nil }).flatMap {
            routes.interface($0.interface)
        }
    }

    /// Section 11: a request made for `module/setUp` would wait for a module
    /// that waits for the setUp.
    func startRefusal(_ header: borrowing Header, of peer: Peer, _ owner: ModuleRecord) -> BusError? {
        guard header.members.contains(.parent), let parent = openParent(header, of: peer),
            parent.pointee.isLifecycle, let module = peer.module
        else { return nil }
        let rule = "a module that starts can't wait for one that starts after it"
        // At the app's start no eager module is ready while one is in setUp.
        let next = ModuleTable.startsBefore(owner, module) ? "initialize" : "didStart"
        let step = module.successor.flatMap { $0.peer === peer ? $0.step : nil } ?? module.life.step
        switch step {
        case .settingUp? where !owner.isReady:
            return BusError(
                .unavailable,
                "\(owner.name) isn't ready, and the request was made in setUp of \(module.name), which waits for "
                    + "nobody: make it in \(next), or observe")
        case .initializing? where !owner.isReady && owner === module:
            return BusError(
                .unavailable,
                "\(module.name) asked itself in its initialize, and is ready only after that: make the request in "
                    + "didStart")
        case .initializing? where !owner.isReady && ModuleTable.startsBefore(module, owner):
            return BusError(
                .unavailable,
                "\(owner.name) starts after \(module.name), and the request was made in its initialize: \(rule); "
                    + "make it in didStart")
        default: return nil
        }
    }
}
