import StrataCore

/// Required interfaces met by other, provided ones (after ZIKRouter's required
/// and provided interfaces). Chains are followed once, when the table is made.
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
            var bytes: [UInt8]?
            for step in steps {
                let renamed = Result { () throws(BusError) -> [UInt8] in
                    guard let bytes else { return try step.apply(to: body, limit: limit) }
                    return try Self.applyStep(step, to: bytes, limit: limit)
                }
                bytes = try renamed.get()
            }
            return bytes ?? Array(body)
        }

        private static func applyStep(_ step: MemberRenaming, to bytes: [UInt8], limit: Int) throws(BusError) -> [UInt8]
        {
            let result = bytes.withUnsafeBytes { raw -> Result<[UInt8], BusError> in
                do throws(BusError) { return .success(try step.apply(to: raw, limit: limit)) } catch {
                    return .failure(error)
                }
            }
            return try result.get()
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

    private let adapters: [String: AppTable.Adapter]
    /// By the provider's name of the notification.
    private var aliases: [String: [NoticeAlias]] = [:]

    var names: [String] { adapters.keys.sorted() }
    var isEmpty: Bool { adapters.isEmpty }
    var hasNotices: Bool { !aliases.isEmpty }

    init(_ list: [AppTable.Adapter]) {
        adapters = Dictionary(list.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for adapter in list {
            // The adapter's names of notices, and the provider's that they stand for.
            var known = adapter.notices.map { (old: $0.from, new: $0.to) }
            var step = adapter
            var seen: Set<String> = [adapter.name]
            while let next = adapters[step.to], seen.insert(next.name).inserted {
                known = known.map { pair in
                    (next.notices.first { $0.to == pair.old }?.from ?? pair.old, pair.new)
                }
                step = next
            }
            for pair in known {
                aliases[pair.old, default: []].append(
                    NoticeAlias(provider: step.to, name: Array(pair.new.utf8), adapter: adapter.name))
            }
        }
    }

    /// Where a call to a required interface leads; nil where no adapter has it.
    /// - Parameter isProvided: whether a module provides an interface itself,
    ///   which beats an adapter.
    func target(_ interface: String, _ action: String, isProvided: (String) -> Bool) -> Target? {
        guard !adapters.isEmpty, var adapter = adapters[interface] else { return nil }
        var (action, params, result) = (action, [MemberRenaming](), [MemberRenaming]())
        var seen: Set<String> = []
        while seen.insert(adapter.name).inserted {
            if let adapted = adapter.actions.first(where: { $0.name == action }) {
                action = adapted.to
                params.append(MemberRenaming(adapted.params))
                // The caller's names stand first there too.
                result.insert(MemberRenaming(adapted.result).reversed, at: 0)
            }
            guard !isProvided(adapter.to), let next = adapters[adapter.to] else { break }
            adapter = next
        }
        return Target(
            interface: adapter.to, action: action, adaptation: Adaptation(params: params, result: result))
    }

    func noticeAliases(_ name: String) -> [NoticeAlias] { aliases[name] ?? [] }
}
