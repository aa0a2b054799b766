import StrataCore
import StrataTesting

extension AppTable {
    /// Returns a caller in the latest level, and the replicas `Worker~1` to `Worker~COUNT` in the first one, which
    /// provide `Compute` and are connected by hand.
    static func replicas(
        _ count: Int = 3, of row: (inout Row) -> Void = { _ in }, with change: (inout AppTable) -> Void = { _ in }
    ) -> AppTable {
        .testing(
            (1...count).map { number in
                let replica = ReplicaName(row: "Worker", number: number)
                return Row.manual(replica.description, provides: ["Compute"]) { own in
                    own.replica = replica
                    row(&own)
                }
            } + [.manual("Caller", rank: 2), .manual("Caller2", rank: 2), .manual("Ground")], with: change)
    }
}

extension TestBus {
    /// Connects these replicas of `Worker`, in their order.
    func workers(_ numbers: ClosedRange<Int>, _ hello: JSON = [:]) throws -> [RawPeer] {
        try numbers.map { try module("Worker~\($0)", hello) }
    }
}

extension [RawPeer] {
    /// Returns the index of the one peer that has got this call, and the call. The peers that called must have settled.
    func taken(
        _ to: String = "Compute/run", _ body: JSON? = nil, file: StaticString = #fileID, line: UInt = #line
    ) throws -> (index: Int, call: ReceivedFrame) {
        var found: [(Int, ReceivedFrame)] = []
        for (index, peer) in enumerated() {
            for frame in try peer.drain() where frame.matches(["kind": "call", "to": .string(to)], body: body) {
                found.append((index, frame))
            }
        }
        guard found.count == 1 else {
            throw TestFailure("expected one call of \(to), and found \(found)", file: file, line: line)
        }
        return (found[0].0, found[0].1)
    }
}
