/// Where the adapters of an app lead, each followed to its end.
public struct AdapterChains: Sendable {
    /// One adapter on the way of a call.
    public struct Step: Sendable, Equatable {
        public var adapter: AppTable.Adapter
        /// What it does to the call's action; nil where the action passes under
        /// its own name.
        public var action: AppTable.AdaptedAction?
    }

    /// The way of a call from a required interface to a provided one.
    public struct Chain: Sendable, Equatable {
        /// One at least, in the order in which the call passes them.
        public var steps: [Step]
        /// What the last adapter leads to.
        public var interface: String
        /// The action's name there.
        public var action: String
    }

    /// A broadcast that observers of another name get too.
    public struct NoticeAlias: Sendable, Equatable {
        /// The interface whose provider's broadcasts are meant.
        public var provider: String
        /// The provider's name of the notification.
        public var original: String
        /// The name that observers of the adapter use.
        public var name: String
        /// The adapter's own name: one that a module provides itself is beaten.
        public var adapter: String
    }

    private let adapters: [String: AppTable.Adapter]
    /// In the adapters' order.
    public let noticeAliases: [NoticeAlias]

    /// Follows them; a cycle ends where it began.
    public init(_ list: [AppTable.Adapter]) {
        let adapters = Dictionary(list.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var aliases: [NoticeAlias] = []
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
            aliases += known.map { pair in
                NoticeAlias(provider: step.to, original: pair.old, name: pair.new, adapter: adapter.name)
            }
        }
        self.adapters = adapters
        noticeAliases = aliases
    }

    public var isEmpty: Bool { adapters.isEmpty }

    /// The adapters' names, sorted.
    public var names: [String] { adapters.keys.sorted() }

    /// Where a call to a required interface leads; nil where no adapter has it.
    /// - Parameter isProvided: whether a module provides an interface itself,
    ///   which beats an adapter.
    public func chain(_ interface: String, _ action: String, isProvided: (String) -> Bool) -> Chain? {
        guard !adapters.isEmpty, var adapter = adapters[interface] else { return nil }
        var (action, steps) = (action, [Step]())
        var seen: Set<String> = []
        while seen.insert(adapter.name).inserted {
            let adapted = adapter.actions.first { $0.name == action }
            steps.append(Step(adapter: adapter, action: adapted))
            if let adapted { action = adapted.to }
            guard !isProvided(adapter.to), let next = adapters[adapter.to] else { break }
            adapter = next
        }
        return Chain(steps: steps, interface: adapter.to, action: action)
    }
}
