import StrataCore

/// A module as the bus knows it: a row of the table, with or without a session, or a connected
/// guest. Each replica of a row has a record. One more record, the group, stands for all of them: it
/// owns what they provide, and requests wait there. It never has a session.
final class ModuleRecord {
    let name: String
    /// The name's bytes.
    let nameBytes: [UInt8]
    /// The bus's number for it, which no other module ever gets.
    let number: Int
    /// Its place in the table, which decides the start order of equals; guests come last.
    private(set) var place: Int
    /// Its row, which a reload may replace; nil for a guest.
    @Seldom private(set) var row: AppTable.Row?
    /// The row's secrets before their last change: the module may still have them.
    private(set) var formerSecrets: [AppTable.Secret] = []
    /// The URLs that its row maps, already checked when the manifest was read.
    private(set) var mappings: [Hello.URL] = []
    /// The rank that is in force. A session keeps the rank that it began with.
    private(set) var rank: Int { didSet { group?.followRanks() } }
    /// Whether a reload removed its row. The bus keeps it until its session has ended.
    private(set) var isRemoved = false
    /// The replicas that it stands for; nil if it is a module itself.
    var replicas: ReplicaGroup?
    /// Its group, if it is a replica.
    private(set) var group: ModuleRecord?
    /// Whether its row is placed on other nodes only.
    private(set) var isAway = false
    /// The peers that stand for it on the nodes that are up, if it is away.
    private(set) var remotes: [RemotePeer] = []
    private(set) var declared = Declared()

    /// The session that serves it; nil if there is none.
    private(set) var peer: Peer?
    /// The same session without a reference, for requests that pass through; nil while it catches
    /// up, because requests wait then.
    @exclusivity(unchecked)  // because it is read for each request, on one thread
    private(set) var unretainedPeer: Unmanaged<Peer>?
    private(set) var catchingUp = CatchingUp.no
    /// A second session under `replace: overlap`, which takes over when it is ready.
    private(set) var successor: Successor?
    @exclusivity(unchecked)  // because it is read for each request, on one thread
    private(set) var life = ModuleLife.away(.init())
    var session = ModuleSession()
    @Seldom var said: LauncherWord
    var history = ModuleHistory()
    var mailbox = Mailbox()
    var retained = RetainedBroadcasts()
    /// Requests that wait until it is ready, oldest first.
    private(set) var waiting: [CallPointer] = []
    /// The bus's own tasks that wait until it is ready, or known not to become ready, such as
    /// asking the authorizer.
    private(set) var readyWaiters: [ReadyWaiter] = []
    /// The bus's calls of `module/event` that wait until it is ready, oldest first.
    private(set) var waitingEvents: [CallReference] = []
    /// The connections whose hello waits for the launcher's vouch, oldest first.
    private(set) var awaitingVouch: [UInt64] = []

    /// What its session still gets of what waited for it, when it is ready. Meanwhile further
    /// notices or requests wait behind that.
    enum CatchingUp: UInt8 { case no, notices, requests }

    /// The frames that its row declares it sends.
    struct Declared {
        var broadcasts: Set<String> = []
        var reports: [String: Set<String>] = [:]
        var emits: Set<String> = []
    }

    /// - Parameter node: this node; nil for an app of one machine.
    init(row: AppTable.Row, number: Int, place: Int, on node: String?) {
        name = row.name
        nameBytes = Array(row.name.utf8)
        self.number = number
        self.place = place
        rank = row.rank
        take(row, place: place, on: node)
    }

    /// Creates the group of a row's replicas.
    init(replicasOf name: String, number: Int) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.number = number
        place = .max
        rank = 0
        replicas = ReplicaGroup()
    }

    /// Creates the record of a guest.
    init(guest name: String, rank: Int, number: Int) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.number = number
        place = .max
        self.rank = rank
    }

    /// Puts a row in force. Its level takes effect only if there is no session.
    func take(_ row: AppTable.Row, place: Int, on node: String?) {
        if let before = self.row?.secrets, before != row.secrets { formerSecrets = before }
        self.row = row
        isAway = row.isAway(from: node)
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
                host: mapping.host, pattern: pattern, interface: target.interface, action: target.action,
                isPublic: mapping.isPublic)
        }
    }

    /// Makes it the group of these replicas, whose rows are equal but for their names.
    /// - Parameter leaving: those whose row was removed, until they are forgotten.
    func stand(for members: [ModuleRecord], leaving: [ModuleRecord]) {
        replicas?.take(members, leaving: leaving)
        for member in members + leaving { member.group = self }
        guard let first = members.first else { return }
        (row, place) = (first.row, first.place)
        followRanks()
    }

    /// Takes the latest rank of the replicas, whose sessions may have begun with different ones.
    private func followRanks() {
        if let latest = members.map(\.rank).max() { rank = latest }
    }

    /// The record that owns what the module brings.
    var owning: ModuleRecord { group ?? self }
    /// The modules that requests to it go to.
    var members: [ModuleRecord] { replicas?.members ?? [self] }
    /// The modules whose sessions may have brought what it owns.
    var bringers: [ModuleRecord] { replicas.map { $0.members + $0.leaving } ?? [self] }
    /// Whether it, or one of its replicas, has a session.
    var hasSession: Bool { replicas == nil ? peer != nil : bringers.contains { $0.peer != nil } }
    /// Whether it, or one of its replicas, is ready.
    var isServing: Bool { replicas == nil ? isReady && peer != nil : members.contains { $0.isReady && $0.peer != nil } }

    func add(remote peer: RemotePeer) { remotes.append(peer) }
    func remove(remote peer: RemotePeer) { remotes.removeAll { $0 === peer } }

    /// Notes that its row was removed.
    func lostRow() { isRemoved = true }

    /// Restores the state that the previous program's bus saved.
    func resume(_ state: ModuleState, peer: Peer?) {
        rank = state.rank
        place = state.place
        isRemoved = state.isRemoved
        life = state.life
        session = state.session
        said = state.said
        history = state.history
        formerSecrets = state.formerSecrets
        serve(by: peer)
        take(state.catchingUp)
    }

    /// Takes an event of its life.
    func take(_ event: ModuleLife.Event) { life.take(event) }

    /// Sets the session that serves it, or none.
    func serve(by peer: Peer?) {
        self.peer = peer
        take(.no)
    }

    /// Sets what its session still gets of what waited for it.
    func take(_ catchingUp: CatchingUp) {
        self.catchingUp = catchingUp
        unretainedPeer = catchingUp == .no ? peer.map { .passUnretained($0) } : nil
    }

    /// Puts the row's level in force, after a session has ended.
    func takeLevel() {
        if let row { rank = row.rank }
    }

    /// Puts the level of the session in force that now serves it.
    func takeLevel(of peer: Peer) { rank = peer.rank }

    /// The keys of its row that are not in force yet.
    var pendingKeys: [String] {
        (row.map { $0.rank != rank } == true ? ["level"] : []) + said.pending
            + (peer?.settings?.pending ?? []).map { "settings.\($0)" }
    }

    /// Returns the reason of its current state. Only operators see what its process wrote.
    func reason(for peer: Peer) -> String {
        guard peer.role == .operator, self.peer == nil, !said.lines.isEmpty else { return reason }
        return "\(reason.isEmpty ? "" : "\(reason); ")its last lines: \(said.lines.joined(separator: " | "))"
    }

    /// Adds to a reason what was open if its last session ended by itself.
    func withDeath(_ reason: String) -> String {
        guard let lastDeath = history.lastDeath, lastDeath.session == history.sessions, lastDeath.calls > 0 else {
            return reason
        }
        return reason.isEmpty ? lastDeath.text : "\(reason); \(lastDeath.text)"
    }

    var reason: String { history.reason }

    var isReady: Bool { life.isReady }
    /// The session that gets requests at once; nil if they wait, or if it isn't ready.
    var receiver: Peer? { isReady && catchingUp == .no ? peer : nil }
    var isRetired: Bool { life.isRetired }

    var start: AppTable.Start { row?.start ?? .manual }

    /// Sets the second session that starts beside the one that serves, or none.
    func setSuccessor(_ successor: Successor?) { self.successor = successor }

    // MARK: Requests that wait for it

    func addWaiting(_ call: CallPointer) { waiting.append(call) }
    func removeWaiting(_ call: CallPointer) {
        guard let place = waiting.firstIndex(of: call) else { return }
        waiting.remove(at: place)
        if let next = replicas?.walk?.place, place < next { replicas?.walk?.place -= 1 }
    }

    func takeWaiting(at place: Int) -> CallPointer { waiting.remove(at: place) }

    func takeWaiting() -> [CallPointer] {
        defer { waiting = [] }
        return waiting
    }

    func addAwaitingVouch(_ peer: UInt64) { awaitingVouch.append(peer) }
    func removeAwaitingVouch(_ peer: UInt64) { awaitingVouch.removeAll { $0 == peer } }

    /// Whether one more task may wait; tasks whose request has ended don't count.
    func canTakeWaiter(_ most: Int) -> Bool {
        // Only a full list is cleaned up, so adding stays cheap.
        if readyWaiters.count >= most { readyWaiters.removeAll { !$0.call.isOpen } }
        return readyWaiters.count < most
    }

    func whenReady(_ waiter: ReadyWaiter) { readyWaiters.append(waiter) }

    /// Whether requests or the bus's tasks for requests wait; those of ended requests count too.
    var hasWaiters: Bool { !waiting.isEmpty || !readyWaiters.isEmpty }

    /// Whether a request, or one of the bus's tasks for a request, waits until it is ready.
    var isRequested: Bool {
        !waiting.isEmpty || readyWaiters.contains { $0.call.isOpen } || group?.isRequested == true
    }

    /// Whether anything waits until it is ready: a request, a notice or an event.
    var isWaitedFor: Bool { isRequested || !mailbox.held.isEmpty || waitingEvents.contains(where: \.isOpen) }

    /// The number of requests, notices and events that wait, or whose time is over.
    var waitingCount: Int { waiting.count + readyWaiters.count + waitingEvents.count + mailbox.held.count }

    func addWaitingEvent(_ call: CallReference) { waitingEvents.append(call) }

    /// Whether one more event may wait; those whose time is over don't count.
    func canTakeEvent(_ most: Int) -> Bool {
        if waitingEvents.count >= most { waitingEvents.removeAll { !$0.isOpen } }
        return waitingEvents.count < most
    }

    func takeWaitingEvents() -> [CallReference] {
        defer { waitingEvents = [] }
        return waitingEvents
    }

    func takeReadyWaiter() -> ReadyWaiter? { readyWaiters.isEmpty ? nil : readyWaiters.removeFirst() }
}
