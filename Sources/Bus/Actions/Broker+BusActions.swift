import StrataCore

/// The broker's own interface, `bus`.
extension Broker {
    func busCall(
        _ action: String, _ header: Header, _ body: UnsafeRawBufferPointer, from peer: Peer
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
    }

    /// The answer of an action; nil where it comes later.
    private func answer(
        _ action: String, _ header: Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) -> JSON? {
        switch action {
        case "ping": return .object([])
        case "hello":
            throw BusError(.forbidden, "\(peer.displayName) has said hello already: a connection says it once")
        case "levels": return levelsAnswer()
        case "modules": return modulesAnswer()
        case "interfaces": return interfacesAnswer()
        case "stats": return statsAnswer()
        case "canOpen": return try canOpen(body)
        case "observe":
            let module = try onlyModules(peer, "observes")
            return try observe(body, module, peer)
        case "unobserve":
            _ = try onlyModules(peer, "observes")
            return try unobserve(body, peer)
        case "register":
            return try register(body, try onlyModules(peer, "registers"))
        case "unregister":
            return try unregister(body, try onlyModules(peer, "registers"))
        case "create":
            try create(header, body, try onlyModules(peer, "creates"), peer)
            return nil
        case "release": return try releaseInstance(body, try onlyModules(peer, "creates"), peer)
        case "watch":
            watchModules(header, from: peer)
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

    private static let actions = [
        "hello", "register", "unregister", "observe", "unobserve", "create", "release", "canOpen", "emit",
        "levels", "modules", "interfaces", "stats", "watch", "monitor", "ping", "vouch", "retire", "moduleState",
        "reload",
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
        let json: JSON
        do { json = try JSON(parsing: body) } catch {
            throw BusError(.badParams, "the body of bus/observe is not JSON: \(error)")
        }
        let observed = try Hello.observation(json)
        guard peer.observations.count < table.limits.observations else {
            throw BusError(
                .overloaded,
                "\(module.name) has \(table.limits.observations) observations (limits.observations): unobserve some")
        }
        return .object([.init("subscription", .integer(Int64(addObservation(observed, peer))))])
    }

    private func unobserve(_ body: UnsafeRawBufferPointer, _ peer: Peer) throws(BusError) -> JSON {
        var reader = try MemberReader(body: body, of: "bus/unobserve")
        guard let number = try reader.integer("subscription") else {
            throw BusError(.badParams, "bus/unobserve lacks \"subscription\", a number that observe gave")
        }
        guard let index = peer.observations.firstIndex(where: { Int64($0.id) == number }) else {
            throw BusError(.badParams, "\(peer.displayName) has no observation \(number): observe gave its number")
        }
        observations.remove(peer.observations.remove(at: index))
        return .object([])
    }

    // MARK: register

    private func register(_ body: UnsafeRawBufferPointer, _ module: ModuleRecord) throws(BusError) -> JSON {
        var reader = try MemberReader(body: body, of: "bus/register")
        let offer = try Hello.Offer(&reader)
        guard offer.interfaces.count <= table.limits.interfaces, offer.urls.count <= table.limits.urls else {
            throw BusError(
                .overloaded,
                "\(module.name) may have \(table.limits.interfaces) interfaces and \(table.limits.urls) URLs "
                    + "(limits.interfaces, limits.urls), and asked for \(offer.interfaces.count) and \(offer.urls.count)"
            )
        }
        let names = Set(offer.interfaces.map(\.name))
        let kept = module.interfaces.filter { !names.contains($0.name) }.reduce(0) { $0 + ($1.actions?.count ?? 0) }
        try Hello.checkCount("actions", offer.interfaces.reduce(kept) { $0 + ($1.actions?.count ?? 0) })
        for url in offer.urls {
            let offered = offer.interfaces.first { $0.name == url.interface }?.instances
            let own = module.interfaces.first { $0.name == url.interface }?.instances
            guard let instances = offered ?? own else {
                throw BusError(
                    .badParams,
                    "the URL \(url.host)\(url.path) leads to \(url.interface), which is no interface of \(module.name)")
            }
            guard instances == .single else {
                throw BusError(
                    .badParams,
                    "the URL \(url.host)\(url.path) leads to \(url.interface), which has instances: multiple")
            }
        }
        for interface in offer.interfaces where interface.instances == .multiple {
            guard !module.urls.contains(where: { $0.interface == interface.name }) else {
                throw BusError(.badParams, "\(interface.name) has URLs, so it can't have instances: multiple")
            }
        }
        let newInterfaces = offer.interfaces.filter { new in !module.interfaces.contains { $0.name == new.name } }.count
        let newURLs = offer.urls.filter { new in
            !module.urls.contains { $0.host == new.host && $0.pattern.matchesSame(as: new.pattern) }
        }.count
        guard module.interfaces.count + newInterfaces <= table.limits.interfaces else {
            throw BusError(
                .overloaded, "\(module.name) may have \(table.limits.interfaces) interfaces (limits.interfaces)")
        }
        guard module.urls.count + newURLs <= table.limits.urls else {
            throw BusError(.overloaded, "\(module.name) may have \(table.limits.urls) URLs (limits.urls)")
        }
        try checkOwners(offer, module.name)
        try checkFree(offer, of: module)
        add(offer, to: module)
        return .object([])
    }

    private func unregister(_ body: UnsafeRawBufferPointer, _ module: ModuleRecord) throws(BusError) -> JSON {
        var reader = try MemberReader(body: body, of: "bus/unregister")
        let offer = try Hello.Offer(&reader)
        var interfaces: [InterfaceRecord] = []
        for named in offer.interfaces {
            guard let own = module.interfaces.first(where: { $0.name == named.name }) else {
                throw BusError(.unknownInterface, "\(module.name) has no interface \(named.name) to unregister")
            }
            guard !own.isDeclared else {
                throw BusError(.forbidden, "\(named.name) is provided by the row of \(module.name), so it stays")
            }
            interfaces.append(own)
        }
        var urls: [URLTarget] = []
        for named in offer.urls {
            guard
                let own = module.urls.first(where: {
                    $0.host == named.host && $0.pattern.matchesSame(as: named.pattern)
                })
            else { throw BusError(.unknownPath, "\(module.name) has no URL \(named.host)\(named.path) to unregister") }
            guard !own.isDeclared else {
                throw BusError(
                    .forbidden, "\(named.host)\(named.path) is mapped by the row of \(module.name), so it stays")
            }
            urls.append(own)
        }
        // A URL goes with the interface that it leads to.
        urls += module.urls.filter { url in
            interfaces.contains { $0.name == url.interface } && !urls.contains { $0 === url }
        }
        for url in urls {
            remove(url)
            module.urls.removeAll { $0 === url }
        }
        for interface in interfaces {
            remove(interface)
            module.interfaces.removeAll { $0 === interface }
        }
        return .object([])
    }
}
