import StrataCore

/// `bus/register` and `bus/unregister`: what a module provides beyond its hello.
extension BusCore {
    /// Registers everything in the call, or nothing. What the module has registered before is
    /// replaced, or extended with `add`. While a session registers what it brings in parts, a part
    /// may have all that hello may. The part without `more` lets the start begin, right after its
    /// answer.
    func register(_ call: BusCall) throws(BusError) {
        let (module, peer) = (call.module, call.peer)
        try onlyStaying(peer, module)
        var part = try Hello(part: call.body, of: module.name)
        let offering = peer.offering
        if offering == .over { try checkIsOffer(part) }
        // What a successor registers joins its hello's offer until it takes over.
        let successor = module.successor.flatMap { $0.peer === peer ? $0 : nil }
        let present = successor?.offer.interfaces ?? module.offeredInterfaces
        if part.offer.interfaces.contains(where: \.adds) {
            let byName = Dictionary(present.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            part.offer.interfaces = try part.offer.interfaces.map { (own) throws(BusError) in try joined(own, byName) }
        }
        let all = successor?.offer.adding(part.offer)
        let names = Set(part.offer.interfaces.map(\.name))
        let interfaces = present.filter { !names.contains($0.name) } + part.offer.interfaces
        try checkQuotas(part, interfaces, successor, all?.urls, module, peer)
        try checkTargets(of: part.offer.urls, among: interfaces)
        try checkInstances(of: part.offer, all?.urls.map(\.interface) ?? module.session.urls.map(\.interface), module)
        try checkOwners(part.offer, module, module.name)
        try checkFree(part.offer, of: module.owning)
        if offering != .over, !part.more { try checkProvided(Set(interfaces.map(\.name)), module) }
        try checkContracts(part.offer.interfaces, part.requires, of: module, module.name)
        // All checks have passed, so nothing below is refused.
        if let successor, let all {
            successor.add(part, offering: all)
        } else {
            add(part.offer, to: module)
            module.session.add(events: part.events, requires: part.requires)
            noteRequired(part.requires, by: module)
        }
        guard offering != .over else { return writeReply(peer, id: call.id) }
        if !part.more { endOffering(peer) }
        let numbers = observe(part, module, peer)
        writeReply(peer, id: call.id, ["subscriptions": .array(numbers.map { JSON($0) })])
        deliverRetained(to: peer)
        if !part.more { beginStart(of: module, peer, resumed: offering == .resuming) }
    }

    /// Refuses what may be declared only before the start.
    private func checkIsOffer(_ part: Hello) throws(BusError) {
        try require(
            part.observes.isEmpty && part.events.isEmpty && part.requires.isEmpty, .badParams,
            "bus/register takes observes, events and requires only if hello said \"more\" and the start has not "
                + "begun: call bus/observe, and send the rest in hello")
    }

    /// Returns an interface; with `add`, together with the actions that it already has.
    private func joined(_ own: Hello.Interface, _ present: [String: Hello.Interface]) throws(BusError)
        -> Hello.Interface
    {
        guard own.adds else { return own }
        guard var all = present[own.name] else {
            throw BusError(
                .badParams,
                "there is no interface \(own.name) yet that actions can be added to: register it without \"add\"")
        }
        guard let actions = all.actions else {
            throw BusError(
                .badParams, "\(own.name) takes any action, so none can be added: register it without \"add\"")
        }
        let further = own.actions ?? []
        let names = Set(further.map(\.name))
        all.actions = actions.filter { !names.contains($0.name) } + further
        return all
    }

    /// - Parameters:
    ///   - interfaces: all interfaces of the session, with those of this part.
    ///   - urls: all URLs of the successor, with those of this part; nil if the session isn't a
    ///     successor's.
    private func checkQuotas(
        _ part: Hello, _ interfaces: [Hello.Interface], _ successor: Successor?, _ urls: [Hello.URL]?,
        _ module: ModuleRecord, _ peer: Peer
    ) throws(BusError) {
        // The row's URLs count, whether the session names them too or not.
        var costs: [Int] = (module.row?.urls ?? []).map(\.cost)
        if let urls {
            costs += urls.filter { !isOfRow($0, module) }.map(\.cost)
        } else {
            costs += module.session.urls.filter { !$0.isDeclared }.map(\.cost)
            costs += part.offer.urls.filter { routes.target($0)?.owner !== module.owning }.map(\.cost)
        }
        let observes: [AppTable.Observed] = part.observes + observedByRowAlone(part, module, peer)
        let events: [String] = (successor?.events ?? Array(module.session.events)) + part.events
        let holdings = Holdings(
            interfaces: interfaces.count, urls: costs,
            observations: peer.observations.all.map(\.cost) + observes.map(\.cost),
            events: events.map(\.utf8.count))
        try holdings.checkCounts(table.limits, "\(module.name) would have", "may have", ": unregister some")
        try Hello.checkCount("actions", interfaces.reduce(0) { $0 + ($1.actions?.count ?? 0) })
        try Hello.checkCount("events", holdings.events.count)
        try Hello.checkCount(
            "requires", (successor?.requires.count ?? module.session.requires.count) + part.requires.count)
        try holdings.checkTexts(table.limits, "\(module.name) would have")
    }

    /// Returns what the module's row observes, but neither the peer nor this part; nothing before
    /// the last part.
    private func observedByRowAlone(_ part: Hello, _ module: ModuleRecord, _ peer: Peer) -> [AppTable.Observed] {
        guard !part.more, peer.offering != .over, let observes = module.row?.observes, !observes.isEmpty else {
            return []
        }
        let named = Set(peer.observations.all.map(\.terms.target) + part.observes.map(Observation.Target.init))
        return observes.filter { !named.contains(Observation.Target($0)) }
    }

    /// Checks that no interface with `instances: multiple` has URLs.
    /// - Parameter mapped: the interfaces that URLs already lead to.
    private func checkInstances(of offer: Hello.Offer, _ mapped: [String], _ module: ModuleRecord) throws(BusError) {
        guard offer.interfaces.contains(where: { $0.instances == .multiple }) else { return }
        let mapped = Set(mapped + module.mappings.map(\.interface))
        for interface in offer.interfaces where interface.instances == .multiple && mapped.contains(interface.name) {
            throw BusError(.badParams, "\(interface.name) has URLs, so it can't have instances: multiple")
        }
    }

    func unregister(_ call: BusCall) throws(BusError) -> JSON {
        let module = call.module
        try onlyServing(call.peer, module)
        let offer = try Hello.Offer(try call.params())
        var interfaces: [InterfaceRecord] = []
        for named in offer.interfaces {
            guard let own = routes.interface(named.name), own.owner === module.owning, module.session.has(own) else {
                throw BusError(.unknownInterface, "\(module.name) has no interface \(named.name) to unregister")
            }
            try require(
                !own.isDeclared, .forbidden, "\(named.name) is provided by the row of \(module.name), so it stays")
            interfaces.append(own)
        }
        var urls: [URLTarget] = []
        for named in offer.urls {
            guard let own = routes.target(named), own.owner === module.owning, module.session.has(own) else {
                throw BusError(.unknownPath, "\(module.name) has no URL \(named.text) to unregister")
            }
            try require(
                !own.isDeclared, .forbidden,
                "\(named.text) is mapped by the row of \(module.name), so it stays")
            urls.append(own)
        }
        // All checks have passed, so a refused call has changed nothing. A URL is removed with the
        // interface that it leads to.
        let names = Set(interfaces.map(\.name))
        urls += module.session.urls.filter { url in
            names.contains(url.interface) && !urls.contains { $0 === url }
        }
        // The session has them no more when they are removed, because another replica's may have them.
        for url in urls { module.session.remove(url) }
        for interface in interfaces { module.session.remove(interface) }
        for url in urls { remove(url) }
        for interface in interfaces { remove(interface) }
        return .object([])
    }
}
