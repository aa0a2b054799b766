import StrataCore

/// The end of the broker: tearDown in reverse start order, then the farewell.
extension Broker {
    /// Tears down the first group, then goes on with the rest.
    func tearDownNext(_ groups: [[ModuleRecord]]) {
        guard let group = groups.first else {
            sayGoodbye()
            return
        }
        let rest = Array(groups.dropFirst())
        let live = group.filter { $0.peer != nil && $0.step > .joined && !$0.isRetired }
        guard !live.isEmpty else {
            tearDownNext(rest)
            return
        }
        var open = live.count
        for module in live {
            guard let peer = module.peer else { continue }
            setState(module, .stopping)
            callOwn(peer, to: "module/tearDown", deadline: max(1, module.row?.stop ?? 5_000), isLifecycle: true) {
                [unowned self] _ in
                open -= 1
                if open == 0 { self.tearDownNext(rest) }
            }
        }
    }

    /// Every open request and every peer gets `shutting-down`.
    private func sayGoodbye() {
        stage = .goodbye
        stopListening()
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
