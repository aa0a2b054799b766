import StrataCore

/// Requests that name a node: `Interface@node/action`, `Interface#7@node/action`, and for a report
/// `Module@node`. Routes are kept without it.
extension BusCore {
    /// Returns the place of the mark between a name and its node; nil if there is none. In an app of
    /// one machine no name has one.
    func nodeMark(_ to: UnsafeRawBufferPointer) -> Int? {
        table.nodes.isEmpty ? nil : to.firstIndex(of: UInt8(ascii: "@"))
    }

    /// Handles a call whose `to` names a node.
    /// - Parameter mark: the mark's place.
    @inline(never)
    func callNamed(
        _ mark: Int, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        guard let slash = header.to.firstIndex(of: UInt8(ascii: "/")), mark < slash else {
            throw BusError(
                .unknownInterface, "\"\(header.to.text)\" names no action: write Interface@node/action")
        }
        // Its memory is used again for the next one.
        var plain: [UInt8] = []
        swap(&plain, &nodes.plainName)
        defer { swap(&plain, &nodes.plainName) }
        plain.removeAll(keepingCapacity: true)
        plain.append(contentsOf: header.to[..<mark])
        plain.append(contentsOf: header.to[slash...])
        let name = UnsafeRawBufferPointer(rebasing: header.to[(mark + 1)..<slash])
        try plain.withBytes { to throws(BusError) in
            let route = try self.route(of: to, header)
            try check(route, header, from: peer, .existence ... .declaration)
            if let node = try node(name, of: route.owner, else: .unknownInterface) {
                let body = try inline(body, for: header.to.text, header)
                try send(route, to: node, header, body, from: peer)
            } else {
                try call(route, header, body, from: peer)
            }
        }
    }

    private func route(
        of to: UnsafeRawBufferPointer, _ header: borrowing Header
    ) throws(BusError) -> RouteTable.Route {
        if let route = routes.route(to) { return route.takeUnretainedValue() }
        switch routes.resolve(to, adapters) {
        case .route(let route): return route
        case .unknown(let name): throw unknownInterface(name)
        case .reserved(let name, _, _):
            throw BusError(
                .unknownInterface,
                "\"\(header.to.text)\" names a node, and \(name) is each broker's own: call it without")
        case .malformed:
            throw BusError(
                .unknownInterface,
                Self.replica(namedIn: to) == nil
                    ? "\"\(header.to.text)\" names no action: write Interface@node/action"
                    : "\"\(header.to.text)\" names a replica, whose row runs on one node: leave the node out")
        }
    }

    /// Sends a call to the node that it names.
    private func send(
        _ route: RouteTable.Route, to node: NodeRecord, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        from peer: Peer
    ) throws(BusError) {
        guard let adaptation = route.adaptation, !adaptation.params.isEmpty else {
            return try route.to.withBytes { to throws(BusError) in
                try sendPlain(route, to: to, on: node, header, body, from: peer)
            }
        }
        // Renaming takes long, so the turn's time is checked.
        turn.interrupt()
        try renamed(adaptation.params, header, body).withBytes { body throws(BusError) in
            try route.to.withBytes { to throws(BusError) in
                try sendPlain(route, to: to, on: node, header, body, from: peer)
            }
        }
    }

    /// Sends a call of a route to a node, whatever adapters its route has.
    /// - Parameter to: what the node's bus gets as `to`.
    func sendPlain(
        _ route: RouteTable.Route, to: UnsafeRawBufferPointer, on node: NodeRecord, _ header: borrowing Header,
        _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        let call = try route.action.withBytes { action throws(BusError) in
            let request = Request(
                to: to, interface: route.interface, action: action, trace: header.trace, meta: header.meta, body: body)
            return try sendAway(request, header, to: route.owner, on: node, from: peer)
        }
        call.pointee.action = route.actionNumber
        mark(call, route)
    }

    // MARK: Which node

    /// Returns the node of a name, on which a module must run; nil if it is this one.
    /// - Parameter code: the code of the error if there is no such node, or if the module doesn't run
    ///   there.
    func node(
        _ name: UnsafeRawBufferPointer, of module: ModuleRecord, else code: ErrorCode
    ) throws(BusError) -> NodeRecord? {
        guard let known = table.nodes.first(where: { $0.name.utf8.elementsEqual(name) }) else {
            let hint = didYouMean(name.text, table.nodes.map(\.name), else: "strata nodes lists the nodes")
            throw BusError(code, "no node is named \"\(name.text)\": \(hint)")
        }
        let isOwn = known.name == table.node
        // A guest has no row, and is this node's.
        let runs = module.row.map { $0.placement.includes(known.name) } ?? isOwn
        guard runs else {
            let names = module.row.map { table.nodes(of: $0) } ?? [table.node ?? ""]
            throw BusError(
                code,
                "\(module.name) doesn't run on the node \(known.name): it runs on \(names.joined(separator: " and "))")
        }
        return isOwn ? nil : nodes.find(known.name)
    }

    /// Returns the peer of a module on one of its nodes.
    func remote(of module: ModuleRecord, on node: NodeRecord) throws(BusError) -> RemotePeer {
        let remote = module.nameBytes.withUnsafeBytes { node.peer($0) }
        guard let remote, remote.isRouted else {
            let why = node.mismatched[module.name] ?? node.life.absence(of: node.name, node.reason)
            throw BusError(
                .unavailable, "\(module.name) can't be reached on the node \(node.name): \(why); see strata nodes")
        }
        return remote
    }
}
