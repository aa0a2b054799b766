import StrataCore

/// The rows of a table by what they provide and send.
struct TableIndex {
    /// A row's broadcast that observers of some name get.
    struct Source {
        var row: AppTable.Row
        /// The name that the row gives it.
        var name: String
        /// The adapter that gives it the observers' name, where it is another.
        var adapter: String?
    }

    let table: AppTable
    let chains: AdapterChains
    /// The row that provides an interface itself.
    private(set) var providers: [String: AppTable.Row] = [:]
    /// The rows that observe a name.
    private(set) var observers: [String: [AppTable.Row]] = [:]
    /// All names of interfaces that can be called.
    let interfaces: [String]
    /// All names of notifications that some row sends, or an adapter gives.
    let sentNames: [String]
    private var rows: [String: AppTable.Row] = [:]
    /// The broadcasts that observers of a name get.
    private var sources: [String: [Source]] = [:]
    /// By the provider's name of the notification.
    private var aliases: [String: [AdapterChains.NoticeAlias]] = [:]

    init(_ table: AppTable) {
        self.table = table
        chains = AdapterChains(table.adapters)
        for row in table.modules {
            rows[row.name] = row
            for interface in row.provides where providers[interface] == nil { providers[interface] = row }
            for name in Set(row.observes.map(\.name)) { observers[name, default: []].append(row) }
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
    }

    func row(_ name: String) -> AppTable.Row? { rows[name] }

    func level(_ row: AppTable.Row) -> String { table.levels[row.rank] }

    /// The adapters between a caller and the provider of an interface; nil where
    /// a row provides it itself, or no adapter has it.
    func chain(_ interface: String, _ action: String) -> AdapterChains.Chain? {
        guard providers[interface] == nil else { return nil }
        return chains.chain(interface, action) { providers[$0] != nil }
    }

    /// Who answers calls to an interface: the row that provides it, else the
    /// one at the end of its adapters.
    func provider(of interface: String) -> AppTable.Row? {
        providers[interface] ?? chain(interface, "").flatMap { providers[$0.interface] }
    }

    /// The names that a row's broadcast has for observers: its own, then those
    /// that adapters give it.
    func names(ofBroadcast name: String, by row: AppTable.Row) -> [String] {
        [name] + aliases(ofBroadcast: name, by: row).map(\.name)
    }

    /// The broadcasts that observers of a name get, of all rows.
    func sources(of name: String) -> [Source] { sources[name] ?? [] }

    private func aliases(ofBroadcast name: String, by row: AppTable.Row) -> [AdapterChains.NoticeAlias] {
        (aliases[name] ?? []).filter { providers[$0.provider]?.name == row.name }
    }
}

extension Manifest {
    /// The manifest, its rows with what their modules add to them: as the bus
    /// knows them once all have said hello.
    ///
    /// Under `calls: declared` what is sent counts from the row alone, and so is
    /// not added.
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
        requires += description.requires.filter { !requires.contains($0) }
        for observed in description.observes {
            // Of one that both have, the module's word counts.
            if let place = observes.firstIndex(where: { $0.name == observed.name && $0.object == observed.object }) {
                observes[place].keep = observed.keep
            } else {
                observes.append(observed)
            }
        }
        urls += description.urls.filter { !urls.contains($0) }
        // A report to a later level is refused whoever declares it.
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
