import StrataCore

/// What is judged of what a hello, or a registration, offers and asks for.
extension BusCore {
    func checkQuotas(_ hello: Hello, _ row: ModuleRecord?) throws(BusError) {
        let limits = table.limits
        var (urls, observed) = (hello.offer.urls.count, hello.observes.count)
        var urlBytes = hello.offer.urls.reduce(0) { $0 + $1.cost }
        var observedBytes = hello.observes.reduce(0) { $0 + $1.cost }
        // What the row names too is one; it is compared where hello's alone fits.
        if let row, let own = row.row, urls <= limits.urls, observed <= limits.observations {
            urls += own.urls.count
            urlBytes += own.urls.reduce(0) { $0 + $1.cost }
            for url in hello.offer.urls {
                let mapped = routes.urls.value(of: url.pattern, host: url.host)
                guard mapped?.isDeclared == true, mapped?.owner === row else { continue }
                urls -= 1
                urlBytes -= url.cost
            }
            let named = Set(hello.observes.map(Observation.Target.init))
            for mapped in own.observes where !named.contains(Observation.Target(mapped)) {
                observed += 1
                observedBytes += mapped.cost
            }
        }
        let quotas = [
            ("interfaces", hello.offer.interfaces.count, limits.interfaces), ("URLs", urls, limits.urls),
            ("observations", observed, limits.observations),
        ]
        for (what, count, limit) in quotas where count > limit {
            throw BusError(
                .overloaded,
                "hello brings \(count) \(what), and one module may have \(limit) (limits.\(what.lowercased()))")
        }
        let texts = [
            ("URLs", urlBytes, Texts.most(limits.urls)),
            ("observations", observedBytes, Texts.most(limits.observations)),
        ]
        for (what, bytes, most) in texts where bytes > most { throw Texts.tooLong("hello brings", what, bytes, most) }
    }

    /// A URL leads to an interface of the same module, which has one instance.
    func checkTargets(of urls: [Hello.URL], among interfaces: [Hello.Interface]) throws(BusError) {
        let instances = Dictionary(uniqueKeysWithValues: interfaces.map { ($0.name, $0.instances) })
        for url in urls {
            guard let found = instances[url.interface] else {
                throw BusError(
                    .badParams,
                    "the URL \(url.host)\(url.path) leads to \(url.interface), which is no interface of this module")
            }
            guard found == .single else {
                throw BusError(
                    .badParams,
                    "the URL \(url.host)\(url.path) leads to \(url.interface), which has instances: multiple")
            }
        }
    }

    /// The same for what hello brings and for what the row maps.
    func checkURLs(_ hello: Hello, _ offered: [String: Hello.Interface], _ row: ModuleRecord?) throws(BusError) {
        try checkTargets(of: hello.offer.urls, among: hello.offer.interfaces)
        for mapping in row?.mappings ?? [] {
            if let interface = offered[mapping.interface], interface.instances != .single {
                throw BusError(
                    .badParams,
                    "the row's URL \(mapping.host)\(mapping.path) leads to \(interface.name), which has instances: multiple"
                )
            }
        }
    }

    /// What a row provides or maps is that module's alone.
    func checkOwners(_ offer: Hello.Offer, _ name: String) throws(BusError) {
        for interface in offer.interfaces {
            if let owned = routes.interface(interface.name), owned.isDeclared, owned.owner.name != name {
                throw BusError(
                    .forbidden,
                    "the interface \(interface.name) is \(owned.owner.name)'s, by its row: \(name) can't have it")
            }
        }
        for url in offer.urls {
            if let owned = routes.urls.value(of: url.pattern, host: url.host), owned.isDeclared,
                owned.owner.name != name
            {
                throw BusError(
                    .forbidden,
                    "the URL \(url.host)\(url.path) is \(owned.owner.name)'s, by its row: \(name) can't have it")
            }
        }
    }

    /// What is live elsewhere is taken, and so is what a process brings that is
    /// to take over elsewhere. `module` may have its own again.
    func checkFree(_ offer: Hello.Offer, of module: ModuleRecord?) throws(BusError) {
        if let repeated = offer.repeatedURL {
            throw BusError(
                .nameTaken,
                "the URL \(repeated.host)\(repeated.path) comes twice; the names of bound segments don't tell patterns "
                    + "apart: choose another path")
        }
        let coming = modules.rows.filter { $0 !== module && $0.successor != nil }
        if !coming.isEmpty { try checkFree(offer, beside: coming) }
        for interface in offer.interfaces {
            if let taken = routes.interface(interface.name), taken.isLive, taken.owner !== module {
                throw BusError(
                    .nameTaken, "the interface \(interface.name) is live at \(taken.owner.name): choose another name")
            }
        }
        for url in offer.urls {
            if let taken = routes.urls.value(of: url.pattern, host: url.host), taken.owner !== module,
                taken.owner.peer != nil
            {
                throw BusError(
                    .nameTaken, "the URL \(url.host)\(url.path) is \(taken.owner.name)'s: choose another path")
            }
        }
        try checkShapes(offer, beside: coming)
    }

    /// What comes with processes that are to take over elsewhere is taken.
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
                    "the URL \(url.host)\(url.path) comes with the process that takes over as \(other.name): choose "
                        + "another path")
            }
        }
    }

    /// A host's patterns have so many shapes, which bounds what opening a URL costs.
    private func checkShapes(_ offer: Hello.Offer, beside coming: [ModuleRecord]) throws(BusError) {
        guard !offer.urls.isEmpty else { return }
        let hosts = Set(offer.urls.map(\.host))
        let others = coming.flatMap { $0.successor?.offer.urls ?? [] }.filter { hosts.contains($0.host) }
        if let (host, pattern) = routes.urls.firstBeyondLimit(
            of: (offer.urls + others).lazy.map { ($0.host, $0.pattern) })
        {
            let error = URLTable<URLTarget>.tooManyShapes(host, pattern)
            throw BusError(.overloaded, error.message)
        }
    }
}
