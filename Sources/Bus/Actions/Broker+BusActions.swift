import StrataCore

/// The broker's own interface, `bus`.
extension Broker {
    func busCall(
        _ action: String, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) {
        if isMonitored { monitorServed() }
        if header.members.contains(.auth), peer.module?.row?.trusted != true {
            refuse(
                peer, header.id, BusError(.forbidden, "\(peer.displayName) said auth: skip, and its row isn't trusted"))
            return
        }
        if header.members.contains(.parent), openParent(header, of: peer) == nil {
            refuse(
                peer, header.id, BusError(.cancelled, "the parent \(header.parent) is not open at \(peer.displayName)"))
            return
        }
        do {
            if let answer = try answer(action, header, body, from: peer) {
                writeReply(peer, id: header.id, answer)
            }
        } catch {
            refuse(peer, header.id, error)
        }
        lookAtTurn()
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
            list(for: peer, id: header.id, try listing(action, for: peer))
            return nil
        case "stats": return statsAnswer()
        case "metrics":
            try metrics(header, body, from: peer)
            return nil
        case "canOpen": return try canOpen(body)
        case "observe":
            let module = try onlyModules(peer, "observes")
            try onlyStaying(peer, module)
            return try observe(body, module, peer)
        case "unobserve":
            _ = try onlyModules(peer, "observes")
            return try unobserve(body, peer)
        case "register":
            let module = try onlyModules(peer, "registers")
            try onlyStaying(peer, module)
            try register(header.id, body, module, from: peer)
            return nil
        case "unregister":
            let module = try onlyModules(peer, "registers")
            try onlyServing(peer, module)
            return try unregister(body, module)
        case "create":
            try create(header, body, try onlyModules(peer, "creates"), peer)
            return nil
        case "release": return try releaseInstance(body, try onlyModules(peer, "creates"), peer)
        case "watch":
            try watchModules(header, from: peer)
            return nil
        case "monitor":
            try monitor(header, body, from: peer)
            return nil
        case "emit":
            try emit(header, body, from: peer)
            return nil
        case "reload":
            guard peer.role != .module else {
                throw BusError(.forbidden, "bus/reload is for operators and the launcher")
            }
            try reload(header, from: peer)
            return nil
        case "handOver":
            try handOver(header, from: peer)
            return nil
        case "vouch":
            try onlyLauncher(peer, action)
            return try vouch(body)
        case "retire":
            try onlyLauncher(peer, action)
            try retire(header, body, from: peer)
            return nil
        case "moduleState":
            try onlyLauncher(peer, action)
            return try moduleState(body)
        default:
            let near = nearestNames(to: action, in: Self.actions)
            throw BusError(
                .unknownAction,
                "bus has no action \(action): \(near.isEmpty ? "it has \(Self.actions.joined(separator: ", "))" : "did you mean \(near.joined(separator: " or "))?")"
            )
        }
    }

    /// The answers that grow with what modules bring.
    private func listing(_ action: String, for peer: Peer) throws(BusError) -> Listing.Part {
        switch action {
        case "levels": levelsListing()
        case "modules": modulesListing(for: peer)
        case "interfaces": interfacesListing()
        case "names": namesListing()
        default: try timelineListing(for: peer)
        }
    }

    private static let actions = [
        "hello", "register", "unregister", "observe", "unobserve", "create", "release", "canOpen", "emit",
        "levels", "modules", "interfaces", "names", "stats", "timeline", "metrics", "watch", "monitor", "ping", "vouch",
        "retire", "moduleState", "reload", "handOver",
    ]

    private func onlyModules(_ peer: Peer, _ what: String) throws(BusError) -> ModuleRecord {
        guard let module = peer.module else {
            throw BusError(.forbidden, "\(peer.displayName) \(what) nothing: only a module does")
        }
        return module
    }

    private func onlyLauncher(_ peer: Peer, _ action: String) throws(BusError) {
        guard peer.role == .launcher else {
            throw BusError(.forbidden, "bus/\(action) is the launcher's: \(peer.displayName) can't ask for it")
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
        let (bytes, most) = (peer.observedBytes + observed.cost, Texts.most(table.limits.observations))
        guard bytes <= most else { throw Texts.tooLong("\(module.name) would have", "observations", bytes, most) }
        return .object([.init("subscription", .integer(Int64(addObservation(observed, peer))))])
    }

    private func unobserve(_ body: UnsafeRawBufferPointer, _ peer: Peer) throws(BusError) -> JSON {
        var reader = try MemberReader(body: body, of: "bus/unobserve")
        guard let number = try reader.integer("subscription") else {
            throw BusError(.badParams, "bus/unobserve lacks \"subscription\", a number that observe gave")
        }
        guard let observation = peer.observations.first(where: { Int64($0.id) == number }) else {
            throw BusError(.badParams, "\(peer.displayName) has no observation \(number): observe gave its number")
        }
        endObservation(observation)
        return .object([])
    }
}
