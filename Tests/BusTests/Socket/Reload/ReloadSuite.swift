import StrataCore
import StrataTesting

/// The part that the tests of reloads share.
protocol ReloadSuite {}

extension ReloadSuite {
    /// Ant of the first level provides Store, and Cat of the last level calls it.
    func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Ant", rank: 0, provides: ["Store"]), .manual("Bee", rank: 1), .manual("Cat", rank: 2),
            with: change)
    }

    func ant(_ bus: TestBus) throws -> RawPeer { try bus.provider("Ant", "Store") }
}
