/// How long a node waits for its next session after its broker has ended one, as it does when the
/// other node sends what is no frame. The wait doubles, and begins anew after a long session.
struct Penalty {
    /// When the next session may begin.
    private(set) var until: UInt64 = 0
    private var next = PipeTimes.shortestPenalty

    /// Adds a wait.
    /// - Parameter lived: how long the session lasted.
    mutating func add(at now: UInt64, lived: UInt64) {
        if lived >= PipeTimes.longestPenalty { next = PipeTimes.shortestPenalty }
        until = now + next
        next = min(next * 2, PipeTimes.longestPenalty)
    }
}
