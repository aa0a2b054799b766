import StrataCore

/// The end of the bus: `tearDown` in reverse start order, then `shutting-down` to every peer.
extension BusCore {
    func shutDown() {
        ending.begin(Self.reverseGroups(modules.inStartOrder))
        // No process takes over any more.
        for module in modules.rows { endSuccessor(of: module, "the app is ending") }
        tearDownNext()
    }

    /// Stops this bus, because another one continues from its captured state.
    /// - Returns: the peers.
    func letGo() -> [Peer] {
        ending.stop()
        return connections.takeAll()
    }

    func finish() {
        ending.stop()
        event.add(.finish)
    }

    /// Tears down the next group of modules.
    func tearDownNext() {
        guard let group = ending.takeGroup() else { return sayGoodbye() }
        let live = group.filter { $0.life.step.map { $0 > .joined } ?? false }
        // Replaced sessions that are still finishing their requests.
        let parting = modules.draining.filter { peer in
            // A session without this alarm is already tearing down.
            group.contains { $0 === peer.module } && cancelAlarm(.finishing, of: peer)
        }
        let peers = live.compactMap(\.peer) + parting
        guard !peers.isEmpty else { return tearDownNext() }
        for module in live { change(module, .appEnded) }
        ending.opened(peers.count)
        for peer in peers { askToTearDown(peer, .ending) }
    }

    /// Counts one module of the group that has torn down or has ended.
    func tornDown() {
        if ending.tornDown() { tearDownNext() }
    }

    /// Ends every open request and every peer with `shutting-down`.
    private func sayGoodbye() {
        finishIdleWork()
        ending.sayGoodbye()
        event.add(.stopListening)
        // All requests end before the first peer does, so every caller gets `shutting-down`.
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

/// The progress of the app's end: the modules tear down group by group.
struct AppEnding {
    enum Stage { case running, tearingDown, goodbye, stopped }

    private(set) var stage = Stage.running
    /// The groups that still have to be torn down, in order.
    private var groups: [[ModuleRecord]] = []
    /// The number of open tearDowns in the current group.
    private var openTearDowns = 0

    mutating func begin(_ groups: [[ModuleRecord]]) {
        stage = .tearingDown
        self.groups = groups
    }

    /// Takes the next group; nil if all have torn down.
    mutating func takeGroup() -> [ModuleRecord]? { groups.isEmpty ? nil : groups.removeFirst() }

    /// Sets how many of the group were asked to tear down.
    mutating func opened(_ tearDowns: Int) { openTearDowns = tearDowns }

    /// Counts one module of the group that has torn down or has ended.
    /// - Returns: whether it was the last.
    mutating func tornDown() -> Bool {
        openTearDowns -= 1
        return openTearDowns == 0
    }

    mutating func sayGoodbye() { stage = .goodbye }

    mutating func stop() { stage = .stopped }
}
