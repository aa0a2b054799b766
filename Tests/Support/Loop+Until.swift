internal import StrataCore
public import StrataLoop
internal import StrataTesting

extension Loop {
    /// Runs until a condition holds.
    /// - Returns: false if it doesn't hold within `TestBus.patience`.
    public func run(until condition: () -> Bool) -> Bool {
        let limit = ContinuousClock.now + TestBus.patience
        let wake = LoopTimer(self) {}
        // Some conditions, such as a file's end, bring no event.
        wake.start(after: 0, every: 20)
        defer { wake.close() }
        while !condition() {
            runOnce(waiting: true)
            guard ContinuousClock.now < limit else { return false }
        }
        return true
    }
}
