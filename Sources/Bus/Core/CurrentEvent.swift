/// The event that the bus handles now: when it began, and what connections are to do at its end.
struct CurrentEvent {
    /// The clock as it was when the event began, in nanoseconds.
    private(set) var time: UInt64 = 0
    /// The same in milliseconds: deadlines and alarms go by it.
    private(set) var now: UInt64 = 0
    /// Whether a light peer is there: work that takes long goes in small pieces.
    private(set) var isShared = false
    /// In the order in which they are to be done.
    private(set) var effects: [Effect] = []

    /// - Parameters:
    ///   - time: the clock's, in nanoseconds.
    ///   - isShared: whether a light peer is there.
    mutating func begin(at time: UInt64, isShared: Bool) {
        self.time = time
        self.isShared = isShared
        now = time / 1_000_000
    }

    mutating func add(_ effect: Effect) { effects.append(effect) }

    /// All effects are done.
    mutating func settled() { effects.removeAll(keepingCapacity: true) }
}
