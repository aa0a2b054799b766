import StrataCore

/// What modules provide: from their rows, their hello, and `bus/register`.
extension Broker {
    /// Puts an offer in force. It has been judged: everything in it is free,
    /// or the module's own.
    func add(_ offer: Hello.Offer, to module: ModuleRecord) {
        for interface in offer.interfaces {
            let declared = routes.interface(interface.name)
            let record =
                declared?.owner === module
                ? declared! : InterfaceRecord(name: interface.name, owner: module, isDeclared: false)
            record.isLive = true
            record.instances = interface.instances
            record.actions = interface.actions
            routes.add(record)
            if !module.interfaces.contains(where: { $0 === record }) { module.interfaces.append(record) }
        }
        for url in offer.urls {
            let present = routes.urls.value(of: url.pattern, host: url.host)
            let isDeclared = present?.isDeclared ?? false
            let target = URLTarget(
                host: url.host, pattern: url.pattern, interface: url.interface, action: url.action, owner: module,
                isDeclared: isDeclared)
            if let present, present.owner === module { module.urls.removeAll { $0 === present } }
            _ = try? routes.urls.replace(url.pattern, host: url.host, value: target)
            module.urls.append(target)
        }
    }

    /// A session has ended: what no row declares goes with it.
    func removeOffers(of module: ModuleRecord) {
        for interface in module.interfaces { remove(interface) }
        module.interfaces = []
        for url in module.urls { remove(url) }
        module.urls = []
    }

    func remove(_ interface: InterfaceRecord) {
        interface.isLive = false
        if interface.isDeclared {
            interface.actions = nil
            routes.forgetRoutes()
        } else {
            routes.remove(interface)
        }
    }

    func remove(_ url: URLTarget) {
        routes.urls.remove(url.pattern, host: url.host)
        guard url.isDeclared, let mapping = declaredMapping(url) else { return }
        // Back to what the row says.
        let target = URLTarget(
            host: mapping.host, pattern: mapping.pattern, interface: mapping.interface, action: mapping.action,
            owner: url.owner, isDeclared: true)
        try? routes.urls.add(mapping.pattern, host: mapping.host, value: target)
    }

    private func declaredMapping(_ url: URLTarget) -> Hello.URL? {
        mappings(of: url.owner).first { $0.host == url.host && $0.pattern.matchesSame(as: url.pattern) }
    }

    /// What a module's row maps; the manifest has judged it.
    func mappings(of module: ModuleRecord) -> [Hello.URL] {
        (module.row?.urls ?? []).compactMap { mapping in
            guard let pattern = try? URLPattern(mapping.path), let target = mapping.target else { return nil }
            return Hello.URL(
                host: mapping.host, path: mapping.path, pattern: pattern, interface: target.interface,
                action: target.action)
        }
    }
}
