import StrataCore

/// Who the launcher is, and which reloads of the manifest it was asked for.
struct LauncherSlot {
    private(set) var peer: Peer?
    /// The launcher's process, also when its connection has ended.
    private(set) var process: ProcessIdentity?
    /// `bus/reload` calls that came while the launcher was asked, or before it is.
    private(set) var reloads: [CallReference] = []
    /// The reloads that the open question to the launcher is about; nil when none is open.
    private(set) var askedReloads: [CallReference]?

    mutating func take(_ peer: Peer?) { self.peer = peer }

    /// - Parameter process: is the launcher, or is to be.
    mutating func expect(_ process: ProcessIdentity?) { self.process = process }

    // MARK: Reloads

    /// Adds a reload, and forgets the reloads that have ended.
    mutating func add(reload call: CallReference) {
        forgetEndedReloads()
        reloads.append(call)
    }

    mutating func forgetEndedReloads() { reloads.removeAll { !$0.isOpen } }

    /// The launcher is asked for all that came.
    mutating func askForReloads() {
        askedReloads = reloads
        reloads = []
    }

    /// The launcher has answered.
    mutating func takeAsked() -> [CallReference] {
        defer { askedReloads = nil }
        return askedReloads ?? []
    }

    /// Goes on with another program's.
    mutating func resume(reloads: [CallReference], asked: [CallReference]?) {
        self.reloads = reloads
        askedReloads = asked
    }
}

/// What the launcher has said of a row's process.
struct LauncherWord: StatePart {
    /// What it said last of how the process is.
    enum Verdict: UInt8, CaseIterable {
        case none, starting, restarting, failed, absent

        /// The one that a word of its is.
        init?(_ word: String) {
            guard let verdict = Self.allCases.first(where: { "\($0)" == word }) else { return nil }
            self = verdict
        }

        /// Nil where it said nothing.
        var process: ModuleLife.Absence.Process? {
            switch self {
            case .none: nil
            case .starting: .starting
            case .restarting: .restarting
            case .failed: .failed
            case .absent: .absent
            }
        }
    }

    /// Which process it vouches for.
    struct Vouch: StatePart {
        var token = ""
        var process = ProcessIdentity()
        /// A person had it started, and it has not said hello yet.
        var isByHand = false
        /// When the process was started, in microseconds since 1970; where told.
        var spawnedAt: UInt64?
    }

    private(set) var verdict = Verdict.none
    /// What it said with the verdict; empty again from the next hello on.
    private(set) var reason = ""
    /// The last lines of its last process, which it said with the verdict: for operators alone.
    private(set) var lines: [String] = []
    private(set) var vouch: Vouch?
    /// Keys of the manifest that take effect at the process's next start.
    private(set) var pending: [String] = []
    /// `launcher/start` was asked and has not been answered.
    private(set) var isStartAsked = false

    mutating func take(_ verdict: Verdict, _ reason: String, lines: [String]) {
        (self.verdict, self.reason, self.lines) = (verdict, reason, lines)
    }

    /// A session is there, or nobody knows any more.
    mutating func forgetVerdict() { take(.none, "", lines: []) }

    mutating func take(_ vouch: Vouch?) { self.vouch = vouch }

    mutating func take(pending keys: [String]) { pending = keys }

    /// That a person had the process started was reckoned with.
    mutating func takeByHand() { vouch?.isByHand = false }

    mutating func startWasAsked(_ isOpen: Bool) { isStartAsked = isOpen }
}

extension LauncherWord {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &verdict)
        try file(2, &reason)
        try file(3, &lines)
        try file(4, &vouch)
        try file(5, &pending)
        try file(6, &isStartAsked)
    }
}

extension LauncherWord.Vouch {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &token)
        try file(2, &process)
        try file(3, &isByHand)
        try file(4, &spawnedAt)
    }
}
