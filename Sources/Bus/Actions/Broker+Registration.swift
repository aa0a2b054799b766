import StrataCore

/// `bus/register` and `bus/unregister`: what a module provides beside its hello.
extension Broker {
    /// All or nothing; again for one's own replaces.
    /// - Parameter successor: where the caller has not taken over yet: then what
    ///   it registers joins what its hello brought.
    func register(_ body: UnsafeRawBufferPointer, _ module: ModuleRecord, _ successor: Successor?) throws(BusError)
        -> JSON
    {
        var reader = try MemberReader(body: body, of: "bus/register")
        let offer = try Hello.Offer(&reader)
        let all = (successor?.offer ?? module.offer).adding(offer)
        try checkQuotas(all, module)
        try checkInterfaces(of: offer, among: all, module)
        try checkOwners(offer, module.name)
        try checkFree(offer, of: module)
        if let successor { successor.offer = all } else { add(offer, to: module) }
        return .object([])
    }

    private func checkQuotas(_ all: Hello.Offer, _ module: ModuleRecord) throws(BusError) {
        let quotas = [
            ("interfaces", all.interfaces.count, table.limits.interfaces), ("URLs", all.urls.count, table.limits.urls),
        ]
        for (what, count, limit) in quotas where count > limit {
            throw BusError(
                .overloaded,
                "\(module.name) would have \(count) \(what), and may have \(limit) (limits.\(what.lowercased())): "
                    + "unregister some")
        }
        try Hello.checkCount("actions", all.interfaces.reduce(0) { $0 + ($1.actions?.count ?? 0) })
    }

    /// URLs lead where they may, and no interface that has some gets instances.
    private func checkInterfaces(of offer: Hello.Offer, among all: Hello.Offer, _ module: ModuleRecord) throws(BusError)
    {
        try checkTargets(of: offer.urls, among: all.interfaces)
        for interface in offer.interfaces where interface.instances == .multiple {
            let isMapped = (module.row?.urls ?? []).contains { $0.to.hasPrefix("\(interface.name)/") }
            guard !isMapped, !all.urls.contains(where: { $0.interface == interface.name }) else {
                throw BusError(.badParams, "\(interface.name) has URLs, so it can't have instances: multiple")
            }
        }
    }

    func unregister(_ body: UnsafeRawBufferPointer, _ module: ModuleRecord) throws(BusError) -> JSON {
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
            if !urls.contains(where: { $0 === own }) { urls.append(own) }
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
