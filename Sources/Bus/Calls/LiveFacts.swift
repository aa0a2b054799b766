import StrataCore

/// What the bus knows of a message that it has in hand: the judge asks for it.
struct LiveFacts: MessageFacts {
    let core: BusCore
    let kind: MessageKind
    let peer: Peer
    /// Who is called or reported to; nil where the message names no module.
    var owner: ModuleRecord?
    var interface: InterfaceRecord?
    /// Of the action, without one of an interface in general; of a notification; of an event.
    var name = UnsafeRawBufferPointer.none
    /// The interface that the caller named, where an adapter leads on from it: that one
    /// must be declared.
    var required: String?
    /// The number of the instance that is called; 0 where it is no number.
    var instance: UInt64?
    var skipsAuthorization = false
    var startStep: StartStep?

    var policy: AppTable.CallPolicy { core.table.calls }
    var sender: PeerRole { peer.role }
    /// That of the sender's session, which may be another than the one that serves its module.
    var rank: Int { peer.rank }
    var targetRank: Int { owner?.rank ?? 0 }
    var isOwn: Bool { owner != nil && owner === peer.module }
    /// The look-up that found the owner has judged it.
    var existence: Existence? { .found }
    var isTrusted: Bool { peer.module?.row?.trusted == true }
    var isOfTheApp: Bool { name.text.hasPrefix("app.") }

    var isDeclared: Bool {
        guard let module = peer.module else { return false }
        switch kind {
        case .call, .open:
            let requires = module.row?.requires ?? []
            // An instance has the provider's name, also where it was created by the one that
            // is declared.
            return requires.contains(required ?? interface?.name ?? "")
                || instance != nil && requires.contains { core.adapted($0) === interface }
        case .report: return module.declared.reports[owner?.name ?? ""]?.contains(name.text) == true
        case .broadcast: return module.declared.broadcasts.contains(name.text)
        case .event: return module.declared.emits.contains(name.text)
        }
    }

    /// `Interface/action`, as its owner sees it.
    var action: String { "\(interface?.name ?? "")/\(name.text)" }
    var isSetAside: Bool? { setAside != nil }
    var setAside: ActionDeaths.Entry? { owner.flatMap { core.setAside($0, action) } }

    var presence: Presence? {
        owner.map { $0.isReady && $0.peer != nil ? .ready : core.canBeWaitedFor($0) ? .expected : .absent }
    }
    var startsLater: Bool {
        guard let module = peer.module, let owner else { return false }
        return ModuleTable.startsBefore(module, owner)
    }

    /// Known while the owner has a session.
    var offer: Offer? {
        guard let interface, owner?.peer != nil else { return nil }
        if interface.isLive { return .brought }
        if let now = core.routes.interface(interface.name), now !== interface { return .moved }
        return interface.isDeclared ? .missing : .nobodys
    }
    var hasAction: Bool? {
        guard let interface, !name.isEmpty else { return nil }
        return interface.actions == nil || interface.action(name) != nil
    }
    var hasInstances: Bool? { offer == .brought ? interface?.instances == .multiple : nil }
    var namesInstance: Bool { instance != nil }
    var isSendersInstance: Bool? {
        guard let instance = instance.flatMap({ core.instances.find($0) }) else { return false }
        return instance.creator === peer && instance.interface === interface
    }

    var needsAuthorization: Bool? { interface?.action(name)?.needsAuthorization == true }
    var isAuthorizers: Bool { interface?.name == core.table.authorizer }
    var hasAuthorizer: Bool? { core.authorizer != nil }
}
