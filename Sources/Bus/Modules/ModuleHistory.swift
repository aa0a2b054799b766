/// The bus's memory of a module across its sessions.
struct ModuleHistory: StatePart {
    /// The reason of its current state.
    private(set) var reason = ""
    /// When it entered that state, in milliseconds since 1970.
    private(set) var since: UInt64 = 0
    /// Since when it has answered no ping, in milliseconds since 1970; 0 if it answers.
    private(set) var hungSince: UInt64 = 0
    private(set) var sessions = 0
    /// The number of times that it was started again.
    private(set) var restarts = 0
    /// The deaths that are counted for its actions.
    private(set) var deaths = ActionDeaths()
    /// The last death of a session; nil if none has died.
    private(set) var lastDeath: ModuleDeath?
    /// The times of the steps of its last start.
    private(set) var times = StartTimes()
    private(set) var seenReports = SeenReports()
    /// Why its last start failed; empty if it didn't, and from the next hello on.
    private(set) var startFailure = ""

    /// Notes that its state changed.
    mutating func changed(_ reason: String, at milliseconds: UInt64) {
        self.reason = reason
        since = milliseconds
        hungSince = 0
    }

    /// Notes whether it answers its pings. Its state stays the same.
    /// - Parameter reason: why it is taken for hung; nil if it answers.
    /// - Returns: whether that has changed.
    mutating func noteHang(_ reason: String?, at milliseconds: UInt64) -> Bool {
        guard (reason == nil) != (hungSince == 0) else { return false }
        self.reason = reason ?? ""
        hungSince = reason == nil ? 0 : max(1, milliseconds)
        return true
    }

    /// Notes that a session begins.
    /// - Parameter isByItself: whether it was started by something other than the launcher, which
    ///   counts its own restarts.
    mutating func began(isByItself: Bool) {
        sessions += 1
        if sessions > 1, isByItself { restarts += 1 }
    }

    mutating func take(restarts: Int) { self.restarts = restarts }

    /// The bytes that are kept of the reason for a failed start, which may be the module's own words.
    static let mostOfFailure = 512

    mutating func startFailed(_ why: String) {
        startFailure = String(decoding: why.utf8.prefix(Self.mostOfFailure), as: UTF8.self)
    }

    mutating func forgetStartFailure() { startFailure = "" }

    // MARK: Deaths

    /// Notes that its session ended by itself.
    /// - Parameter reset: how long a death counts, in milliseconds; nil if none counts.
    /// - Returns: whether this death quarantines an action.
    mutating func died(_ death: ModuleDeath, at now: UInt64, within reset: UInt64?) -> Bool {
        lastDeath = death
        guard let action = death.alone, let reset else { return false }
        return deaths.died(alone: action, at: now, within: reset)
    }

    /// - Returns: whether the quarantine of any action is over.
    mutating func expireDeaths(at now: UInt64) -> Bool { deaths.expire(at: now) }

    mutating func forgetDeaths() { deaths.forget() }

    // MARK: Times and reports

    mutating func note(_ mark: StartTimes.Mark, at moment: StartTimes.Moment) { times.note(mark, at: moment) }
    mutating func note(own mark: String, at moment: StartTimes.Moment) -> Bool { times.note(own: mark, at: moment) }
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
        try file(9, &hungSince)
        try file(10, &startFailure)
    }
}

/// How a module's session ended by itself, and what was open in it then.
struct ModuleDeath: Equatable, StatePart {
    /// The most actions that are named.
    static let mostNamed = 8

    /// When it happened, in milliseconds since 1970.
    var at: UInt64 = 0
    /// The number of the module's session, counted from 1.
    var session = 0
    /// The number of delivered calls without an answer.
    var calls = 0
    /// The actions of these calls, each once, the one that was open longest first; at most
    /// `mostNamed`.
    var actions: [String] = []
    /// The number of further actions, which aren't named.
    var unnamed = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &at)
        try file(2, &session)
        try file(3, &calls)
        try file(4, &actions)
        try file(5, &unnamed)
    }

    /// The only action that was open, in however many calls; nil if there was not exactly one.
    var alone: String? { actions.count == 1 && unnamed == 0 ? actions[0] : nil }

    /// A text for a reason; empty if nothing was open.
    var text: String {
        guard calls > 0 else { return "" }
        let more = unnamed > 0 ? " and \(unnamed) more" : ""
        return "\(calls) \(calls == 1 ? "call was" : "calls were") open: \(actions.joined(separator: ", "))\(more)"
    }
}
