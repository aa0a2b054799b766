/// The circuit breaker for a module's actions: it counts how often the module died while one action
/// alone was open, and quarantines such an action. Otherwise a "poison" request, which kills
/// whichever process handles it, would take the module down again and again, with all its other
/// users.
///
/// A plain value without clock or I/O. Times are milliseconds of the loop's clock.
struct ActionDeaths: Equatable, StatePart {
    /// The number of deaths within the row's `backoff.reset` that quarantines an action.
    static let most = 3
    /// The most actions that are counted. One more displaces the action whose last death is the
    /// oldest.
    static let mostActions = 64

    /// One action's deaths.
    struct Entry: Equatable, StatePart {
        /// `Interface/action`, with the module's own names.
        var action = ""
        /// The times of the module's deaths with this action alone open, oldest first; the last
        /// `most` at most.
        var deaths: [UInt64] = []
        /// When the quarantine ends; nil if the action isn't quarantined.
        var quarantinedUntil: UInt64?

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &action)
            try file(2, &deaths)
            try file(3, &quarantinedUntil)
        }
    }

    /// The entries, in the order of their last deaths.
    private(set) var entries: [Entry] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) { try file(1, &entries) }

    /// Whether no deaths are counted, so that no action can be quarantined: the cheapest check
    /// first.
    var isEmpty: Bool { entries.isEmpty }

    /// Counts a death of the module while one action alone was open.
    /// - Parameters:
    ///   - now: when it died.
    ///   - reset: how long a death counts; if 0, none counts.
    /// - Returns: whether this death quarantines the action.
    mutating func died(alone action: String, at now: UInt64, within reset: UInt64) -> Bool {
        var entry = Entry(action: action, deaths: [])
        if let index = entries.firstIndex(where: { $0.action == action }) { entry = entries.remove(at: index) }
        // After a quarantine, counting begins again.
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

    /// Returns the entry of an action that is quarantined now; nil if the action may be called.
    func quarantined(_ action: String, at now: UInt64) -> Entry? {
        entries.first { $0.action == action && ($0.quarantinedUntil ?? 0) > now }
    }

    /// Whether an action was ever quarantined; the quarantine may be over.
    func mayBeQuarantined(_ action: String) -> Bool {
        entries.contains { $0.action == action && $0.quarantinedUntil != nil }
    }

    /// Returns all entries that are quarantined now.
    func quarantined(at now: UInt64) -> [Entry] { entries.filter { ($0.quarantinedUntil ?? 0) > now } }

    /// Removes the actions whose quarantine is over.
    /// - Returns: whether there were any.
    mutating func expire(at now: UInt64) -> Bool {
        let before = entries.count
        entries.removeAll { $0.quarantinedUntil.map { $0 <= now } ?? false }
        return entries.count != before
    }

    /// Forgets all deaths, because a person has restarted the module.
    mutating func forget() { entries = [] }
}
