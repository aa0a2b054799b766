import StrataCore

/// The adapters: required interfaces that are met by other, provided ones (after ZIKRouter's
/// required and provided interfaces), with what is renamed on the way.
struct AdapterTable {
    /// The provided action to which an adapter leads a call of a required interface.
    struct Target {
        /// The provided interface.
        var interface: String
        /// The provider's name of the action.
        var action: String
        var adaptation: Adaptation
    }

    /// How the bodies of one action are renamed on their way.
    final class Adaptation {
        /// Applied in order: from the caller's names to the provider's.
        let params: [MemberRenaming]
        /// Applied in order: from the provider's names to the caller's.
        let result: [MemberRenaming]

        init(params: [MemberRenaming], result: [MemberRenaming]) {
            self.params = params.filter { !$0.isEmpty }
            self.result = result.filter { !$0.isEmpty }
        }

        static func apply(_ steps: [MemberRenaming], to body: UnsafeRawBufferPointer, limit: Int) throws(BusError)
            -> [UInt8]
        {
            guard let first = steps.first else { return Array(body) }
            var bytes = try first.apply(to: body, limit: limit)
            for step in steps.dropFirst() {
                bytes = try bytes.withBytes { bytes throws(BusError) in try step.apply(to: bytes, limit: limit) }
            }
            return bytes
        }
    }

    /// A broadcast that observers of another name get too.
    struct NoticeAlias {
        /// The interface whose provider sends the broadcast.
        var provider: String
        var name: [UInt8]
        /// The name that the adapter gives the interface. It isn't used if a module provides that
        /// name itself.
        var adapter: String
    }

    private let chains: AdapterChains
    /// The aliases, by the provider's name of the notification.
    private var aliases: [String: [NoticeAlias]] = [:]

    var names: [String] { chains.names }
    var hasNotices: Bool { !aliases.isEmpty }

    init(_ list: [AppTable.Adapter]) {
        chains = AdapterChains(list)
        for alias in chains.noticeAliases {
            aliases[alias.original, default: []].append(
                NoticeAlias(provider: alias.provider, name: Array(alias.name.utf8), adapter: alias.adapter))
        }
    }

    /// Returns where a call to a required interface leads; nil if no adapter has it.
    /// - Parameter isProvided: whether a module provides an interface itself, which takes
    ///   precedence over an adapter.
    func target(_ interface: String, _ action: String, isProvided: (String) -> Bool) -> Target? {
        guard let chain = chains.chain(interface, action, isProvided: isProvided) else { return nil }
        let actions = chain.steps.compactMap(\.action)
        return Target(
            interface: chain.interface, action: chain.action,
            adaptation: Adaptation(
                params: actions.map { MemberRenaming($0.params) },
                // The manifest gives the caller's names first in results too, so the pairs are
                // reversed.
                result: actions.reversed().map { MemberRenaming($0.result).reversed }))
    }

    func noticeAliases(_ name: String) -> [NoticeAlias] { aliases[name] ?? [] }

    /// Returns the providers' names of the notifications that get this name, or one that this pattern matches, from an
    /// adapter.
    func originals(of observed: ObservedName) -> [ObservedName] {
        aliases.filter { aliases in
            aliases.value.contains { alias in
                guard observed.isPattern else { return alias.name == observed.text }
                return observed.text.withUnsafeBytes { text in
                    alias.name.withUnsafeBytes { NamePattern.matches(text, $0) }
                }
            }
        }.map { ObservedName(text: Array($0.key.utf8)) }
    }
}

/// Bodies that pass through an adapter.
extension BusCore {
    /// Returns a body with its members renamed. With this body, the frame that it came in must
    /// still be one that the broker accepts. So what the broker forwards is hardly larger than
    /// that.
    func renamed(_ steps: [MemberRenaming], _ header: borrowing Header, _ body: UnsafeRawBufferPointer)
        throws(BusError) -> [UInt8]
    {
        try checkDescriptors()
        let body = try bytes(body)
        let renamed = try AdapterTable.Adaptation.apply(steps, to: body, limit: table.limits.adapted)
        try require(
            takesFrame(header, body: renamed.count), .tooLarge,
            "an adapter makes \(renamed.count) bytes of a body of \(body.count), which with its header is over "
                + "\(frameLimits.frame) (limits.frame): send less at once, or raise it")
        turn.hasReadBody()
        return renamed
    }

    /// Whether a frame may have this header, as it came, and a body of this size.
    func takesFrame(_ header: borrowing Header, body count: Int) -> Bool {
        4 + Int(header.count) + count <= Int(frameLimits.frame)
    }

    /// Forwards a reply under the caller's names. If it can't be renamed, the call ends.
    @inline(never)
    func forwardAdapted(
        _ call: CallPointer, _ adaptation: AdapterTable.Adaptation, _ header: borrowing Header,
        _ body: UnsafeRawBufferPointer, from peer: Peer, to caller: Peer
    ) {
        guard !adaptation.result.isEmpty else { return forwardReply(call, header, body, from: peer, to: caller) }
        turn.interrupt()
        do throws(BusError) {
            let renamed = try renamed(adaptation.result, header, body)
            renamed.withUnsafeBytes { forwardReply(call, header, $0, from: peer, to: caller) }
        } catch {
            let code = turn.descriptors == nil ? error.code : Self.codeOfAnswer(error)
            let failure = BusError(code, error.message, ran: .yes)
            if header.more { failAndCancel(call, failure) } else { fail(call, failure) }
        }
    }

    /// Returns the names that adapters give to a module's broadcast.
    func noticeAliases(_ header: borrowing Header, from peer: Peer) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for alias in adapters.noticeAliases(header.name.text) {
            guard let provider = routes.interface(alias.provider), provider.owner === peer.module?.owning,
                routes.interface(alias.adapter) == nil
            else { continue }
            names.append(alias.name)
        }
        return names
    }
}
