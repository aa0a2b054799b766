extension AppTable.Adapter {
    func json() -> JSON {
        [
            "name": .string(name), "to": .string(to), "actions": .array(actions.map { $0.json() }),
            "notices": .array(notices.map { $0.json() }),
        ]
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["name", "to", "actions", "notices"])
        self.init(name: try value.required("name").string(), to: try value.required("to").string())
        try value.read("actions", into: &actions) { (v) throws(AppTableError) in
            try v.list { (action) throws(AppTableError) in try AppTable.AdaptedAction(action) }
        }
        try value.read("notices", into: &notices) { (v) throws(AppTableError) in try v.renames() }
    }
}

extension AppTable.AdaptedAction {
    func json() -> JSON {
        [
            "name": .string(name), "to": .string(to), "params": .array(params.map { $0.json() }),
            "result": .array(result.map { $0.json() }),
        ]
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["name", "to", "params", "result"])
        self.init(name: try value.required("name").string(), to: try value.required("to").string())
        try value.read("params", into: &params) { (v) throws(AppTableError) in try v.renames() }
        try value.read("result", into: &result) { (v) throws(AppTableError) in try v.renames() }
    }
}

extension AppTable.Rename {
    func json() -> JSON { ["from": .string(from), "to": .string(to)] }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["from", "to"])
        self.init(from: try value.required("from").string(), to: try value.required("to").string())
    }
}

extension TableValue {
    func renames() throws(AppTableError) -> [AppTable.Rename] {
        try list { (rename) throws(AppTableError) in try AppTable.Rename(rename) }
    }
}

/// The adapters of an app, each of which can be followed to its end.
public struct AdapterChains: Sendable {
    /// One adapter that a call passes.
    public struct Step: Sendable, Equatable {
        public var adapter: AppTable.Adapter
        /// How the adapter changes the call's action; nil if the action keeps its name.
        public var action: AppTable.AdaptedAction?
    }

    /// The path of a call from a required interface to a provided one.
    public struct Chain: Sendable, Equatable {
        /// The adapters in the order in which the call passes them; at least one.
        public var steps: [Step]
        /// The interface that the last adapter leads to.
        public var interface: String
        /// The action's name in that interface.
        public var action: String
    }

    /// A second name under which observers get a broadcast.
    public struct NoticeAlias: Sendable, Equatable {
        /// The interface of the module that broadcasts.
        public var provider: String
        /// The provider's name for the notification.
        public var original: String
        /// The name that observers of the adapter use.
        public var name: String
        /// The adapter's own name; if a module provides that interface itself, the alias doesn't
        /// apply.
        public var adapter: String
    }

    private let adapters: [String: AppTable.Adapter]
    /// The aliases in the order of their adapters.
    public let noticeAliases: [NoticeAlias]

    /// Follows the adapters; a cycle ends where it began.
    public init(_ list: [AppTable.Adapter]) {
        let adapters = Dictionary(list.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var aliases: [NoticeAlias] = []
        for adapter in list {
            // Pairs of the adapter's own name for a notice and the name it stands for at this step.
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

    /// Returns the path of a call to a required interface; nil if no adapter has that name.
    /// - Parameter isProvided: whether a module provides an interface itself, which beats an
    ///   adapter.
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
