import StrataCore

/// What rows provide and map, put in force at the start and after each reload:
/// what a row names is its module's alone from then on, whoever had it.
extension BusCore {
    func declareInterfaces() {
        var owners: [String: ModuleRecord] = [:]
        for module in modules.rows where !module.isRemoved {
            for name in module.row?.provides ?? [] { owners[name] = module }
        }
        var losers: [Int: ModuleRecord] = [:]
        for interface in routes.allInterfaces {
            if let owner = owners[interface.name], owner !== interface.owner {
                routes.remove(interface)
                interface.isLive = false
                losers[interface.owner.number] = interface.owner
            } else if interface.isDeclared, owners[interface.name] == nil {
                interface.isDeclared = false
                if !interface.isLive { routes.remove(interface) }
            }
        }
        for loser in losers.values { forgetLost(loser) }
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
            var offer = successor.offer
            offer.interfaces.removeAll { own in
                routes.interface(own.name).map { $0.isDeclared && $0.owner !== module } ?? false
            }
            let kept = Set(offer.interfaces.map(\.name))
            offer.urls.removeAll { url in
                guard kept.contains(url.interface) else { return true }
                return routes.target(url).map { $0.isDeclared && $0.owner !== module } ?? false
            }
            successor.take(offer)
        }
    }

    /// Takes from a module what it has no more: interfaces that are another's, and the
    /// URLs that lead to them.
    private func forgetLost(_ module: ModuleRecord) {
        let lost = Set(module.session.interfaces.lazy.filter { !$0.isLive }.map(\.name))
        module.session.removeDeadInterfaces()
        for url in module.session.urls where lost.contains(url.interface) {
            routes.urls.remove(url.pattern, host: url.host)
            url.isLive = false
        }
        module.session.removeDeadURLs()
    }

    /// Takes the rows' own mappings back: what a session registered stays its own.
    func withdrawURLs() {
        for module in modules.rows {
            for mapping in module.mappings {
                guard let target = routes.target(mapping), target.owner === module else { continue }
                if target.isLive {
                    target.declared = nil
                } else {
                    routes.urls.remove(mapping.pattern, host: mapping.host)
                }
            }
        }
    }

    /// Puts the rows' mappings in force.
    func declareURLs() {
        var losers: [Int: ModuleRecord] = [:]
        for module in modules.rows where !module.isRemoved {
            for mapping in module.mappings {
                if let target = routes.target(mapping) {
                    if target.owner === module {
                        target.declared = mapping
                        continue
                    }
                    target.isLive = false
                    losers[target.owner.number] = target.owner
                }
                let target = URLTarget(mapping, owner: module, declared: mapping, isLive: false)
                // A row's are there whatever others have brought.
                _ = try? routes.urls.replace(mapping.pattern, host: mapping.host, value: target)
            }
        }
        for loser in losers.values { loser.session.removeDeadURLs() }
    }
}

/// What modules provide: from their rows, their hello, and `bus/register`.
extension BusCore {
    /// Puts an offer in force. It has been judged: everything in it is free,
    /// or the module's own.
    func add(_ offer: Hello.Offer, to module: ModuleRecord) {
        for interface in offer.interfaces {
            let known = routes.interface(interface.name)
            let record =
                known?.owner === module
                ? known! : InterfaceRecord(name: interface.name, owner: module, isDeclared: false)
            if !record.isLive { module.session.add(record) }
            record.isLive = true
            record.instances = interface.instances
            record.actions = interface.actions
            routes.add(record)
        }
        var isReplacing = false
        for url in offer.urls {
            let present = routes.target(url)
            if let present, present.owner === module, present.isLive {
                present.isLive = false
                isReplacing = true
            }
            let target = URLTarget(url, owner: module, declared: present?.declared, isLive: true)
            _ = try? routes.urls.replace(url.pattern, host: url.host, value: target)
            module.session.add(target)
        }
        if isReplacing { module.session.removeDeadURLs() }
    }

    /// A session has ended: what no row declares goes with it.
    func removeOffers(of module: ModuleRecord) {
        for interface in module.session.takeInterfaces() { remove(interface) }
        for url in module.session.takeURLs() { remove(url) }
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
        // Back to what the row says.
        guard let declared = url.declared else { return }
        let target = URLTarget(declared, owner: url.owner, declared: declared, isLive: false)
        _ = try? routes.urls.replace(declared.pattern, host: declared.host, value: target)
    }
}
