/// How often a module has died while one action alone was open at it, and which
/// of its actions are quarantined for that ("poison": a request that kills whoever
/// handles it would otherwise take the module, and all its other users, down
/// again and again).
///
/// A plain value without clock or I/O; times are milliseconds of the loop's clock.
struct ActionDeaths: Equatable, StatePart {
    /// After so many deaths within the row's `backoff.reset` an action is quarantined.
    static let most = 3
    /// So many actions are counted; of one more, the oldest death is forgotten.
    static let mostActions = 64

    /// One action's deaths.
    struct Entry: Equatable, StatePart {
        /// `Interface/action`, the module's own names.
        var action = ""
        /// When the module died with it alone open, oldest first; `most` at most.
        var deaths: [UInt64] = []
        /// Until when it is quarantined; nil where it isn't.
        var quarantinedUntil: UInt64?

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &action)
            try file(2, &deaths)
            try file(3, &quarantinedUntil)
        }
    }

    /// In the order of their last deaths.
    private(set) var entries: [Entry] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) { try file(1, &entries) }

    /// Whether any action may be quarantined: what costs least to ask first.
    var isEmpty: Bool { entries.isEmpty }

    /// The module died, and one action alone was open.
    /// - Parameters:
    ///   - now: when.
    ///   - reset: how long a death counts; 0 counts none.
    /// - Returns: whether this death made that it is quarantined.
    mutating func died(alone action: String, at now: UInt64, within reset: UInt64) -> Bool {
        var entry = Entry(action: action, deaths: [])
        if let index = entries.firstIndex(where: { $0.action == action }) { entry = entries.remove(at: index) }
        if let until = entry.quarantinedUntil, until <= now { entry = Entry(action: action, deaths: []) }
        entry.deaths.removeAll { $0 + reset <= now }
        entry.deaths.append(now)
        let isOneTooMany = entry.deaths.count >= Self.most && reset > 0
        if isOneTooMany {
            entry.deaths = entry.deaths.suffix(Self.most)
            entry.quarantinedUntil = now + reset
        }
        if entries.count == Self.mostActions { entries.removeFirst() }
        entries.append(entry)
        return isOneTooMany
    }

    /// An action that is quarantined now; nil where it may be called.
    func quarantined(_ action: String, at now: UInt64) -> Entry? {
        entries.first { $0.action == action && ($0.quarantinedUntil ?? 0) > now }
    }

    /// Whether an action was quarantined, for a time that may have passed.
    func mayBeQuarantined(_ action: String) -> Bool {
        entries.contains { $0.action == action && $0.quarantinedUntil != nil }
    }

    /// All that are quarantined now.
    func quarantined(at now: UInt64) -> [Entry] { entries.filter { ($0.quarantinedUntil ?? 0) > now } }

    /// The time of some has passed: they may be called again.
    /// - Returns: whether there were any.
    mutating func expire(at now: UInt64) -> Bool {
        let before = entries.count
        entries.removeAll { $0.quarantinedUntil.map { $0 <= now } ?? false }
        return entries.count != before
    }

    /// A person has started the module anew: its past doesn't count.
    mutating func forget() { entries = [] }
}
