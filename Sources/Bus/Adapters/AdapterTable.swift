import StrataCore

/// Required interfaces met by other, provided ones (after ZIKRouter's required
/// and provided interfaces), with what is renamed on the way.
struct AdapterTable {
    /// What becomes of a call to a required interface's action.
    struct Target {
        /// The provided interface.
        var interface: String
        /// The provider's name of the action.
        var action: String
        var adaptation: Adaptation
    }

    /// How the bodies of one action change on their way.
    final class Adaptation {
        /// One after another, from the caller's names to the provider's.
        let params: [MemberRenaming]
        /// One after another, from the provider's names to the caller's.
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
        /// The interface whose provider's broadcasts are meant.
        var provider: String
        var name: [UInt8]
        /// The adapter's own name: one that a module provides itself is beaten.
        var adapter: String
    }

    private let chains: AdapterChains
    /// By the provider's name of the notification.
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

    /// Where a call to a required interface leads; nil where no adapter has it.
    /// - Parameter isProvided: whether a module provides an interface itself,
    ///   which beats an adapter.
    func target(_ interface: String, _ action: String, isProvided: (String) -> Bool) -> Target? {
        guard let chain = chains.chain(interface, action, isProvided: isProvided) else { return nil }
        let actions = chain.steps.compactMap(\.action)
        return Target(
            interface: chain.interface, action: chain.action,
            adaptation: Adaptation(
                params: actions.map { MemberRenaming($0.params) },
                // The caller's names stand first there too.
                result: actions.reversed().map { MemberRenaming($0.result).reversed }))
    }

    func noticeAliases(_ name: String) -> [NoticeAlias] { aliases[name] ?? [] }
}
