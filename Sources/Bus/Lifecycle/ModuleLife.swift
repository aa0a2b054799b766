/// A module's life as the bus sees it: whether it has a session, how far the session's start is, or
/// why there is none.
///
/// A state machine without I/O. `after` lists each legal pair of state and event; any other pair is
/// a bug in the bus. docs/architecture.md shows its diagram.
enum ModuleLife: Equatable {
    /// It has no session.
    case away(Absence)
    /// Its session's start is at this step.
    case live(Step)
    /// Its session tears down. New requests wait, and events don't reach it.
    case retired(Retirement)
    /// The app is ending, and its session tears down. It takes requests as before.
    case ending(Step)

    /// The progress of a session's start.
    enum Step: UInt8, Comparable, CaseIterable {
        /// It has said hello.
        case joined
        /// `module/setUp` has been called.
        case settingUp
        case setUp
        case initializing
        /// It is ready; `module/didStart` has not been called yet.
        case initialized
        /// `module/didStart` has been called, or isn't needed.
        case started

        static func < (one: Step, other: Step) -> Bool { one.rawValue < other.rawValue }
    }

    struct Absence: Equatable {
        /// The last known state of its process.
        enum Process: UInt8, CaseIterable { case absent, starting, restarting, failed }

        var process = Process.absent
        /// Whether it was stopped while it was ready. If it is started on demand, a request that
        /// has come since starts it again.
        var wasStopped = false
        /// Whether its session ended by itself under `restart: never`.
        var diedForGood = false
    }

    struct Retirement: Equatable {
        var wasReady = false
        /// Whether it was stopped for being idle.
        var isIdle = false
    }

    enum Event: Equatable {
        /// Its hello was accepted, or the last part of what it brings was registered.
        case joined(resumed: Bool)
        /// The bus has called the action of `module/…` that leads to the step.
        case began(Step)
        /// The module has answered the step.
        case reached(Step)
        /// A successor's session, which is at this step, serves from now on.
        case wasSucceeded(at: Step)
        case wasRetired(isIdle: Bool)
        /// The app's end has reached the module.
        case appEnded
        case sessionEnded(Absence.Process, isForGood: Bool)
        /// It has no session, and this is known of its process.
        case processIs(Absence.Process)
        /// Another process follows: that the last one was stopped no longer matters.
        case stopIsOver
    }

    /// Returns the state after an event; nil if the event is illegal in this state.
    func after(_ event: Event) -> ModuleLife? {
        switch (self, event) {
        case (.away, .joined(let resumed)), (.live(.joined), .joined(let resumed)):
            return .live(resumed ? .started : .joined)
        case (.live(.joined), .began(.settingUp)): return .live(.settingUp)
        case (.live(.settingUp), .reached(.setUp)): return .live(.setUp)
        case (.live(.setUp), .began(.initializing)): return .live(.initializing)
        case (.live(.initializing), .reached(.initialized)): return .live(.initialized)
        case (.live(.initialized), .began(.started)), (.live(.started), .reached(.started)): return .live(.started)
        // An answer may still arrive while the module tears down.
        case (.retired, .reached(.setUp)), (.retired, .reached(.initialized)), (.retired, .reached(.started)),
            (.ending, .reached(.setUp)), (.ending, .reached(.initialized)), (.ending, .reached(.started)):
            return self
        case (.live, .wasSucceeded(let step)): return .live(step)
        case (.live(let step), .wasRetired(let isIdle)), (.ending(let step), .wasRetired(let isIdle)):
            return .retired(Retirement(wasReady: step >= .initialized, isIdle: isIdle))
        // A session that was never asked to set up has nothing to tear down.
        case (.live(let step), .appEnded): return step > .joined ? .ending(step) : nil
        case (.live, .sessionEnded(let process, let isForGood)), (.ending, .sessionEnded(let process, let isForGood)):
            return .away(Absence(process: process, diedForGood: isForGood))
        case (.retired(let retirement), .sessionEnded(let process, _)):
            return .away(Absence(process: process, wasStopped: retirement.wasReady))
        case (.away(var absence), .processIs(let process)):
            absence.process = process
            return .away(absence)
        case (.away(var absence), .stopIsOver):
            absence.wasStopped = false
            return .away(absence)
        case (.retired(let retirement), .stopIsOver):
            return .retired(Retirement(wasReady: false, isIdle: retirement.isIdle))
        case (.live, .stopIsOver), (.ending, .stopIsOver): return self
        case (.away, .began), (.away, .reached), (.away, .wasSucceeded), (.away, .wasRetired), (.away, .appEnded),
            (.away, .sessionEnded), (.live, .joined), (.live, .began), (.live, .reached), (.live, .processIs),
            (.retired, .joined), (.retired, .began), (.retired, .reached), (.retired, .wasSucceeded),
            (.retired, .wasRetired), (.retired, .appEnded), (.retired, .processIs), (.ending, .joined),
            (.ending, .began), (.ending, .reached), (.ending, .wasSucceeded), (.ending, .appEnded),
            (.ending, .processIs):
            return nil
        }
    }

    /// Moves to the state that an event leads to.
    mutating func take(_ event: Event) {
        guard let next = after(event) else { preconditionFailure("illegal transition: \(self), \(event)") }
        self = next
    }

    // MARK: What follows from the state

    /// Whether requests reach it.
    var isReady: Bool {
        // First what nearly all requests meet, which a jump through a table would hold up.
        if case .live(let step) = self { return step >= .initialized }
        if case .ending(let step) = self { return step >= .initialized }
        return false
    }

    var isRetired: Bool { if case .retired = self { true } else { false } }

    /// Whether it was retired for being idle.
    var isIdleStop: Bool { if case .retired(let retirement) = self { retirement.isIdle } else { false } }

    /// How far its session's start is; nil if it has no session, or a retired one.
    var step: Step? {
        switch self {
        case .live(let step), .ending(let step): step
        case .away, .retired: nil
        }
    }

    /// Why there is no session; blank if there is one.
    var absence: Absence { if case .away(let absence) = self { absence } else { Absence() } }

    /// The word for its state in `bus/modules`.
    var word: String {
        switch self {
        case .away(let absence): "\(absence.process)"
        case .live(.joined): "starting"
        case .live(.settingUp): "settingUp"
        case .live(.setUp): "setUp"
        case .live(.initializing): "initializing"
        case .live(.initialized), .live(.started): "ready"
        case .retired, .ending: "stopping"
        }
    }
}
