import StrataCore

/// Requests that wait until another node joins: within the limits, and in the order, of requests
/// that wait for a module.
extension BusCore {
    /// The work of sending a request on, in notices.
    private static let requestCost = 4

    // MARK: The time in which they wait

    /// Makes requests wait for a node that was lost because this node's link has ended.
    func awaitAgain(_ node: NodeRecord) {
        guard table.join > 0, stage == .running else { return }
        node.isAwaited(until: now + table.join)
        setJoinAlarm()
    }

    func setJoinAlarm() {
        if let end = nodes.awaitedUntil { setAlarm(.join, at: end) }
    }

    func joinTimePassed() {
        for node in nodes.nodes {
            guard let end = node.awaitedUntil, end <= now else { continue }
            node.isAwaited(until: nil)
            waitingMayGoOn(for: node)
        }
        setJoinAlarm()
    }

    // MARK: What has waited

    /// Continues or ends the requests for a node's rows, after the node has changed.
    func waitingMayGoOn(for node: NodeRecord) {
        guard nodes.mayHoldRequests else { return }
        nodes.mayHoldRequests = false
        for module in modules.rows where isElsewhere(module) && module.hasWaiters {
            if module.row?.placement.includes(node.name) == true { waitingMayGoOn(for: module) }
            if module.hasWaiters { nodes.mayHoldRequests = true }
        }
    }

    /// Continues or ends the requests that wait for a node of an away row.
    func waitingMayGoOn(for module: ModuleRecord) {
        guard module.hasWaiters, let reach = reach(module) else { return }
        switch reach {
        case .connected: work.add(joined: module)
        case .disconnected: failWaiting(module, unreachable(module))
        }
    }

    /// Sends on the next requests that waited for a node. Newer ones wait behind them.
    func advanceJoined() {
        var left = isShared ? FanOut.sharedBatch : FanOut.batch
        while left > 0, let module = work.firstJoined {
            // If only room was missing, `hasRoom` continues.
            if sendFirstJoined(module) { left -= Self.requestCost } else { work.removeFirstJoined() }
        }
    }

    /// Sends on all requests that have waited for a row, before one that names the node and doesn't wait.
    func sendAllJoined(_ module: ModuleRecord) throws(BusError) {
        turn.interrupt()
        while sendFirstJoined(module) {}
        try require(
            module.waiting.isEmpty, .overloaded,
            "requests for \(module.name) wait for room in the queue to its node: wait for answers")
    }

    /// Sends on the first request that has waited for a node; behind the last one the first `create`.
    /// - Returns: whether there was one, and it could go on.
    private func sendFirstJoined(_ module: ModuleRecord) -> Bool {
        if module.waiting.isEmpty, let waiter = module.takeReadyWaiter() {
            settle(waiter, isReady: true)
            return true
        }
        guard let call = module.waiting.first, let remote = receiver(of: call, for: module) else { return false }
        _ = module.takeWaiting(at: 0)
        let held = unhold(call)
        held.withRequest { request in
            held.copy.key.withUnsafeBytes { deliver(call, request.kindToNode, request, key: $0, to: remote) }
        }
        return true
    }

    /// Returns the peer to which the first request that waits for a row goes; nil if it can't go on
    /// now.
    private func receiver(of call: CallPointer, for module: ModuleRecord) -> RemotePeer? {
        guard isElsewhere(module), let remote = try? bestRemote(of: module),
            let held = call.pointee.held?._withUnsafeGuaranteedRef({ $0 })
        else { return nil }
        // Its bytes already count for all queues together, unless they are in a file.
        let count = held.withRequest { $0.body.count + $0.room + HeaderWriter.overhead / 2 }
        let new = held.copy.file?.bodyCount ?? 0
        return remote.line.outbox.isEmpty || fitsRequest(count, remote.line, new: new) ? remote : nil
    }
}
