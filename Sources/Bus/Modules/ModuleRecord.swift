import StrataCore

/// A module as the broker knows it: a row of the table, live or not, or a
/// guest while it is connected.
final class ModuleRecord {
    /// What `bus/modules` says of it.
    enum State: String {
        case absent, starting, settingUp, setUp, initializing, ready, stopping, restarting, failed
    }

    /// What the launcher said last of a row's process.
    enum Verdict { case none, starting, restarting, failed, absent }

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
        var pid: Int32
    }

    let name: String
    /// The name's bytes.
    let nameBytes: [UInt8]
    /// Its place in the table, which is the start order of equals; guests come last.
    let order: Int
    /// Nil for a guest.
    let row: AppTable.Row?
    let rank: Int

    @exclusivity(unchecked)  // because it is read for each request, on one thread
    var peer: Peer?
    var state = State.absent
    var step = Step.none
    var reason = ""
    var verdict = Verdict.none
    var vouch: Vouch?
    /// A session that ended on its own under `restart: never`.
    var diedForGood = false
    /// Retired: new requests wait, events don't reach it.
    var isRetired = false
    /// The broker has asked the launcher to stop it for want of requests.
    var isIdleStop = false
    /// `launcher/start` was asked and has not been answered.
    var isWanted = false
    /// In milliseconds since 1970.
    var since: UInt64 = 0
    var restarts = 0
    var sessions = 0
    var pid: Int32 = 0
    var uid: UInt32 = 0
    /// Requests that wait until it is ready, in the order in which they came.
    var waiting: [CallPointer] = []
    /// Called when it is ready, or known not to become so: by the broker's own
    /// needs, such as asking the authorizer.
    private var readyWaiters: [(isWanted: () -> Bool, then: (Bool) -> Void)] = []
    /// What the present session brought.
    var interfaces: [InterfaceRecord] = []
    var urls: [URLTarget] = []
    var events: Set<String> = []
    var requires: Set<String>
    let declaredBroadcasts: Set<String>
    let declaredReports: [String: Set<String>]
    let emits: Set<String>

    init(row: AppTable.Row, order: Int) {
        name = row.name
        nameBytes = Array(row.name.utf8)
        self.order = order
        self.row = row
        rank = row.rank
        requires = Set(row.requires)
        declaredBroadcasts = Set(row.broadcasts)
        declaredReports = Dictionary(
            row.reports.map { ($0.module, Set($0.names)) }, uniquingKeysWith: { $0.union($1) })
        emits = Set(row.emits)
    }

    /// A guest.
    init(guest name: String, rank: Int, order: Int) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.order = order
        row = nil
        self.rank = rank
        requires = []
        declaredBroadcasts = []
        declaredReports = [:]
        emits = []
    }

    var isReady: Bool { step >= .initialized && !isRetired }

    var start: AppTable.Start { row?.start ?? .manual }

    /// Whether one more may wait; those that nobody wants any more don't count.
    func canTakeWaiter(_ most: Int) -> Bool {
        if readyWaiters.count >= most { readyWaiters.removeAll { !$0.isWanted() } }
        return readyWaiters.count < most
    }

    func whenReady(_ isWanted: @escaping () -> Bool, _ then: @escaping (Bool) -> Void) {
        readyWaiters.append((isWanted, then))
    }

    /// Whether a request, or the broker for one, waits until it is ready.
    var isWaitedFor: Bool { !waiting.isEmpty || readyWaiters.contains { $0.isWanted() } }

    func finishWaitingForReady(_ isReady: Bool) {
        let waiters = readyWaiters
        readyWaiters = []
        for waiter in waiters where waiter.isWanted() { waiter.then(isReady) }
    }
}
