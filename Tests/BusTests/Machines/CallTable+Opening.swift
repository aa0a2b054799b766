@testable import StrataBus

extension CallTable {
    /// Opens a call. The macros of expectations can't hold a table that isn't copied.
    mutating func opened() throws -> CallPointer {
        guard let call = open(.call) else { throw NoRoom() }
        return call
    }

    struct NoRoom: Error {}
}
