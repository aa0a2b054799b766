import StrataCore

/// The rows of the table, and the connected guests.
struct ModuleTable: ~Copyable {
    /// The rows in the table's order. Those that a reload removed come last, until their sessions
    /// have ended.
    private(set) var rows: [ModuleRecord] = []
    private(set) var guests: [ModuleRecord] = []
    /// The groups of rows with replicas, by name.
    private(set) var groups: [ModuleRecord] = []
    private var byName = ByteTable<ModuleRecord>()
    /// Sessions that a successor has replaced, until they have finished.
    private(set) var draining: [Peer] = []
    /// The number of the next row or guest.
    private(set) var nextNumber = 0

    init(_ table: AppTable) {
        _ = take(table.modules, on: table.node)
    }

    /// Continues with the records of the previous program's bus, in their order.
    init(resuming records: [ModuleRecord], next: Int) {
        nextNumber = next
        for record in records {
            if record.replicas != nil {
                groups.append(record)
                continue
            }
            if record.row == nil { guests.append(record) } else { rows.append(record) }
            byName.set(record.name, record)
        }
        groupReplicas()
    }

    func find(_ name: UnsafeRawBufferPointer) -> ModuleRecord? { byName.find(name) }
    func find(_ name: String) -> ModuleRecord? { byName.find(name) }

    /// Puts new rows in force. No guest has the name of one of them.
    /// - Parameter node: this node; nil for an app of one machine.
    /// - Returns: the modules whose row was removed.
    mutating func take(_ new: [AppTable.Row], on node: String?) -> [ModuleRecord] {
        var old = rows
        rows = []
        for (place, row) in new.enumerated() {
            if let index = old.firstIndex(where: { $0.name == row.name }) {
                rows.append(old.remove(at: index))
                rows[place].take(row, place: place, on: node)
            } else {
                let record = ModuleRecord(row: row, number: nextNumber, place: place, on: node)
                nextNumber += 1
                byName.set(row.name, record)
                rows.append(record)
            }
        }
        rows += old
        for record in old { record.lostRow() }
        groupReplicas()
        return old
    }

    /// Makes a group for the replicas of each row that has some. A group without replicas stays until
    /// the last one that leaves is forgotten.
    private mutating func groupReplicas() {
        let replicas = Dictionary(grouping: rows.filter { $0.row?.replica != nil }) { $0.row?.replica?.row ?? "" }
        for name in replicas.keys.sorted() where !groups.contains(where: { $0.name == name }) {
            groups.append(ModuleRecord(replicasOf: name, number: nextNumber))
            nextNumber += 1
        }
        for group in groups {
            let all = replicas[group.name] ?? []
            group.stand(for: all.filter { !$0.isRemoved }, leaving: all.filter(\.isRemoved))
            if !group.members.isEmpty { byName.set(group.name, group) }
        }
    }

    mutating func addGuest(_ name: String, rank: Int) -> ModuleRecord {
        let guest = ModuleRecord(guest: name, rank: rank, number: nextNumber)
        nextNumber += 1
        guests.append(guest)
        byName.set(name, guest)
        return guest
    }

    /// Removes a guest, or a module whose row was removed.
    mutating func remove(_ module: ModuleRecord) {
        if module.row == nil { removeGuest(module) } else { rows.removeAll { $0 === module } }
        if byName.find(module.name) === module { byName.remove(module.name) }
        guard let group = module.group else { return }
        group.stand(for: group.members, leaving: rows.filter { $0.group === group && $0.isRemoved })
        guard group.bringers.isEmpty else { return }
        groups.removeAll { $0 === group }
        if byName.find(group.name) === group { byName.remove(group.name) }
    }

    /// Uses binary search: guests are ordered by their numbers, and many may leave at once.
    private mutating func removeGuest(_ guest: ModuleRecord) {
        let place = guests.place { $0.number < guest.number }
        if place < guests.count, guests[place] === guest { guests.remove(at: place) }
    }

    /// Adds a session that a successor has replaced.
    mutating func beginsDraining(_ peer: Peer) { draining.append(peer) }

    mutating func hasDrained(_ peer: Peer) { draining.removeAll { $0 === peer } }

    /// The rows, then the guests.
    var all: [ModuleRecord] { rows + guests }

    /// All modules by level, then priority, then place in the table.
    var inStartOrder: [ModuleRecord] { all.sorted(by: Self.startsBefore) }

    static func startsBefore(_ one: ModuleRecord, _ other: ModuleRecord) -> Bool {
        if one.rank != other.rank { return one.rank < other.rank }
        let priorities = (one.row?.priority ?? 0, other.row?.priority ?? 0)
        if priorities.0 != priorities.1 { return priorities.0 > priorities.1 }
        if one.place != other.place { return one.place < other.place }
        return one.number < other.number
    }
}

/// The app's levels, foundation first. `LevelRule` has the rules that they imply.
struct LevelTable {
    let names: [String]
    /// The bytes of the names, for headers.
    let nameBytes: [[UInt8]]

    init(_ names: [String]) {
        self.names = names
        nameBytes = names.map { Array($0.utf8) }
    }

    func rank(_ name: UnsafeRawBufferPointer) -> Int? {
        nameBytes.firstIndex { $0.count == name.count && $0.elementsEqual(name) }
    }

    func rank(_ name: String) -> Int? { names.firstIndex(of: name) }
}
