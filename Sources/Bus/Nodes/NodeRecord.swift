import StrataCore

/// Another machine of the app, as this bus sees it.
final class NodeRecord {
    let name: String
    private(set) var life = NodeLife.never
    /// The connection to its broker; nil if there is none.
    private(set) var connection: Peer?
    /// The peers that stand for its rows here, and for its operators.
    private(set) var peers: [RemotePeer] = []
    private var peersByName = ByteTable<RemotePeer>()
    /// The peer that stands for its broker, which serves this node's operators, and the one that
    /// stands for its operators; nil unless it is up.
    private(set) var (broker, operators): (RemotePeer?, RemotePeer?)
    /// What it has said so far of its table, while `joining`, and of it since.
    var facts = NodeFacts()
    /// Why rows that it has too aren't routed to it: the difference, by the row's name.
    var mismatched: [String: String] = [:]
    /// Its rows that are ready.
    var ready: Set<String> = []
    /// The names that its modules observe, and what was broadcast for it.
    var sent = SentNotices()
    /// What has come of its modules' broadcasts.
    var received = ReceivedNotices()
    /// What it has said so far of its own counts, while `joining`.
    var told: (series: UInt64, counts: [String: UInt64]) = (0, [:])
    /// The number of the last observations here of which it knew when it sent its last notice.
    private(set) var knownSubscription: UInt64 = 0
    /// The number of its own observations that it has told last, and the one that the last notice to it said.
    var (subscription, saidSubscription): (UInt64, UInt64) = (0, 0)
    /// Whether its broker answers asks for retained broadcasts.
    var answersAsks = false
    /// What is asked of it for observations here, and what it has asked for.
    var (asks, answers) = (RetainedAsks(), RetainedAnswers())
    /// The numbers here of the instances that its modules have created here, by their numbers there.
    var instances: [UInt64: UInt64] = [:]
    /// Why it isn't up; empty if it is, or never was.
    private(set) var reason = ""
    /// When its state has changed, in microseconds since 1970; 0 if it never has.
    private(set) var since: UInt64 = 0
    /// Until when requests wait for it to join, in milliseconds of the loop's clock; nil if they
    /// don't.
    private(set) var awaitedUntil: UInt64?
    /// What the link says of it; nil if no link is connected, or it has said nothing.
    private(set) var view: LinkView?

    init(_ name: String) { self.name = name }

    /// Whether it is asked for what its modules have retained.
    var mayBeAsked: Bool { life == .up && answersAsks }

    /// Makes requests wait until it joins; with nil they don't wait any more.
    /// - Parameter end: until when, in milliseconds of the loop's clock.
    func isAwaited(until end: UInt64?) { awaitedUntil = end }

    func take(_ view: LinkView?) { self.view = view }

    /// Notes that the link has made a connection to its broker, whose stream begins now.
    /// - Parameter subscription: the number of the observations that its first frames tell.
    func connected(_ connection: Peer, subscription: UInt64, at time: UInt64) {
        life.take(.connected)
        self.connection = connection
        connection.outbox.beginStream()
        since = time
        (facts, mismatched, ready, told) = (NodeFacts(), [:], [], (0, [:]))
        knownSubscription = subscription
        sent.begin(at: time)
    }

    /// Takes the number of the observations that its first frames tell; nil if it gives none. Then it doesn't say
    /// which ones it knows either, and is believed to know all.
    func began(subscription: UInt64?) {
        (self.subscription, saidSubscription) = (subscription ?? 0, subscription ?? 0)
        if subscription == nil { knownSubscription = .max }
    }

    /// Notes that its notices from now on are for the observations up to this number.
    func knows(subscription: UInt64) { knownSubscription = max(knownSubscription, subscription) }

    /// Notes whether both brokers agree on the app.
    /// - Parameter difference: what they don't agree on; nil if they agree.
    func judged(_ difference: String?, at time: UInt64) {
        let before = life
        life.take(difference == nil ? .agreed : .disagreed)
        reason = difference ?? ""
        awaitedUntil = nil
        if life != before { since = time }
    }

    /// Returns the peer that stands for a row, or with `operator` for the node's operators.
    func peer(_ name: UnsafeRawBufferPointer) -> RemotePeer? { peersByName.find(name) }

    func add(broker: RemotePeer, operators: RemotePeer) {
        (self.broker, self.operators) = (broker, operators)
        // No frame is from the broker itself, so it isn't found by its name.
        peers.append(broker)
        add(operators)
    }

    func add(_ peer: RemotePeer) {
        peers.append(peer)
        peersByName.set(peer.from, peer)
    }

    func remove(_ peer: RemotePeer) {
        peers.removeAll { $0 === peer }
        peersByName.remove(peer.from)
    }

    /// Returns the position in its connection's queue before which everything may have reached it.
    /// - Parameter sent: how many bytes of its stream were sent on; nil if that isn't known.
    func reached(having sent: UInt64?) -> UInt64 {
        guard let connection else { return 0 }
        if let sent { return connection.outbox.position(behind: sent) }
        // A frame that was partly written is completed, unless the link has closed the connection.
        return connection.life == .closed ? connection.outbox.written : connection.outbox.begunEnd
    }

    /// Notes that the connection has ended.
    func ended(_ reason: String, at time: UInt64) {
        if life == .joining { received.hasMissedCounts() }
        life.take(.ended)
        (self.reason, since) = (reason, time)
        (peers, mismatched, ready, connection, instances) = ([], [:], [], nil, [:])
        (broker, operators) = (nil, nil)
        (answersAsks, asks, answers) = (false, RetainedAsks(), RetainedAnswers())
        peersByName.removeAll()
    }
}

/// The app's other nodes, the process that connects this bus with them, and what they were told of
/// this one. Empty for an app of one machine.
struct NodeTable {
    private(set) var nodes: [NodeRecord] = []
    /// The connection of the link's process; nil if there is none.
    private(set) var link: Peer?
    /// Why the link, or the last one, connects no node; nil if it doesn't refuse.
    private(set) var refusal: LinkRefusal?
    /// The launcher's word on that process.
    private(set) var vouch: LauncherWord.Vouch?
    /// Whether requests may wait for a node to join. A look at all rows says when none does.
    var mayHoldRequests = true
    /// Memory for a `to` without the node that it names.
    var plainName: [UInt8] = []
    /// What all nodes that are up know of this one.
    var told = NodeNews()
    var subscriptions = SubscriptionNumbers()
    /// The names and rows of which the nodes may have to be told.
    private var changedNames: Set<ObservedName> = []
    private var changedRows: Set<String> = []

    /// Whether there are none. Stored, because each broadcast asks.
    let isEmpty: Bool

    /// - Parameter now: the clock's milliseconds. From then on requests wait for each node to join.
    init(_ table: AppTable, now: UInt64) {
        nodes = table.nodes.filter { $0.name != table.node }.map { NodeRecord($0.name) }
        isEmpty = nodes.isEmpty
        if table.join > 0 {
            for node in nodes { node.isAwaited(until: now + table.join) }
        }
    }

    /// When requests first stop to wait for some node; nil if they wait for none.
    var awaitedUntil: UInt64? { nodes.lazy.compactMap(\.awaitedUntil).min() }

    func find(_ name: String) -> NodeRecord? { nodes.first { $0.name == name } }

    /// Returns the node whose broker a connection leads to.
    func find(_ connection: Peer) -> NodeRecord? { nodes.first { $0.connection === connection } }

    /// Notes that another link is connected, or none. What the former one said goes with it, except
    /// why it refused: that is shown until the next one is connected.
    mutating func take(_ link: Peer?) {
        self.link = link
        if link != nil { refusal = nil }
        for node in nodes { node.take(LinkView?.none) }
    }

    mutating func take(_ refusal: LinkRefusal) { self.refusal = refusal }
    mutating func take(_ vouch: LauncherWord.Vouch?) { self.vouch = vouch }

    // MARK: What the nodes are still to be told

    var hasChanges: Bool { !changedNames.isEmpty || !changedRows.isEmpty }

    /// Whether something is to be asked for that modules elsewhere have retained.
    var hasAsks: Bool { nodes.contains { $0.asks.isDue } }

    mutating func mayHaveChanged(_ names: Set<ObservedName>) { changedNames.formUnion(names) }
    mutating func mayHaveChanged(row: String) { changedRows.insert(row) }

    mutating func takeChanges() -> (names: [ObservedName], rows: [String]) {
        defer { (changedNames, changedRows) = ([], []) }
        // Sorted, because the same events must give the same bytes.
        return (changedNames.sorted(), changedRows.sorted())
    }
}
