import StrataCore

/// The declarations of rows: what they provide and map. They are put in force at the start and
/// after each reload. From then on, what a row names belongs to its module alone, whichever module
/// had it before.
extension BusCore {
    func declareInterfaces() {
        var owners: [String: ModuleRecord] = [:]
        for module in modules.rows where !module.isRemoved {
            for name in module.row?.provides ?? [] { owners[name] = module.owning }
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
        // Adapters alone may have changed where a name leads.
        routes.forgetRoutes()
    }

    /// Removes from the offers of successors what now belongs to another module by its row.
    func takeAwayFromSuccessors() {
        for module in modules.rows {
            guard let successor = module.successor else { continue }
            var offer = successor.offer
            offer.interfaces.removeAll { own in
                routes.interface(own.name).map { $0.isDeclared && $0.owner !== module.owning } ?? false
            }
            let kept = Set(offer.interfaces.map(\.name))
            offer.urls.removeAll { url in
                guard kept.contains(url.interface) else { return true }
                return routes.target(url).map { $0.isDeclared && $0.owner !== module.owning } ?? false
            }
            successor.take(offer)
        }
    }

    /// Removes from a module what it has lost: interfaces that now belong to another module, and
    /// the URLs that lead to them.
    private func forgetLost(_ owner: ModuleRecord) {
        for module in owner.bringers { forgetOwnLost(module) }
    }

    private func forgetOwnLost(_ module: ModuleRecord) {
        let lost = Set(module.session.interfaces.lazy.filter { !$0.isLive }.map(\.name))
        module.session.removeDeadInterfaces()
        for url in module.session.urls where lost.contains(url.interface) {
            routes.urls.remove(url.pattern, host: url.host)
            url.isLive = false
        }
        module.session.removeDeadURLs()
    }

    /// Withdraws the rows' mappings. What a session registered remains.
    func withdrawURLs() {
        for module in modules.rows {
            for mapping in module.mappings {
                guard let target = routes.target(mapping), target.owner === module.owning else { continue }
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
                    if target.owner === module.owning {
                        target.declared = mapping
                        continue
                    }
                    target.isLive = false
                    losers[target.owner.number] = target.owner
                }
                let target = URLTarget(mapping, owner: module.owning, declared: mapping, isLive: false)
                // A row's mapping is put in force whatever sessions have registered, without the
                // limit on shapes.
                _ = try? routes.urls.replace(mapping.pattern, host: mapping.host, value: target)
            }
        }
        for loser in losers.values { for module in loser.bringers { module.session.removeDeadURLs() } }
    }
}

/// The offers of modules: by their rows, their hello, and `bus/register`.
extension BusCore {
    /// Puts an offer in force. It has passed its checks: everything in it is free, or already
    /// belongs to the module.
    func add(_ offer: Hello.Offer, to module: ModuleRecord) {
        let owner = module.owning
        for interface in offer.interfaces {
            // A record is reused, because calls and instances may refer to it.
            let known = routes.interface(interface.name)
            let record =
                known?.owner === owner
                ? known! : InterfaceRecord(name: interface.name, owner: owner, isDeclared: false)
            if !record.isLive || owner !== module && !module.session.has(record) { module.session.add(record) }
            record.isLive = true
            record.instances = interface.instances
            record.version = interface.version
            record.actions = interface.actions
            routes.add(record)
        }
        var isReplacing = false
        for url in offer.urls {
            let present = routes.target(url)
            if let present, present.owner === owner, present.isLive {
                // Another replica may have brought the same.
                if owner !== module, present.interface == url.interface, present.action == url.action {
                    if !module.session.has(present) { module.session.add(present) }
                    continue
                }
                present.isLive = false
                isReplacing = true
            }
            let target = URLTarget(url, owner: owner, declared: present?.declared, isLive: true)
            _ = try? routes.urls.replace(url.pattern, host: url.host, value: target)
            module.session.add(target)
        }
        if isReplacing { for member in owner.bringers { member.session.removeDeadURLs() } }
    }

    /// Removes what the module's ended session offered; what rows declare remains declared.
    func removeOffers(of module: ModuleRecord) {
        for interface in module.session.takeInterfaces() { remove(interface) }
        for url in module.session.takeURLs() { remove(url) }
    }

    /// Removes what a session offered, unless another replica of its row still offers it.
    func remove(_ interface: InterfaceRecord) {
        if interface.owner.replicas != nil, interface.owner.bringers.contains(where: { $0.session.has(interface) }) {
            return
        }
        interface.isLive = false
        // Another session may have registered the same name meanwhile.
        guard routes.interface(interface.name) === interface else { return }
        if interface.isDeclared {
            // The row still provides it; only what the session said is gone.
            interface.actions = nil
            interface.version = nil
            routes.forgetRoutes()
        } else {
            routes.remove(interface)
        }
    }

    func remove(_ url: URLTarget) {
        if url.owner.replicas != nil, url.owner.bringers.contains(where: { $0.session.has(url) }) { return }
        // Another session may have mapped the same meanwhile.
        guard routes.urls.value(of: url.pattern, host: url.host) === url else { return }
        routes.urls.remove(url.pattern, host: url.host)
        // The row's mapping is in force again.
        guard let declared = url.declared else { return }
        let target = URLTarget(declared, owner: url.owner, declared: declared, isLive: false)
        _ = try? routes.urls.replace(declared.pattern, host: declared.host, value: target)
    }
}
