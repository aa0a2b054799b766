@testable import StrataBus
@testable import StrataTesting

extension MemoryBus {
    /// Returns the largest change of a number in one event of the bus, while `work` runs.
    /// - Parameter isShared: whether work is done in small batches, as if a light peer were
    ///   connected.
    func mostInOneEvent(
        of count: @escaping (BusCore) -> Int, isShared: Bool, during work: () throws -> Void
    ) rethrows -> Int {
        var (last, most) = (count(broker.bus), 0)
        broker.isShared = isShared
        broker.onEvent = { [unowned broker] in
            let now = count(broker.bus)
            most = max(most, abs(now - last))
            last = now
        }
        defer {
            broker.onEvent = {}
            broker.isShared = false
        }
        try work()
        return most
    }
}
