import StrataCore

/// An index of a table's rows by what they provide, observe and send.
struct TableIndex {
    /// A row's broadcast, as a source of a name that is observed.
    struct Source {
        var row: AppTable.Row
        /// The name that the row gives it.
        var name: String
        /// The adapter that renames it for the observers; nil if it keeps its name.
        var adapter: String?
    }

    let table: AppTable
    let chains: AdapterChains
    /// The rows that provide an interface directly.
    private(set) var providers: [String: AppTable.Row] = [:]
    /// The names that rows observe as such, not by a pattern.
    var observedNames: Set<String> { Set(observers.keys) }
    private var observers: [String: [AppTable.Row]] = [:]
    /// The rows that observe patterns, in their order.
    private var patternObservers: [AppTable.Row] = []
    /// The names of all interfaces that can be called.
    let interfaces: [String]
    /// The names of all notifications that a row sends, or that an adapter gives.
    let sentNames: [String]
    private var rows: [String: AppTable.Row] = [:]
    /// The broadcasts that observers of a name get.
    private var sources: [String: [Source]] = [:]
    /// Their names, in alphabetical order.
    private var sourceNames: [String] = []
    /// The aliases of a notification, by its provider's name for it.
    private var aliases: [String: [AdapterChains.NoticeAlias]] = [:]

    init(_ table: AppTable) {
        self.table = table
        chains = AdapterChains(table.adapters)
        for row in table.modules {
            rows[row.name] = row
            for interface in row.provides where providers[interface] == nil { providers[interface] = row }
            for name in Set(row.observes.filter { !$0.isPattern }.map(\.name)) {
                observers[name, default: []].append(row)
            }
            if row.observes.contains(where: \.isPattern) { patternObservers.append(row) }
        }
        interfaces = providers.keys.sorted() + chains.names
        sentNames = Set(
            table.modules.flatMap { $0.broadcasts + $0.reports.flatMap(\.names) } + chains.noticeAliases.map(\.name)
        ).sorted()
        for alias in chains.noticeAliases where providers[alias.adapter] == nil {
            aliases[alias.original, default: []].append(alias)
        }
        for row in table.modules {
            for name in row.broadcasts {
                sources[name, default: []].append(Source(row: row, name: name))
                for alias in aliases(ofBroadcast: name, by: row) {
                    sources[alias.name, default: []].append(Source(row: row, name: name, adapter: alias.adapter))
                }
            }
        }
        sourceNames = sources.keys.sorted()
    }

    /// Returns the row of a module, or of one of its replicas.
    func row(_ name: String) -> AppTable.Row? { rows[ReplicaName.row(of: name)] }

    func level(_ row: AppTable.Row) -> String { table.levels[row.rank] }

    /// Returns the adapters between a caller and the provider of an interface; nil if a row
    /// provides it directly, or no adapter has it.
    func chain(_ interface: String, _ action: String) -> AdapterChains.Chain? {
        guard providers[interface] == nil else { return nil }
        return chains.chain(interface, action) { providers[$0] != nil }
    }

    /// Returns the row that answers calls to an interface: the one that provides it, or else the
    /// one at the end of its adapters.
    func provider(of interface: String) -> AppTable.Row? {
        providers[interface] ?? chain(interface, "").flatMap { providers[$0.interface] }
    }

    /// Returns the names of a row's broadcast for observers: its own name, then those that adapters
    /// give it.
    func names(ofBroadcast name: String, by row: AppTable.Row) -> [String] {
        [name] + aliases(ofBroadcast: name, by: row).map(\.name)
    }

    /// Returns the rows that observe a notification.
    func observers(of name: String) -> [AppTable.Row] {
        let byName = observers[name] ?? []
        let byPattern = patternObservers.filter { row in
            row.observes.contains { $0.isPattern && $0.isOf(name) } && !byName.contains { $0.name == row.name }
        }
        return byName + byPattern
    }

    /// Returns the broadcasts of all rows that observers of a name get.
    func sources(of name: String) -> [Source] { sources[name] ?? [] }

    /// Returns the broadcasts of all rows that an observation is of.
    func sources(of observed: AppTable.Observed) -> [Source] {
        guard observed.isPattern else { return sources(of: observed.name) }
        return sourceNames.filter(observed.isOf).flatMap { sources(of: $0) }
    }

    private func aliases(ofBroadcast name: String, by row: AppTable.Row) -> [AdapterChains.NoticeAlias] {
        (aliases[name] ?? []).filter { providers[$0.provider]?.name == row.name }
    }
}

extension Manifest {
    /// Returns the manifest with the declarations of the modules added to their rows, as the bus
    /// knows them once all modules have said hello.
    ///
    /// Under `calls: declared`, only the row counts for what is sent, so that is not added.
    public func completed(by descriptions: [String: ModuleDescription]) -> Manifest {
        var manifest = self
        for index in manifest.table.modules.indices {
            guard let description = descriptions[manifest.table.modules[index].name] else { continue }
            manifest.table.modules[index].add(description, sends: table.calls != .declared)
        }
        return manifest
    }
}

extension AppTable.Row {
    fileprivate mutating func add(_ description: ModuleDescription, sends: Bool) {
        provides += description.interfaces.map(\.name).filter { !provides.contains($0) }
        let named = Set(requires.map(\.name))
        requires += description.requires.filter { !named.contains($0.name) }
        for observed in description.observes {
            // If both declare an observation, the module's `keep` counts.
            if let place = observes.firstIndex(where: { $0.isSame(as: observed) }) {
                observes[place].keep = observed.keep
            } else {
                observes.append(observed)
            }
        }
        urls += description.urls.filter { !urls.contains($0) }
        // A report to a later level is refused, whether the row or the module declares it.
        for report in description.reports {
            guard let place = reports.firstIndex(where: { $0.module == report.module }) else {
                reports.append(sends ? report : .init(module: report.module, names: []))
                continue
            }
            guard sends else { continue }
            reports[place].names += report.names.filter { !reports[place].names.contains($0) }
        }
        if sends { broadcasts += description.broadcasts.filter { !broadcasts.contains($0) } }
    }
}
