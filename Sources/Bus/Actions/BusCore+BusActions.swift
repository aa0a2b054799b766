import StrataCore

/// The bus's own interface, `bus`.
extension BusCore {
    /// The actions, and who may ask for them.
    private enum Asker { case anybody, modules, operators, launcher, operatorsAndLauncher }
    private static let actions: [(name: String, asker: Asker)] = [
        ("hello", .anybody), ("register", .modules), ("unregister", .modules), ("observe", .modules),
        ("unobserve", .modules), ("create", .modules), ("release", .modules), ("canOpen", .anybody),
        ("emit", .anybody), ("levels", .anybody), ("modules", .anybody), ("interfaces", .anybody),
        ("names", .anybody), ("stats", .anybody), ("timeline", .operators), ("metrics", .operators),
        ("watch", .anybody), ("monitor", .operators), ("ping", .anybody), ("vouch", .launcher),
        ("retire", .launcher), ("moduleState", .launcher), ("reload", .operatorsAndLauncher),
        ("handOver", .operatorsAndLauncher),
    ]

    func busCall(
        _ action: String, hasInstance: Bool, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        from peer: Peer
    ) {
        if monitors.isOn { monitorServed() }
        do throws(BusError) {
            try check(action, hasInstance: hasInstance, header, from: peer)
            if let answer = try answer(action, header, body, from: peer) {
                writeReply(peer, id: header.id, answer)
            }
        } catch {
            refuse(peer, header.id, error)
        }
        turn.interrupt()
    }

    /// The checks on any call, in the protocol's order.
    private func check(_ action: String, hasInstance: Bool, _ header: borrowing Header, from peer: Peer)
        throws(BusError)
    {
        let known = Self.actions.first { $0.name == action }
        if let asker = known?.asker { try check(asker, action, of: peer) }
        if header.members.contains(.auth),
            let refusal = LiveFacts(core: self, kind: .call, peer: peer, skipsAuthorization: true).error(
                .trust ... .trust)
        {
            throw refusal
        }
        guard known != nil else {
            let names = Self.actions.map(\.name)
            let near = nearestNames(to: action, in: names)
            let hint =
                near.isEmpty
                ? "it has \(names.joined(separator: ", "))" : "did you mean \(near.joined(separator: " or "))?"
            throw BusError(.unknownAction, "bus has no action \(action): \(hint)")
        }
        if hasInstance { throw noInstances("bus") }
        if header.members.contains(.parent), openParent(header, of: peer) == nil {
            throw BusError(.cancelled, "the parent \(header.parent) is not open at \(peer.displayName)")
        }
    }

    private func check(_ asker: Asker, _ action: String, of peer: Peer) throws(BusError) {
        let whose: String
        switch asker {
        case .anybody: return
        case .modules:
            if peer.role == .module { return }
            whose = "modules"
        case .operators:
            if peer.role == .operator { return }
            whose = "operators"
        case .launcher:
            if peer.role == .launcher { return }
            whose = "the launcher"
        case .operatorsAndLauncher:
            if peer.role != .module { return }
            whose = "operators and the launcher"
        }
        throw BusError(.forbidden, "bus/\(action) is for \(whose): \(peer.displayName) can't ask for it")
    }

    func noInstances(_ interface: String) -> BusError {
        BusError(.unknownInstance, "\(interface) has no instances: call it without #")
    }

    /// The answer of an action; nil where it comes later.
    private func answer(
        _ action: String, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) -> JSON? {
        switch action {
        case "ping": return .object([])
        case "hello":
            throw BusError(.forbidden, "\(peer.displayName) has said hello already: a connection says it once")
        case "levels", "modules", "interfaces", "names", "timeline":
            list(for: peer, id: header.id, listing(action, for: peer))
        case "stats": return statsAnswer()
        case "metrics": try metrics(header, body, from: peer)
        case "canOpen": return try canOpen(body, for: peer)
        case "watch": try watchModules(header, from: peer)
        case "monitor": try monitor(header, body, from: peer)
        case "emit": try emit(header, body, from: peer)
        case "reload": try reload(header, from: peer)
        case "handOver": try handOver(header, from: peer)
        case "vouch": return try vouch(body)
        case "retire": try retire(header, body, from: peer)
        case "moduleState": return try moduleState(body)
        default:
            guard let module = peer.module else { preconditionFailure("bus/\(action) is for modules: \(peer.role)") }
            return try answer(action, header, body, module, peer)
        }
        return nil
    }

    /// The answer of an action that is for modules.
    private func answer(
        _ action: String, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, _ module: ModuleRecord,
        _ peer: Peer
    ) throws(BusError) -> JSON? {
        switch action {
        case "observe":
            try onlyStaying(peer, module)
            return try observe(body, module, peer)
        case "unobserve": return try unobserve(body, peer)
        case "register":
            try onlyStaying(peer, module)
            try register(header.id, body, module, from: peer)
        case "unregister":
            try onlyServing(peer, module)
            return try unregister(body, module)
        case "create": try create(header, body, module, peer)
        case "release": return try releaseInstance(body, module, peer)
        default: preconditionFailure("nothing answers bus/\(action), which is in the table")
        }
        return nil
    }

    /// The answers that grow with what modules bring.
    private func listing(_ action: String, for peer: Peer) -> Listing.Part {
        switch action {
        case "levels": levelsListing()
        case "modules": modulesListing(for: peer)
        case "interfaces": interfacesListing()
        case "names": namesListing()
        default: timelineListing(for: peer)
        }
    }

    // MARK: observe

    private func observe(_ body: UnsafeRawBufferPointer, _ module: ModuleRecord, _ peer: Peer) throws(BusError) -> JSON
    {
        let observed = try Hello.observation(try BodyLimit.ordinary.read(body, of: "bus/observe"))
        guard peer.observations.count < table.limits.observations else {
            throw BusError(
                .overloaded,
                "\(module.name) has \(table.limits.observations) observations (limits.observations): unobserve some")
        }
        let (bytes, most) = (peer.observations.bytes + observed.cost, Texts.most(table.limits.observations))
        guard bytes <= most else { throw Texts.tooLong("\(module.name) would have", "observations", bytes, most) }
        return .object([.init("subscription", .integer(Int64(addObservation(observed, peer))))])
    }

    private func unobserve(_ body: UnsafeRawBufferPointer, _ peer: Peer) throws(BusError) -> JSON {
        var reader = try MemberReader(body: body, of: "bus/unobserve")
        guard let number = try reader.integer("subscription") else {
            throw BusError(.badParams, "bus/unobserve lacks \"subscription\", a number that observe gave")
        }
        guard let observation = peer.observations.all.first(where: { Int64($0.terms.id) == number }) else {
            throw BusError(.badParams, "\(peer.displayName) has no observation \(number): observe gave its number")
        }
        endObservation(observation)
        return .object([])
    }
}
