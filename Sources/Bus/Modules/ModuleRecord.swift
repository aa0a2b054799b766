import StrataCore

/// A module as the broker knows it: a row of the table, live or not, or a
/// guest while it is connected.
final class ModuleRecord {
    /// What `bus/modules` says of it.
    enum State: String {
        case absent, starting, settingUp, setUp, initializing, ready, stopping, restarting, failed
    }

    /// What the launcher said last of a row's process.
    enum Verdict: UInt8 { case none, starting, restarting, failed, absent }

    /// How far the start of the present session is.
    enum Step: Int, Comparable {
        /// No session.
        case none
        /// Said hello.
        case joined
        /// `module/setUp` is called.
        case settingUp
        case setUp
        case initializing
        /// Ready; `module/didStart` is not called yet.
        case initialized
        /// `module/didStart` is called or not needed.
        case started

        static func < (one: Step, other: Step) -> Bool { one.rawValue < other.rawValue }
    }

    /// What the launcher vouched for.
    struct Vouch {
        var token: String
        var process: ProcessIdentity
        /// A person had it started, and it has not said hello yet.
        var isByHand = false
        /// When the process was started, in microseconds since 1970; where told.
        var spawnedAt: UInt64?
    }

    let name: String
    /// The name's bytes.
    let nameBytes: [UInt8]
    /// The broker's number for it, which nothing else ever gets.
    let number: Int
    /// Its place in the table, which is the start order of equals; guests come last.
    private(set) var place: Int
    /// Nil for a guest; another one after a reload.
    private(set) var row: AppTable.Row?
    /// What its row maps; the manifest has judged it.
    private(set) var mappings: [Hello.URL] = []
    /// The rank that is in force: a session keeps the one that it began with.
    private(set) var rank: Int
    /// A reload took its row away; it is known until its session has ended.
    var isRemoved = false
    /// What of its row takes effect at its process's next start, as the launcher
    /// said: keys of the manifest.
    var pending: [String] = []

    var peer: Peer? { didSet { unretainedPeer = peer.map { .passUnretained($0) } } }
    /// The same, for requests on their way: without a reference of theirs.
    @exclusivity(unchecked)  // because it is read for each request, on one thread
    private(set) var unretainedPeer: Unmanaged<Peer>?
    /// Under `replace: overlap`: a second session, which takes over when it is ready.
    var successor: Successor?
    var state = State.absent
    var step = Step.none
    var reason = ""
    var verdict = Verdict.none
    /// What the launcher said with it; empty again from the next hello on.
    var verdictReason = ""
    /// What its last process wrote last, as the launcher said with it: for operators alone.
    var lastLines: [String] = []
    var vouch: Vouch?
    /// Connections whose hello waits for it, oldest first.
    var awaitingVouch: [UInt64] = []
    /// Which of its actions it died of.
    var deaths = ActionDeaths()
    /// The last time that its session ended by itself.
    var lastDeath: ModuleDeath?
    /// A session that ended on its own under `restart: never`.
    var diedForGood = false
    /// Retired: new requests wait, events don't reach it.
    var isRetired = false
    /// The broker has asked the launcher to stop it for want of requests.
    var isIdleStop = false
    /// It was ready when it was retired: what waits for it has come since, and starts it
    /// again where it is started on demand.
    var wasRetiredReady = false
    /// `launcher/start` was asked and has not been answered.
    var isWanted = false
    /// In milliseconds since 1970.
    var since: UInt64 = 0
    var restarts = 0
    var sessions = 0
    var pid: Int32 = 0
    var uid: UInt32 = 0
    /// When the steps of its last start happened.
    var times = StartTimes()
    /// Requests that wait until it is ready, in the order in which they came.
    var waiting: [CallPointer] = []
    /// What goes on when it is ready, or known not to become so: the broker's own
    /// needs, such as asking the authorizer.
    private(set) var readyWaiters: [ReadyWaiter] = []
    /// What the present session brought.
    var interfaces: [InterfaceRecord] = []
    var urls: [URLTarget] = []
    var events: Set<String> = []
    /// What hello said that it requires.
    var helloRequires: [String] = []
    private(set) var declaredBroadcasts: Set<String> = []
    private(set) var declaredReports: [String: Set<String>] = [:]
    private(set) var emits: Set<String> = []
    /// Over all of its sessions.
    var seenReports = SeenReports()

    init(row: AppTable.Row, number: Int, place: Int) {
        name = row.name
        nameBytes = Array(row.name.utf8)
        self.number = number
        self.place = place
        rank = row.rank
        take(row, place: place)
    }

    /// A guest.
    init(guest name: String, rank: Int, number: Int) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.number = number
        place = .max
        self.rank = rank
    }

    /// Puts a row in force; its level only where no session has another.
    func take(_ row: AppTable.Row, place: Int) {
        self.row = row
        self.place = place
        isRemoved = false
        if peer == nil { rank = row.rank }
        declaredBroadcasts = Set(row.broadcasts)
        declaredReports = Dictionary(
            row.reports.map { ($0.module, Set($0.names)) }, uniquingKeysWith: { $0.union($1) })
        emits = Set(row.emits)
        mappings = row.urls.compactMap { mapping in
            guard let pattern = try? URLPattern(mapping.path), let target = mapping.target else { return nil }
            return Hello.URL(
                host: mapping.host, path: mapping.path, pattern: pattern, interface: target.interface,
                action: target.action)
        }
    }

    /// Goes on with a session that has a level of its own, in another program.
    func resume(rank: Int, place: Int) {
        self.rank = rank
        self.place = place
    }

    /// A session has ended: the row's level is in force.
    func takeLevel() {
        if let row { rank = row.rank }
    }

    /// Another session serves it, which has a level of its own.
    func takeLevel(of peer: Peer) { rank = peer.rank }

    /// Keys of its row that are not in force yet.
    var pendingKeys: [String] { (row.map { $0.rank != rank } == true ? ["level"] : []) + pending }

    /// A session is there, or nobody knows any more: what the launcher said is over.
    func forgetVerdict() {
        verdict = .none
        verdictReason = ""
        lastLines = []
    }

    /// Why it is in its state. Operators alone see what its process wrote.
    func reason(for peer: Peer) -> String {
        guard peer.role == .operator, self.peer == nil, !lastLines.isEmpty else { return reason }
        return "\(reason.isEmpty ? "" : "\(reason); ")its last lines: \(lastLines.joined(separator: " | "))"
    }

    /// A reason, and what was open where its last session ended by itself.
    func withDeath(_ reason: String) -> String {
        guard let lastDeath, lastDeath.session == sessions, lastDeath.calls > 0 else { return reason }
        return reason.isEmpty ? lastDeath.text : "\(reason); \(lastDeath.text)"
    }

    var isReady: Bool { step >= .initialized && !isRetired }

    var start: AppTable.Start { row?.start ?? .manual }

    /// Whether one more may wait; those that nobody wants any more don't count.
    func canTakeWaiter(_ most: Int) -> Bool {
        if readyWaiters.count >= most { readyWaiters.removeAll { !$0.call.isOpen } }
        return readyWaiters.count < most
    }

    func whenReady(_ waiter: ReadyWaiter) { readyWaiters.append(waiter) }

    /// Whether a request, or the broker for one, waits until it is ready.
    var isWaitedFor: Bool { !waiting.isEmpty || readyWaiters.contains { $0.call.isOpen } }

    func takeReadyWaiters() -> [ReadyWaiter] {
        defer { readyWaiters = [] }
        return readyWaiters
    }
}
