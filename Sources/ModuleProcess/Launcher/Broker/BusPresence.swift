/// Whether the launcher's connection to the broker stands, and for how long it has
/// not.
///
/// A value without I/O; `now` in milliseconds.
struct BusPresence {
    private enum State {
        /// There was none yet.
        case awaited(since: UInt64)
        case up
        case lost(since: UInt64)
    }

    private var state: State

    init(at now: UInt64) { state = .awaited(since: now) }

    var isUp: Bool {
        if case .up = state { return true }
        return false
    }

    var wasUp: Bool {
        if case .awaited = state { return false }
        return true
    }

    /// How long there has been none, 0 where it stands.
    func absence(at now: UInt64) -> UInt64 {
        switch state {
        case .up: 0
        case .awaited(let since), .lost(let since): now - min(since, now)
        }
    }

    /// hello was answered.
    /// - Returns: how long it was away; nil the first time.
    mutating func came(at now: UInt64) -> UInt64? {
        defer { state = .up }
        return wasUp ? absence(at: now) : nil
    }

    /// The connection is gone, or could not be made.
    /// - Returns: whether it stood.
    mutating func went(at now: UInt64) -> Bool {
        guard isUp else { return false }
        state = .lost(since: now)
        return true
    }

    /// A broker that doesn't answer was replaced: the next one gets as much time.
    mutating func waitAnew(at now: UInt64) {
        switch state {
        case .awaited: state = .awaited(since: now)
        case .lost: state = .lost(since: now)
        case .up: break
        }
    }
}
