import StrataCore

/// The tables that a state brings.
extension BrokerState {
    func appTable() throws(StateError) -> AppTable { try Self.table(table) }

    private static func table(_ bytes: [UInt8]) throws(StateError) -> AppTable {
        do { return try AppTable(json: try JSON(parsing: bytes)) } catch {
            throw StateError("the table can't be understood: \(error)")
        }
    }

    /// The rows and guests, in their order, as they are before anything is live.
    func moduleRecords(_ table: AppTable) throws(StateError) -> [ModuleRecord] {
        let removed = try Self.table(removedRows).modules
        return try modules.map { (state) throws(StateError) in
            if state.isGuest { return ModuleRecord(guest: state.name, rank: state.rank, number: state.number) }
            let rows = state.isRemoved ? removed : table.modules
            guard let row = rows.first(where: { $0.name == state.name }) else {
                throw StateError("the table has no row \(state.name)")
            }
            return ModuleRecord(row: row, number: state.number, place: state.place)
        }
    }
}
