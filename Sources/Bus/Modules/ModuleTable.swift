import StrataCore

/// The rows of the table and the guests that are connected.
struct ModuleTable: ~Copyable {
    /// In the table's order.
    let rows: [ModuleRecord]
    private(set) var guests: [ModuleRecord] = []
    private var byName = ByteTable<ModuleRecord>()
    private var nextOrder: Int

    init(_ table: AppTable) {
        rows = table.modules.enumerated().map { ModuleRecord(row: $1, order: $0) }
        nextOrder = rows.count
        for row in rows { byName.set(row.name, row) }
    }

    func find(_ name: UnsafeRawBufferPointer) -> ModuleRecord? { byName.find(name) }
    func find(_ name: String) -> ModuleRecord? { byName.find(name) }

    mutating func addGuest(_ name: String, rank: Int) -> ModuleRecord {
        let guest = ModuleRecord(guest: name, rank: rank, order: nextOrder)
        nextOrder += 1
        guests.append(guest)
        byName.set(name, guest)
        return guest
    }

    mutating func removeGuest(_ guest: ModuleRecord) {
        guests.removeAll { $0 === guest }
        byName.remove(guest.name)
    }

    /// Rows, then guests.
    var all: [ModuleRecord] { rows + guests }

    /// In the order of level, then priority, then place in the table.
    var inStartOrder: [ModuleRecord] { all.sorted(by: Self.startsBefore) }

    static func startsBefore(_ one: ModuleRecord, _ other: ModuleRecord) -> Bool {
        if one.rank != other.rank { return one.rank < other.rank }
        let priorities = (one.row?.priority ?? 0, other.row?.priority ?? 0)
        if priorities.0 != priorities.1 { return priorities.0 > priorities.1 }
        return one.order < other.order
    }
}
