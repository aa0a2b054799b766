import StrataCore

/// One open `bus/watch`: which rows its caller has yet to hear of. States that
/// wait for credit are merged per module.
final class Watch {
    unowned(unsafe) let peer: Peer  // because a peer's watches go before it does
    let asking: CallReference
    var call: CallPointer { asking.call }
    /// In the order in which they changed.
    private(set) var changed: [ModuleRecord]

    init(peer: Peer, call: CallPointer, rows: [ModuleRecord]) {
        self.peer = peer
        asking = CallReference(call)
        changed = rows
    }

    func note(_ module: ModuleRecord) {
        if !changed.contains(where: { $0 === module }) { changed.append(module) }
    }

    func takeFirst() -> ModuleRecord { changed.removeFirst() }
}

extension Broker {
    /// `watch`: the present state of every row, then each change.
    func watchModules(_ header: borrowing Header, from peer: Peer) {
        guard let call = openRequest(.served, header, from: peer) else { return }
        // A watch has no deadline.
        wheel.remove(call)
        call.pointee.expiry = Call.never
        call.pointee.budget = 0
        watches.append(Watch(peer: peer, call: call, rows: modules.inStartOrder.filter { $0.row != nil }))
        feedWatches()
    }

    /// Sends what watchers have credit for.
    func feedWatches() {
        watches.removeAll { !$0.asking.isOpen }
        for watch in watches {
            while watch.call.pointee.credit > 0, !watch.changed.isEmpty,
                watch.peer.outbox.pending <= table.limits.queue
            {
                watch.call.pointee.credit -= 1
                writeReply(
                    watch.peer, id: watch.call.pointee.callerID, describeChange(watch.takeFirst()).encoded(), more: true
                )
            }
        }
    }

    private func describeChange(_ module: ModuleRecord) -> JSON {
        var members: [JSON.Member] = [
            .init("module", .string(module.name)), .init("state", .string(module.state.rawValue)),
            .init("pid", module.peer == nil ? .null : .integer(Int64(module.pid))),
        ]
        let setAside = module.deaths.setAside(at: loop.now)
        if !setAside.isEmpty { members.append(.init("setAside", .array(setAside.map { .string($0.action) }))) }
        if !module.reason.isEmpty { members.append(.init("reason", .string(module.reason))) }
        return .object(members)
    }
}
