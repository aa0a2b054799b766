import StrataCore

/// The facts about the message that the bus is handling, for the judge.
struct LiveFacts: MessageFacts {
    let core: BusCore
    let kind: MessageKind
    let peer: Peer
    /// The module that is called or reported to; nil if the message names none.
    var owner: ModuleRecord?
    var interface: InterfaceRecord?
    /// The name of the action, notification or event; empty for an interface as a whole.
    var name = UnsafeRawBufferPointer.none
    /// The interface that the caller named, if an adapter leads from it to another one. It is the
    /// one that must be declared.
    var required: String?
    /// The number of the called instance; 0 if it isn't a number.
    var instance: UInt64?
    var skipsAuthorization = false
    var startStep: StartStep?
    /// The owner's peer on the node that the sender named; nil if it named none.
    var named: RemotePeer?

    var policy: AppTable.CallPolicy { core.table.calls }
    var sender: PeerRole { peer.role }
    /// The rank of the sender's session, which may not be the session that serves its module.
    var rank: Int { peer.rank }
    var targetRank: Int { owner?.rank ?? 0 }
    /// Whether it is the sender, or the group that the sender is a replica of.
    var isOwn: Bool {
        guard let owner, let module = peer.module, named == nil else { return false }
        return owner === module || owner === module.group
    }
    /// The look-up that found the owner has checked this already.
    var existence: Existence? { .found }
    var isTrusted: Bool { peer.module?.row?.trusted == true }
    /// The bus decides calls of `launcher` elsewhere.
    var isManaging: Bool { false }
    var isOfTheApp: Bool { name.text.hasPrefix("app.") }

    var isDeclared: Bool {
        guard let module = peer.module else { return false }
        switch kind {
        case .call, .open:
            let requires = module.row?.requires ?? []
            // An instance has the provider's name, even if it was created through the declared
            // interface of an adapter.
            let name = required ?? interface?.name ?? ""
            return requires.contains { $0.name == name }
                || instance != nil && requires.contains { core.adapted($0.name) === interface }
        case .report: return module.declared.reports[owner?.owning.name ?? ""]?.contains(name.text) == true
        case .broadcast: return module.declared.broadcasts.contains(name.text)
        case .event: return module.declared.emits.contains(name.text)
        }
    }

    /// `Interface/action`, as its owner sees it.
    var action: String { "\(interface?.name ?? "")/\(name.text)" }
    var reach: Reach? { named == nil ? owner.flatMap(core.reach) : .connected }
    var isQuarantined: Bool? { named == nil ? quarantine != nil : false }
    var quarantine: ActionDeaths.Entry? { owner.flatMap { core.quarantine($0, action) } }

    var presence: Presence? {
        if let named { return named.isReady ? .ready : .expected }
        if let owner, let reach = core.reach(owner) {
            guard reach == .connected else { return .absent }
            return owner.remotes.contains { $0.isRouted && $0.isReady } ? .ready : .expected
        }
        return owner.map { $0.isServing ? .ready : core.canBeWaitedFor($0) ? .expected : .absent }
    }
    var startsLater: Bool {
        // Each node starts by itself.
        guard let module = peer.module, let owner, named == nil, !core.isElsewhere(owner) else { return false }
        return ModuleTable.startsBefore(module, owner)
    }

    /// Known only while the owner has a session.
    var offer: Offer? {
        guard let interface, owner?.hasSession == true else { return nil }
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

/// The messages that a sender gets: what was asked, what was found, and what to do.
extension LiveFacts {
    /// Returns the first refusal among some of the checks.
    func error(_ checks: ClosedRange<Check>) -> BusError? { refusal(checks).map(error) }

    func check(_ checks: ClosedRange<Check>) throws(BusError) {
        if let refusal = error(checks) { throw refusal }
    }

    func error(_ refusal: Refusal) -> BusError { BusError(refusal.code, message(refusal)) }

    private var from: String { peer.displayName }
    private var wanted: String { interface?.name ?? "" }
    private var owning: String { owner?.name ?? "" }
    private var levels: (own: String, other: String) { (core.levels.names[rank], core.levels.names[targetRank]) }

    private func message(_ refusal: Refusal) -> String {
        switch refusal {
        case .malformed, .unknownModule, .url, .ofTheBroker, .ofOperators:
            preconditionFailure("existence is told where it is looked up: \(refusal)")
        case .unknownInterface: return core.unknownInterface(wanted).message
        case .launcher: return launchersMessage
        case .otherApp: return "\(from) may only open this app's public URLs"
        case .nodeLink: return "the link may call only bus"
        case .skipInOpen: return "an open said auth: skip: only calls may"
        case .untrusted:
            return "\(from) said auth: skip, and its row isn't trusted"
                + (interface == nil ? "" : ": call without it, or set trusted: true")
        case .level: return levelMessage
        case .undeclared: return declarationMessage
        case .unlistedEvent: return "the row of \(from) doesn't list \(name.text) in emits: add it there"
        case .unreachable: return owner.map(core.unreachable)?.message ?? ""
        case .quarantine: return quarantineMessage
        case .absent: return owner.map(core.unavailable)?.message ?? ""
        case .waitsInSetUp:
            // At the app's start, no eager module is ready while another is in `setUp`.
            return
                "\(owning) isn't ready, and the request was made in setUp of \(from), which must not wait: make it "
                + "in \(isOwn || startsLater ? "didStart" : "initialize"), or observe"
        case .waitsForItself:
            return "\(from) sent a request to itself in its initialize, and is ready only after that: make the "
                + "request in didStart"
        case .waitsForLater:
            return "\(owning) starts after \(from), and the request was made in its initialize: a module that starts "
                + "can't wait for one that starts after it; make it in didStart"
        case .moved:
            let now = core.routes.interface(wanted)?.owner.name ?? ""
            return "\(wanted) belonged to \(owning), and belongs to \(now) since the manifest was read again: try again"
        case .notBrought:
            return "\(owning) runs without \(wanted), which its row provides since the manifest was read again: "
                + "strata restart \(owning)"
        case .unknownAction: return actionMessage
        case .noInstances: return "\(wanted) has one instance: call it without a number"
        case .instanceMissing:
            return "\(wanted) is created per user: call bus/create first, then \(wanted)#N/action"
        case .unknownInstance: return "\(from) has created no instance \(wanted)#\(instance ?? 0), or it has ended"
        case .noAuthorizer:
            let number = instance.map { "#\($0)" } ?? ""
            return "\(wanted)\(number)/\(name.text) has auth: true, and the manifest names no authorizer: name one"
        }
    }

    private var launchersMessage: String {
        switch kind {
        case .call: "the launcher may call only bus, and called \(wanted)"
        case .open: "the launcher may call only bus, and opened a URL"
        case .report: "the launcher may not report"
        case .broadcast: "the launcher may not broadcast"
        case .event: "the launcher may emit only app.*, and emitted \(name.text)"
        }
    }

    private var levelMessage: String {
        kind == .report
            ? "\(from) of level \(levels.own) reported \(name.text) to \(owning) of the later level "
                + "\(levels.other): reports go to the same or an earlier level; broadcast it instead"
            : "\(from) of level \(levels.own) called \(wanted) of the later level \(levels.other), and calls are "
                + "\(policy.rawValue): broadcast it, or open a URL"
    }

    private var declarationMessage: String {
        switch kind {
        case .report:
            "\(from) of level \(levels.own) reported \(name.text) to \(owning) of level \(levels.other), and its "
                + "row's reports don't have it: add it there"
        case .broadcast:
            "\(from) of level \(levels.own) broadcast \(name.text) to later levels, and its row's broadcasts don't "
                + "have it: add it there"
        case .call, .open, .event:
            "\(from) of level \(levels.own) called \(required ?? wanted) of level \(levels.other) without requiring "
                + "it: add it to requires of its row"
        }
    }

    private var quarantineMessage: String {
        let left = ((quarantine?.quarantinedUntil ?? core.now) - core.now + 999) / 1_000
        return
            "\(action) is quarantined: \(owning) died \(quarantine?.deaths.count ?? 0) times while it was the only "
            + "open action; it can be called again in \(left) s, or after strata restart \(owning); strata ps "
            + "--why shows more"
    }

    private var actionMessage: String {
        let names = (interface?.actions ?? []).lazy.map(\.name)
        let hint = didYouMean(
            name.text, names,
            else:
                "it has \(names.prefix(10).joined(separator: ", "))\(names.count > 10 ? " and \(names.count - 10) more" : "")"
        )
        return "the interface \(wanted) has no action \(name.text): \(hint)"
    }
}
