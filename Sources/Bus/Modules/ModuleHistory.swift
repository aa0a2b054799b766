/// What is remembered of a module over its sessions.
struct ModuleHistory: StatePart {
    /// Why it is in its state.
    private(set) var reason = ""
    /// Since when it is, in milliseconds since 1970.
    private(set) var since: UInt64 = 0
    private(set) var sessions = 0
    /// How often it was started again.
    private(set) var restarts = 0
    /// Which of its actions it died of.
    private(set) var deaths = ActionDeaths()
    /// The last time that its session ended by itself.
    private(set) var lastDeath: ModuleDeath?
    /// When the steps of its last start happened.
    private(set) var times = StartTimes()
    private(set) var seenReports = SeenReports()

    /// It has come to another state.
    mutating func changed(_ reason: String, at milliseconds: UInt64) {
        self.reason = reason
        since = milliseconds
    }

    /// A session begins.
    /// - Parameter isByItself: the launcher, which counts restarts, did not start it.
    mutating func began(isByItself: Bool) {
        sessions += 1
        if sessions > 1, isByItself { restarts += 1 }
    }

    mutating func take(restarts: Int) { self.restarts = restarts }

    // MARK: Deaths

    /// Its session has ended by itself.
    /// - Parameter reset: how long a death counts, in milliseconds; nil where none does.
    /// - Returns: whether an action is quarantined for it.
    mutating func died(_ death: ModuleDeath, at now: UInt64, within reset: UInt64?) -> Bool {
        lastDeath = death
        guard let action = death.alone, let reset else { return false }
        return deaths.died(alone: action, at: now, within: reset)
    }

    /// - Returns: whether an action's time has passed.
    mutating func expireDeaths(at now: UInt64) -> Bool { deaths.expire(at: now) }

    mutating func forgetDeaths() { deaths.forget() }

    // MARK: Times and reports

    mutating func note(_ mark: StartTimes.Mark, at moment: StartTimes.Moment) { times.note(mark, at: moment) }
    mutating func take(_ times: StartTimes) { self.times = times }
    mutating func note(reportTo target: ModuleRecord) { seenReports.note(target) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &reason)
        try file(2, &since)
        try file(3, &sessions)
        try file(4, &restarts)
        try file(5, &deaths)
        try file(6, &lastDeath)
        try file(7, &times)
        try file(8, &seenReports)
    }
}

/// How a module's session ended by itself: what was open at it.
struct ModuleDeath: Equatable, StatePart {
    /// So many actions are named.
    static let mostNamed = 8

    /// In milliseconds since 1970.
    var at: UInt64 = 0
    /// Which of the module's sessions it was, counted from 1.
    var session = 0
    /// Delivered calls without an answer.
    var calls = 0
    /// Their actions, each once, the one that was open longest first; `mostNamed`
    /// at most.
    var actions: [String] = []
    /// Further actions, which are not named.
    var unnamed = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &at)
        try file(2, &session)
        try file(3, &calls)
        try file(4, &actions)
        try file(5, &unnamed)
    }

    /// Whether exactly one action was open, in however many calls.
    var alone: String? { actions.count == 1 && unnamed == 0 ? actions[0] : nil }

    /// For a reason: empty where nothing was open.
    var text: String {
        guard calls > 0 else { return "" }
        let more = unnamed > 0 ? " and \(unnamed) more" : ""
        return "\(calls) \(calls == 1 ? "call was" : "calls were") open: \(actions.joined(separator: ", "))\(more)"
    }
}
