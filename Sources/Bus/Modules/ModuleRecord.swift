import StrataCore

/// A module as the bus knows it: a row of the table, live or not, or a
/// guest while it is connected.
final class ModuleRecord {
    let name: String
    /// The name's bytes.
    let nameBytes: [UInt8]
    /// The bus's number for it, which nothing else ever gets.
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
    private(set) var isRemoved = false
    private(set) var declared = Declared()

    /// Its session.
    private(set) var peer: Peer?
    /// The same, for requests on their way: without a reference of theirs.
    @exclusivity(unchecked)  // because it is read for each request, on one thread
    private(set) var unretainedPeer: Unmanaged<Peer>?
    /// Under `replace: overlap`: a second session, which takes over when it is ready.
    private(set) var successor: Successor?
    @exclusivity(unchecked)  // because it is read for each request, on one thread
    private(set) var life = ModuleLife.away(.init())
    var session = ModuleSession()
    var said = LauncherWord()
    var history = ModuleHistory()
    /// Requests that wait until it is ready, in the order in which they came.
    private(set) var waiting: [CallPointer] = []
    /// What goes on when it is ready, or known not to become so: the bus's own
    /// needs, such as asking the authorizer.
    private(set) var readyWaiters: [ReadyWaiter] = []
    /// Connections whose hello waits for the launcher's vouch, oldest first.
    private(set) var awaitingVouch: [UInt64] = []

    /// What its row says that it sends.
    struct Declared {
        var broadcasts: Set<String> = []
        var reports: [String: Set<String>] = [:]
        var emits: Set<String> = []
    }

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
        declared = Declared(
            broadcasts: Set(row.broadcasts),
            reports: Dictionary(
                row.reports.map { ($0.module, Set($0.names)) }, uniquingKeysWith: { $0.union($1) }),
            emits: Set(row.emits))
        mappings = row.urls.compactMap { mapping in
            guard let pattern = try? URLPattern(mapping.path), let target = mapping.target else { return nil }
            return Hello.URL(
                host: mapping.host, pattern: pattern, interface: target.interface, action: target.action)
        }
    }

    /// Its row is gone.
    func lostRow() { isRemoved = true }

    /// Goes on where another program was.
    func resume(_ state: ModuleState, peer: Peer?) {
        rank = state.rank
        place = state.place
        isRemoved = state.isRemoved
        life = state.life
        session = state.session
        said = state.said
        history = state.history
        serve(by: peer)
    }

    /// Something has happened to it.
    func take(_ event: ModuleLife.Event) { life.take(event) }

    /// Another session serves it, or none.
    func serve(by peer: Peer?) {
        self.peer = peer
        unretainedPeer = peer.map { .passUnretained($0) }
    }

    /// A session has ended: the row's level is in force.
    func takeLevel() {
        if let row { rank = row.rank }
    }

    /// Another session serves it, which has a level of its own.
    func takeLevel(of peer: Peer) { rank = peer.rank }

    /// Keys of its row that are not in force yet.
    var pendingKeys: [String] { (row.map { $0.rank != rank } == true ? ["level"] : []) + said.pending }

    /// Why it is in its state. Operators alone see what its process wrote.
    func reason(for peer: Peer) -> String {
        guard peer.role == .operator, self.peer == nil, !said.lines.isEmpty else { return reason }
        return "\(reason.isEmpty ? "" : "\(reason); ")its last lines: \(said.lines.joined(separator: " | "))"
    }

    /// A reason, and what was open where its last session ended by itself.
    func withDeath(_ reason: String) -> String {
        guard let lastDeath = history.lastDeath, lastDeath.session == history.sessions, lastDeath.calls > 0 else {
            return reason
        }
        return reason.isEmpty ? lastDeath.text : "\(reason); \(lastDeath.text)"
    }

    var reason: String { history.reason }

    var isReady: Bool { life.isReady }
    var isRetired: Bool { life.isRetired }

    var start: AppTable.Start { row?.start ?? .manual }

    /// A second session starts beside the one that serves, or none does any more.
    func setSuccessor(_ successor: Successor?) { self.successor = successor }

    // MARK: What waits for it

    func addWaiting(_ call: CallPointer) { waiting.append(call) }
    func removeWaiting(_ call: CallPointer) { waiting.removeAll { $0 == call } }

    func takeWaiting() -> [CallPointer] {
        defer { waiting = [] }
        return waiting
    }

    func addAwaitingVouch(_ peer: UInt64) { awaitingVouch.append(peer) }
    func removeAwaitingVouch(_ peer: UInt64) { awaitingVouch.removeAll { $0 == peer } }

    /// Whether one more may wait; those that nobody wants any more don't count.
    func canTakeWaiter(_ most: Int) -> Bool {
        if readyWaiters.count >= most { readyWaiters.removeAll { !$0.call.isOpen } }
        return readyWaiters.count < most
    }

    func whenReady(_ waiter: ReadyWaiter) { readyWaiters.append(waiter) }

    /// Whether a request, or the bus for one, waits until it is ready.
    var isWaitedFor: Bool { !waiting.isEmpty || readyWaiters.contains { $0.call.isOpen } }

    func takeReadyWaiters() -> [ReadyWaiter] {
        defer { readyWaiters = [] }
        return readyWaiters
    }
}
