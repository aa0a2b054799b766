import StrataCore

/// Whether one more frame may wait: the limits of a single queue, and of all queues together.
///
/// As `limits.total` fills, the longest queues are refused first, and short ones last (after the
/// dynamic thresholds for shared buffers of Choudhury and Hahne, 1998).
extension BusCore {
    /// The bytes that each queue may have, however full the other queues are.
    static let alwaysTaken = 64 << 10
    /// The least that calls and reports may fill of an observer's queue, in bytes; all of the queue
    /// if it is shorter.
    private static let leastRequested = 256 << 10
    /// A longer queue may have this fraction (one eighth) of what is left for all queues.
    private static let shareOfRest = 8

    /// The bytes that wait in the broker for all peers together: queues, requests that wait for
    /// modules, and what is held or retained for observers. A body that several peers wait for counts
    /// once. Each queue counts with its length at the end of its last round.
    var waitingBytes: Int {
        pool.waiting + reclaimer.payloadBytes + calls.heldBytes + mailboxes.textBytes + retained.textBytes
    }

    /// The bytes that all queues together may still take; below 0 if they have more than the limit.
    private var restOfTotal: Int { table.limits.total - waitingBytes }

    /// The length at which a queue takes nothing more at present, in bytes.
    var mostQueued: Int {
        min(table.limits.queue, max(Self.alwaysTaken, restOfTotal / Self.shareOfRest))
    }

    /// Whether a frame of this size may be queued. The queue must be empty or stay within its
    /// limit, and all queues together must have room.
    @inline(__always)
    func fits(_ count: Int, _ peer: Peer) -> Bool { fits(count, peer, new: count) }

    /// - Parameter new: how many of the bytes don't wait yet. A body that other peers wait for
    ///   already does.
    @inline(__always)
    func fits(_ count: Int, _ peer: Peer, new: Int) -> Bool {
        // Nearly always true.
        peer.outbox.pending &+ count <= min(table.limits.queue, Self.alwaysTaken)
            || fitsAfterAll(count, peer, new: new, within: table.limits.queue)
    }

    /// Whether a call or a report may be queued. Calls and reports leave half of the queue to
    /// notices if the peer observes with `keep: all`. So no peer can make an observer fall behind
    /// by sending it many requests.
    @inline(__always)
    func fitsRequest(_ count: Int, _ peer: Peer, new: Int) -> Bool {
        peer.outbox.pending &+ count <= min(table.limits.queue, Self.alwaysTaken)
            || fitsAfterAll(count, peer, new: new, within: mostRequested(of: peer))
    }

    /// Whether the next part of a watch's or a monitor's stream may be queued. To another node these
    /// leave the queue to requests and notices, which they share it with.
    func hasStreamRoom(_ peer: Peer) -> Bool {
        peer.line.outbox.pending <= (peer.isRemote ? Self.alwaysTaken : mostQueued)
    }

    /// Whether a held notice may be queued to a session that catches up. Such notices leave half of
    /// the queue to newer frames. So none of these ends the session, or is refused, for what the bus
    /// itself has held.
    func fitsHeld(_ count: Int, _ peer: Peer, new: Int) -> Bool {
        fitsAfterAll(count, peer, new: new, within: table.limits.queue / 2)
    }

    /// The length at which a queue takes no more calls and reports, in bytes.
    private func mostRequested(of peer: Peer) -> Int {
        let queue = table.limits.queue
        return peer.observations.keepingAll == 0 ? queue : min(queue, max(Self.leastRequested, queue / 2))
    }

    @inline(never)
    private func fitsAfterAll(_ count: Int, _ peer: Peer, new: Int, within most: Int) -> Bool {
        if isWithinQueue(count, peer, most), isWithinTotal(new, peer) { return true }
        // The connection may take some of the queue now, which makes room.
        host.write(to: peer)
        return isWithinQueue(count, peer, most) && isWithinTotal(new, peer)
    }

    private func isWithinQueue(_ count: Int, _ peer: Peer, _ most: Int) -> Bool {
        let pending = peer.outbox.pending
        // An empty queue takes a frame of any size. Notices beyond the limit don't count.
        return pending == 0 || pending - peer.outbox.pendingBeyond + count <= most
    }

    /// Whether all queues together have room for more bytes of a peer's. Rarely asked: inlined, it
    /// would cost each notice two access checks.
    @inline(never)
    func isWithinTotal(_ new: Int, _ peer: Peer) -> Bool {
        let pending = peer.outbox.pending
        // A short queue takes frames even if the total is used up.
        guard pending + new > Self.alwaysTaken else { return true }
        let rest = restOfTotal
        return new <= rest && (pending <= Self.alwaysTaken || pending <= rest / Self.shareOfRest)
    }

    /// Says what is full when a frame found no room.
    func whatIsFull(_ count: Int, _ peer: Peer) -> String {
        isWithinQueue(count, peer, table.limits.queue)
            ? "\(peer.outbox.pending) bytes wait for it; \(max(0, restOfTotal)) of \(table.limits.total) bytes "
                + "for all peers are left, and one queue may have an eighth of them (limits.total)"
            : "\(peer.outbox.pending) bytes wait, and the limit is \(table.limits.queue) (limits.queue)"
    }

    /// Says what is full when a call or a report found no room.
    func whatIsFullForRequest(_ count: Int, _ peer: Peer) -> String {
        let most = mostRequested(of: peer)
        guard isWithinQueue(count, peer, table.limits.queue), !isWithinQueue(count, peer, most) else {
            return whatIsFull(count, peer)
        }
        return "\(peer.outbox.pending) bytes wait, and as it observes with keep: all, calls and reports "
            + "may fill \(most) of \(table.limits.queue) (limits.queue)"
    }

    /// Checks that one more request of a peer's may wait for a module or the authorizer, by the
    /// limits on waiting bytes.
    func checkRoom(for held: HeldRequest, of peer: Peer) throws(BusError) {
        let own = peer.heldBytes
        try require(
            own == 0 || own + held.cost <= table.limits.held, .overloaded,
            "\(own) bytes of \(peer.displayName) wait for modules or the authorizer, and the limit is "
                + "\(table.limits.held) (limits.held): wait for answers")
        if own + held.cost > Self.alwaysTaken, let refusal = totalRefusal(held.cost) { throw refusal }
    }

    /// Whether one more notice may be held for a row that is away.
    /// - Parameters:
    ///   - new: the bytes of it that don't wait yet.
    ///   - held: the bytes that are held for the row.
    func hasRoom(forHeld new: Int, beside held: Int) -> Bool {
        guard held + new > Self.alwaysTaken else { return true }
        return new <= restOfTotal && (held <= Self.alwaysTaken || held <= restOfTotal / Self.shareOfRest)
    }

    /// Returns the refusal of `count` more bytes by the limit on all that waits; nil if they fit.
    func totalRefusal(_ count: Int) -> BusError? {
        guard count > restOfTotal else { return nil }
        return BusError(
            .overloaded,
            "\(waitingBytes) bytes wait in the broker for all peers, and the limit is \(table.limits.total) "
                + "(limits.total); these are \(count) more: try later")
    }
}
