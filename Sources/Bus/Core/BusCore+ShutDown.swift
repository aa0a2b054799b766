import StrataCore

/// The end of the bus: tearDown in reverse start order, then the farewell.
extension BusCore {
    func shutDown() {
        ending.begin(Self.reverseGroups(modules.inStartOrder))
        for module in modules.rows { endSuccessor(of: module, "the app is ending") }
        tearDownNext()
    }

    /// Another bus goes on with all that was written down.
    /// - Returns: the peers.
    func letGo() -> [Peer] {
        ending.stop()
        return connections.takeAll()
    }

    func finish() {
        ending.stop()
        event.add(.finish)
    }

    /// Tears down the next group.
    func tearDownNext() {
        guard let group = ending.takeGroup() else { return sayGoodbye() }
        let live = group.filter { $0.life.step.map { $0 > .joined } ?? false }
        // Those that another session took over from, and that still finish.
        let parting = modules.draining.filter { peer in
            group.contains { $0 === peer.module } && cancelAlarm(.finishing, of: peer)
        }
        let peers = live.compactMap(\.peer) + parting
        guard !peers.isEmpty else { return tearDownNext() }
        for module in live { change(module, .appEnded) }
        ending.opened(peers.count)
        for peer in peers { askToTearDown(peer, .ending) }
    }

    /// One of the group has torn down, or is gone.
    func tornDown() {
        if ending.tornDown() { tearDownNext() }
    }

    /// Every open request and every peer gets `shutting-down`.
    private func sayGoodbye() {
        finishIdleWork()
        ending.sayGoodbye()
        event.add(.stopListening)
        let all = connections.inOrder
        for peer in all {
            while let call = peer.firstMade {
                failAndCancel(call, .shuttingDown, "the app ended before the request was answered")
            }
        }
        for peer in all {
            end(peer, .shuttingDown, "the app is ending", id: 0, dropsQueued: false)
        }
        if connections.isEmpty { finish() }
    }
}

/// How far the app's end is: one group of modules after another tears down.
struct AppEnding {
    enum Stage { case running, tearingDown, goodbye, stopped }

    private(set) var stage = Stage.running
    /// The groups that are still to be torn down, in order.
    private var groups: [[ModuleRecord]] = []
    /// The tearDowns of the present group that are open.
    private var openTearDowns = 0

    mutating func begin(_ groups: [[ModuleRecord]]) {
        stage = .tearingDown
        self.groups = groups
    }

    /// The group whose turn it is; nil where all have torn down.
    mutating func takeGroup() -> [ModuleRecord]? { groups.isEmpty ? nil : groups.removeFirst() }

    /// So many of the group were asked to tear down.
    mutating func opened(_ tearDowns: Int) { openTearDowns = tearDowns }

    /// One of the group has torn down, or is gone.
    /// - Returns: whether it was the last.
    mutating func tornDown() -> Bool {
        openTearDowns -= 1
        return openTearDowns == 0
    }

    mutating func sayGoodbye() { stage = .goodbye }

    mutating func stop() { stage = .stopped }
}
