import StrataCore

/// What rows provide and map, put in force at the start and after each reload:
/// what a row names is its module's alone from then on, whoever had it.
extension Broker {
    func declareInterfaces() {
        var owners: [String: ModuleRecord] = [:]
        for module in modules.rows where !module.isRemoved {
            for name in module.row?.provides ?? [] { owners[name] = module }
        }
        for interface in routes.allInterfaces {
            if let owner = owners[interface.name], owner !== interface.owner {
                takeAway(interface)
            } else if interface.isDeclared, owners[interface.name] == nil {
                interface.isDeclared = false
                if !interface.isLive { routes.remove(interface) }
            }
        }
        for (name, owner) in owners {
            if let interface = routes.interface(name) {
                interface.isDeclared = true
            } else {
                routes.add(InterfaceRecord(name: name, owner: owner, isDeclared: true))
            }
        }
        // Who leads where may have changed through adapters alone.
        routes.forgetRoutes()
    }

    /// What a process was to bring when it takes over, and what is another
    /// module's by its row now.
    func takeAwayFromSuccessors() {
        for module in modules.rows {
            guard let successor = module.successor else { continue }
            successor.offer.interfaces.removeAll { own in
                routes.interface(own.name).map { $0.isDeclared && $0.owner !== module } ?? false
            }
            let kept = Set(successor.offer.interfaces.map(\.name))
            successor.offer.urls.removeAll { url in
                guard kept.contains(url.interface) else { return true }
                let owned = routes.urls.value(of: url.pattern, host: url.host)
                return owned.map { $0.isDeclared && $0.owner !== module } ?? false
            }
        }
    }

    private func takeAway(_ interface: InterfaceRecord) {
        let module = interface.owner
        routes.remove(interface)
        interface.isLive = false
        module.interfaces.removeAll { $0 === interface }
        for url in module.urls where url.interface == interface.name {
            routes.urls.remove(url.pattern, host: url.host)
        }
        module.urls.removeAll { $0.interface == interface.name }
    }

    /// Takes the rows' own mappings back: what a session registered stays its own.
    func withdrawURLs() {
        for module in modules.rows {
            for mapping in mappings(of: module) {
                guard let target = routes.urls.value(of: mapping.pattern, host: mapping.host), target.owner === module
                else { continue }
                if module.urls.contains(where: { $0 === target }) {
                    target.isDeclared = false
                } else {
                    routes.urls.remove(mapping.pattern, host: mapping.host)
                }
            }
        }
    }

    /// Puts the rows' mappings in force.
    func declareURLs() {
        for module in modules.rows where !module.isRemoved {
            for mapping in mappings(of: module) {
                if let target = routes.urls.value(of: mapping.pattern, host: mapping.host) {
                    if target.owner === module {
                        target.isDeclared = true
                        continue
                    }
                    target.owner.urls.removeAll { $0 === target }
                    routes.urls.remove(mapping.pattern, host: mapping.host)
                }
                let target = URLTarget(
                    host: mapping.host, pattern: mapping.pattern, interface: mapping.interface,
                    action: mapping.action, owner: module, isDeclared: true)
                try? routes.urls.add(mapping.pattern, host: mapping.host, value: target)
            }
        }
    }
}
