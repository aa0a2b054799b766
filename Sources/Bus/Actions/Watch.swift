import StrataCore

/// One open `bus/watch`: which rows its caller has yet to hear of. States that
/// wait for credit are merged per module.
final class Watch {
    unowned(unsafe) let peer: Peer  // because a peer's watches go before it does
    let call: CallPointer
    /// Which use of the slot it is: another means that the watch has ended.
    let generation: UInt32
    /// In the order in which they changed.
    private(set) var changed: [ModuleRecord]

    init(peer: Peer, call: CallPointer, rows: [ModuleRecord]) {
        self.peer = peer
        self.call = call
        generation = call.pointee.generation
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
        watches.removeAll {
            $0.call.pointee.state == .free || $0.call.pointee.generation != $0.generation
        }
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
        if !module.reason.isEmpty { members.append(.init("reason", .string(module.reason))) }
        return .object(members)
    }
}
