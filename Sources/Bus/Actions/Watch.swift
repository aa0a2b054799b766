import StrataCore

/// One open `bus/watch`, with the rows whose states it must still send. Changes of one module that
/// wait for credit are merged.
final class Watch {
    /// The most watches of one peer. Each change of a state costs a frame for each watch.
    static let mostOfPeer = 16
    /// The most states that are sent at once, over all watches: some 100 µs of work.
    static let mostAtOnce = 64

    unowned(unsafe) let peer: Peer  // because a peer's watches are removed before it is freed
    let asking: CallReference
    var call: CallPointer { asking.call }
    /// The rows, in the order in which they changed.
    private(set) var changed: [ModuleRecord]
    /// The numbers of the same rows.
    private var numbers: Set<Int>

    init(peer: Peer, call: CallPointer, rows: [ModuleRecord]) {
        self.peer = peer
        asking = CallReference(call)
        changed = rows
        numbers = Set(rows.map(\.number))
    }

    func note(_ module: ModuleRecord) {
        if numbers.insert(module.number).inserted { changed.append(module) }
    }

    func takeFirst() -> ModuleRecord {
        numbers.remove(changed[0].number)
        return changed.removeFirst()
    }
}

extension BusCore {
    /// Handles `watch`: sends the current state of every row, then each change.
    func watchModules(_ asked: BusCall) throws(BusError) {
        let peer = asked.peer
        try require(
            watches.count(of: peer) < Watch.mostOfPeer, .overloaded,
            "\(peer.displayName) has \(Watch.mostOfPeer) watches open already: cancel one of them")
        let call = try open(asked)
        // A watch has no deadline.
        calls.removeDeadline(of: call)
        watches.add(Watch(peer: peer, call: call, rows: modules.inStartOrder.filter { $0.row != nil }))
        feedWatches()
    }

    /// Sends the states for which watchers have credit: `mostAtOnce` now, and the rest in later
    /// batches.
    func feedWatches() {
        watches.removeEnded()
        var left = Watch.mostAtOnce
        for watch in watches.watches {
            while left > 0, watch.call.pointee.stream.credit > 0, !watch.changed.isEmpty,
                hasStreamRoom(watch.peer)
            {
                left -= 1
                watch.call.pointee.stream.credit -= 1
                let change = describeChange(watch.takeFirst(), to: watch.peer)
                writeReply(watch.peer, id: watch.call.pointee.callerID, change.encoded(), more: true)
            }
        }
        watches.fed(hasUnsent: left == 0)
    }

    private func describeChange(_ module: ModuleRecord, to peer: Peer) -> JSON {
        let quarantined = module.history.deaths.quarantined(at: now)
        return .present([
            "module": .string(module.name), "state": .string(stateWord(of: module)), "pid": module.pid,
            "setAside": quarantined.map(\.action).json, "reason": module.reason(for: peer).json,
            "startFailed": module.history.startFailure.json,
        ])
    }
}

/// The open `bus/watch` calls.
struct WatchList {
    private(set) var watches: [Watch] = []
    /// Whether more states could be sent than were sent at once.
    private(set) var hasUnsent = false

    var isEmpty: Bool { watches.isEmpty }

    mutating func add(_ watch: Watch) { watches.append(watch) }

    mutating func removeAll(of peer: Peer) { watches.removeAll { $0.peer === peer } }

    mutating func removeEnded() { watches.removeAll { !$0.asking.isOpen } }

    mutating func fed(hasUnsent: Bool) { self.hasUnsent = hasUnsent }

    /// Returns the number of a peer's open watches.
    func count(of peer: Peer) -> Int { watches.count { $0.peer === peer && $0.asking.isOpen } }
}
