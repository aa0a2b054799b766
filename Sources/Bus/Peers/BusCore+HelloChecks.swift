import StrataCore

/// The checks of what a hello or a registration offers and asks for.
extension BusCore {
    func checkQuotas(_ hello: Hello, _ module: ModuleRecord?) throws(BusError) {
        let (limits, offer) = (table.limits, hello.offer)
        var (urls, observed) = (offer.urls.map(\.cost), hello.observes.map(\.cost))
        // What both hello and the row name counts once. The row is compared only if hello alone
        // fits.
        if let module, let row = module.row, urls.count <= limits.urls, observed.count <= limits.observations {
            urls = offer.urls.filter { !isOfRow($0, module) }.map(\.cost) + row.urls.map(\.cost)
            let named = Set(hello.observes.map(Observation.Target.init))
            observed += row.observes.filter { !named.contains(Observation.Target($0)) }.map(\.cost)
        }
        let holdings = Holdings(interfaces: offer.interfaces.count, urls: urls, observations: observed)
        try holdings.checkCounts(limits, "hello has", "one module may have")
        try holdings.checkTexts(limits, "hello has")
    }

    /// Whether the module's row maps the same URL.
    func isOfRow(_ url: Hello.URL, _ module: ModuleRecord) -> Bool {
        let target = routes.target(url)
        return target?.isDeclared == true && target?.owner === module.owning
    }

    /// Checks that each URL leads to an interface of the same module, which must have a single
    /// instance.
    func checkTargets(of urls: [Hello.URL], among interfaces: [Hello.Interface]) throws(BusError) {
        let instances = Dictionary(uniqueKeysWithValues: interfaces.map { ($0.name, $0.instances) })
        for url in urls {
            guard let found = instances[url.interface] else {
                throw BusError(
                    .badParams,
                    "the URL \(url.text) leads to \(url.interface), which is not an interface of this module")
            }
            try require(
                found == .single, .badParams,
                "the URL \(url.text) leads to \(url.interface), which has instances: multiple")
        }
    }

    /// Checks the targets of hello's URLs and of those that the row maps.
    func checkURLs(_ hello: Hello, _ offered: [String: Hello.Interface], _ row: ModuleRecord?) throws(BusError) {
        try checkTargets(of: hello.offer.urls, among: hello.offer.interfaces)
        for mapping in row?.mappings ?? [] {
            try require(
                offered[mapping.interface]?.instances != .multiple, .badParams,
                "the row's URL \(mapping.text) leads to \(mapping.interface), which has instances: multiple")
        }
    }

    /// Checks that the offer has nothing that another module's row provides or maps.
    /// - Parameter module: the module's record; nil for a guest that says hello.
    func checkOwners(_ offer: Hello.Offer, _ module: ModuleRecord?, _ name: String) throws(BusError) {
        for interface in offer.interfaces {
            if let owned = routes.interface(interface.name), owned.isDeclared, owned.owner !== module?.owning {
                throw BusError(
                    .forbidden,
                    "the interface \(interface.name) belongs to \(owned.owner.name) by its row: \(name) can't have it")
            }
        }
        for url in offer.urls {
            if let owned = routes.target(url), owned.isDeclared, owned.owner !== module?.owning {
                throw BusError(
                    .forbidden, "the URL \(url.text) belongs to \(owned.owner.name) by its row: \(name) can't have it")
            }
        }
    }

    /// Checks that nothing offered is live elsewhere, nor brought by a process that is about to
    /// take over elsewhere.
    /// - Parameter owner: the record that may have its own again; nil for a module that joins.
    func checkFree(_ offer: Hello.Offer, of owner: ModuleRecord?) throws(BusError) {
        if let repeated = offer.repeatedURL {
            throw BusError(
                .nameTaken,
                "the URL \(repeated.text) comes twice; patterns that differ only in the names of bound segments are "
                    + "the same: choose another path")
        }
        let coming = modules.rows.filter { $0.owning !== owner && $0.successor != nil }
        if !coming.isEmpty { try checkFree(offer, beside: coming) }
        for interface in offer.interfaces {
            if let taken = routes.interface(interface.name), taken.isLive, taken.owner !== owner {
                throw BusError(
                    .nameTaken, "the interface \(interface.name) is live at \(taken.owner.name): choose another name")
            }
        }
        for url in offer.urls {
            if let taken = routes.target(url), taken.owner !== owner, taken.owner.hasSession {
                throw BusError(
                    .nameTaken, "the URL \(url.text) is \(taken.owner.name)'s: choose another path")
            }
        }
        try checkShapes(offer, beside: coming)
    }

    /// Checks that nothing offered is brought by a process that is about to take over elsewhere.
    private func checkFree(_ offer: Hello.Offer, beside coming: [ModuleRecord]) throws(BusError) {
        let names = Set(offer.interfaces.map(\.name))
        let places = Set(offer.urls.map(\.place))
        for other in coming {
            if let interface = other.successor?.offer.interfaces.first(where: { names.contains($0.name) }) {
                throw BusError(
                    .nameTaken,
                    "the interface \(interface.name) comes with the process that takes over as \(other.name): choose "
                        + "another name")
            }
            if let url = other.successor?.offer.urls.first(where: { places.contains($0.place) }) {
                throw BusError(
                    .nameTaken,
                    "the URL \(url.text) comes with the process that takes over as \(other.name): choose "
                        + "another path")
            }
        }
    }

    /// Checks that no host gets too many shapes of URL patterns, which bounds the cost of opening a
    /// URL.
    private func checkShapes(_ offer: Hello.Offer, beside coming: [ModuleRecord]) throws(BusError) {
        guard !offer.urls.isEmpty else { return }
        let hosts = Set(offer.urls.map(\.host))
        // The URLs of successors count, because they take effect later.
        let others = coming.flatMap { $0.successor?.offer.urls ?? [] }.filter { hosts.contains($0.host) }
        if let (host, pattern) = routes.urls.firstBeyondLimit(
            of: (offer.urls + others).lazy.map { ($0.host, $0.pattern) })
        {
            let error = URLTable<URLTarget>.tooManyShapes(host, pattern)
            throw BusError(.overloaded, error.message)
        }
    }
}

/// A peer's process, as far as the kernel vouches for it; this decides what role a peer may have.
extension BusCore {
    /// Whether a peer certainly is a process, or descends from it.
    func isOf(_ peer: Peer, _ process: ProcessIdentity) -> Bool {
        switch host.descent(of: peer, from: process) {
        case .itself, .descends: true
        case .unrelated, .unknown, nil: false
        }
    }

    /// Returns the process that says hello as the launcher.
    func identify(launcher peer: Peer) throws(BusError) -> ProcessIdentity {
        guard let process = host.process(of: peer) else {
            throw BusError(
                .forbidden, "\(isGone(peer)), so it can't be the launcher: let the process that connected say hello")
        }
        return process
    }

    /// Refuses a process below the launcher, which can only be the module that the launcher vouched
    /// for. Also refuses a process whose origin can't be determined any more.
    func refuseDescendant(_ peer: Peer, _ role: String) throws(BusError) {
        guard let launcher = launcherSlot.process, hasLauncher || host.isAlive(launcher) else { return }
        let why: String
        switch host.descent(of: peer, from: launcher) {
        case .itself, .unrelated: return
        case .descends:
            throw BusError(
                .forbidden,
                "process \(peer.credentials.pid) was started by the app's launcher, so it can't be \(role): run it "
                    + "from outside the app")
        case .unknown:
            why = "the parents of process \(peer.credentials.pid) changed while they were read"
        case nil: why = isGone(peer)
        }
        throw BusError(
            .forbidden,
            "\(why), so it may have been started by the app's launcher, and can't be \(role): let a process that "
                + "lives connect and say hello")
    }

    /// Says that the process that connected has ended.
    func isGone(_ peer: Peer) -> String { "process \(peer.credentials.pid), which connected, has ended" }
}
