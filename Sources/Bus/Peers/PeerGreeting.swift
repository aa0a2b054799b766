/// What is kept of a connection until its hello is answered.
struct PeerGreeting {
    /// Where it is counted.
    private(set) var pool = ConnectionPools.Pool.others
    /// The row whose vouch its hello waits for.
    private(set) var row: ModuleRecord?
    /// The number of the hello that waits, or has waited; 0 for none.
    private(set) var helloID: UInt64 = 0

    mutating func count(in pool: ConnectionPools.Pool) { self.pool = pool }

    mutating func wait(for row: ModuleRecord?, helloID: UInt64) { (self.row, self.helloID) = (row, helloID) }

    /// - Returns: the row that it has waited for.
    mutating func takeRow() -> ModuleRecord? {
        defer { row = nil }
        return row
    }
}
