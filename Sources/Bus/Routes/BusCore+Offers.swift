import StrataCore

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
