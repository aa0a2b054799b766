import StrataCore

/// The end of the bus: tearDown in reverse start order, then the farewell.
extension BusCore {
    func shutDown() {
        stage = .tearingDown
        groupsToTearDown = Self.reverseGroups(modules.inStartOrder)
        tearDownNext()
    }

    /// Another bus goes on with all that was written down.
    /// - Returns: the peers.
    func letGo() -> some Collection<Peer> {
        stage = .stopped
        defer { peers = [:] }
        return peers.values
    }

    func finish() {
        stage = .stopped
        effects.append(.finish)
    }

    /// Tears down the next group.
    func tearDownNext() {
        guard !groupsToTearDown.isEmpty else {
            sayGoodbye()
            return
        }
        let group = groupsToTearDown.removeFirst()
        let live = group.filter { $0.peer != nil && $0.step > .joined && !$0.isRetired }
        // Those that another session took over from, and that still finish.
        let parting = leaving.filter { peer in
            group.contains { $0 === peer.module } && cancelAlarm(.finishing, of: peer)
        }
        let peers = live.compactMap(\.peer) + parting
        guard !peers.isEmpty else {
            tearDownNext()
            return
        }
        for module in live { setState(module, .stopping) }
        openTearDowns = peers.count
        for peer in peers {
            let stop = peer.module?.row?.stop ?? 5_000
            callOwn(peer, to: "module/tearDown", deadline: max(1, stop), isLifecycle: true, .ending)
        }
    }

    /// One of the group has torn down, or is gone.
    func tornDown() {
        openTearDowns -= 1
        if openTearDowns == 0 { tearDownNext() }
    }

    /// Every open request and every peer gets `shutting-down`.
    private func sayGoodbye() {
        finishIdleWork()
        stage = .goodbye
        effects.append(.stopListening)
        let all = peers.values.sorted { $0.number < $1.number }
        for peer in all {
            while let call = peer.firstMade {
                failAndCancel(
                    call, BusError(.shuttingDown, "the app ended before the request was answered", ran: .maybe))
            }
        }
        for peer in all {
            end(peer, BusError(.shuttingDown, "the app is ending"), id: 0, dropsQueued: false)
        }
        if peers.isEmpty { finish() }
    }
}
