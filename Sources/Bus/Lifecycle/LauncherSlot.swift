import StrataCore

/// The launcher, and the reloads of the manifest that it was asked for.
struct LauncherSlot {
    private(set) var peer: Peer?
    /// The launcher's process, even after its connection has ended.
    private(set) var process: ProcessIdentity?
    /// `bus/reload` calls that the next question to the launcher will be about.
    private(set) var reloads: [CallReference] = []
    /// Whether none of them wants the file to be read again.
    private var keepsManifest = true
    /// The reloads that the open question to the launcher is about; nil when none is open.
    private(set) var askedReloads: [CallReference]?
    /// The error with which its last reload failed; nil if the table is in force.
    private(set) var refusal: BusError?

    mutating func take(_ peer: Peer?) { self.peer = peer }

    /// - Parameter process: the process that is the launcher, or will be.
    mutating func expect(_ process: ProcessIdentity?) { self.process = process }

    // MARK: Reloads

    /// Adds a reload, and forgets the reloads that have ended.
    /// - Parameter keeps: whether the manifest may stay as it was last read.
    mutating func add(reload call: CallReference, keeps: Bool) {
        forgetEndedReloads()
        reloads.append(call)
        keepsManifest = keepsManifest && keeps
    }

    mutating func forgetEndedReloads() { reloads.removeAll { !$0.isOpen } }

    /// Notes that the launcher is asked on behalf of all reloads that have come.
    /// - Returns: whether the manifest may stay as it was last read.
    mutating func askForReloads() -> Bool {
        defer { (askedReloads, reloads, keepsManifest) = (reloads, [], true) }
        return keepsManifest
    }

    /// Takes the reloads that the launcher has answered.
    mutating func takeAsked() -> [CallReference] {
        defer { askedReloads = nil }
        return askedReloads ?? []
    }

    /// Notes whether the launcher's last table was put in force.
    mutating func wasTaken(_ result: Result<Void, BusError>) {
        refusal = if case .failure(let error) = result { error } else { nil }
    }

    /// Continues the state of the previous program's bus.
    mutating func resume(reloads: [CallReference], asked: [CallReference]?, refusal: BusError?) {
        self.refusal = refusal
        self.reloads = reloads
        // Which of them keep it isn't known any more.
        keepsManifest = reloads.isEmpty
        askedReloads = asked
    }
}

/// The launcher's word on a row's process.
struct LauncherWord: StatePart, Emptiable {
    /// Its last report on the process.
    enum Verdict: UInt8, CaseIterable {
        case none, starting, restarting, failed, absent

        /// Returns the verdict for a word of the launcher's; nil if there is none.
        init?(_ word: String) {
            guard let verdict = Self.allCases.first(where: { "\($0)" == word }) else { return nil }
            self = verdict
        }

        /// The state of the process; nil if the launcher said nothing.
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

    /// The process that the launcher vouches for.
    struct Vouch: StatePart {
        var token = ""
        var process = ProcessIdentity()
        /// Whether a person had the process started, and it has not said hello yet.
        var isByHand = false
        /// When the process was started, in microseconds since 1970; nil if the launcher didn't
        /// say.
        var spawnedAt: UInt64?
    }

    private(set) var verdict = Verdict.none
    /// The reason that came with the verdict; empty after the next hello.
    private(set) var reason = ""
    /// The last lines that its last process wrote, which came with the verdict; for operators only.
    private(set) var lines: [String] = []
    private(set) var vouch: Vouch?
    /// The keys of the manifest that take effect at the process's next start.
    private(set) var pending: [String] = []
    /// Whether an unanswered `launcher/start` is open.
    private(set) var isStartAsked = false

    mutating func take(_ verdict: Verdict, _ reason: String, lines: [String]) {
        (self.verdict, self.reason, self.lines) = (verdict, reason, lines)
    }

    /// Forgets the verdict, because there is a session, or because the launcher is gone.
    mutating func forgetVerdict() { take(.none, "", lines: []) }

    mutating func take(_ vouch: Vouch?) { self.vouch = vouch }

    mutating func take(pending keys: [String]) { pending = keys }

    /// Clears `isByHand` after it has been taken into account.
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
