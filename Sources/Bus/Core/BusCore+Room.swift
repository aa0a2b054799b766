import StrataCore

/// Whether one more frame may wait: what a queue may have, and all queues together.
///
/// As `limits.total` fills, the longest queues are refused first, and short ones last
/// (after the dynamic thresholds for buffers that many share of Choudhury and Hahne, 1998).
extension BusCore {
    /// What a queue may have whatever the others have, in bytes.
    static let alwaysTaken = 64 << 10
    /// What calls and reports may have of an observer's queue, or all of a shorter one, in bytes.
    private static let leastRequested = 256 << 10
    /// A longer queue may have so much of what is left for all: one part of so many.
    private static let shareOfRest = 8

    /// What waits here for all together, in bytes: in queues, each body that several wait
    /// for once, and requests that wait for modules. Of queues it is what they had at the
    /// end of their last round.
    var waitingBytes: Int { pool.waiting + reclaimer.payloadBytes + calls.heldBytes }

    /// What all together may still have; below 0 where they have more.
    private var restOfTotal: Int { table.limits.total - waitingBytes }

    /// What a queue may have now before it takes nothing more.
    var mostQueued: Int {
        min(table.limits.queue, max(Self.alwaysTaken, restOfTotal / Self.shareOfRest))
    }

    /// Whether a frame of a size may be queued: the queue is empty, or stays within its
    /// limit with it, and all queues together have room.
    @inline(__always)
    func fits(_ count: Int, _ peer: Peer) -> Bool { fits(count, peer, new: count) }

    /// - Parameter new: those of the bytes that don't wait yet: a body that others wait for
    ///   as well does.
    @inline(__always)
    func fits(_ count: Int, _ peer: Peer, new: Int) -> Bool {
        // Nearly always so.
        peer.outbox.pending &+ count <= min(table.limits.queue, Self.alwaysTaken)
            || fitsAfterAll(count, peer, new: new, within: table.limits.queue)
    }

    /// Whether a call or a report may be queued. They leave half of the queue of an observer that
    /// keeps all to its notices. So nobody makes it fall behind by asking much of it.
    @inline(__always)
    func fitsRequest(_ count: Int, _ peer: Peer, new: Int) -> Bool {
        peer.outbox.pending &+ count <= min(table.limits.queue, Self.alwaysTaken)
            || fitsAfterAll(count, peer, new: new, within: mostRequested(of: peer))
    }

    /// What a queue may have before it takes no more calls and reports, in bytes.
    private func mostRequested(of peer: Peer) -> Int {
        let queue = table.limits.queue
        return peer.observations.keepingAll == 0 ? queue : min(queue, max(Self.leastRequested, queue / 2))
    }

    @inline(never)
    private func fitsAfterAll(_ count: Int, _ peer: Peer, new: Int, within most: Int) -> Bool {
        if isWithinQueue(count, peer, most), isWithinTotal(new, peer) { return true }
        host.write(to: peer)
        return isWithinQueue(count, peer, most) && isWithinTotal(new, peer)
    }

    private func isWithinQueue(_ count: Int, _ peer: Peer, _ most: Int) -> Bool {
        let pending = peer.outbox.pending
        return pending == 0 || pending - peer.outbox.pendingBeyond + count <= most
    }

    /// Whether all queues together have room for more bytes of a peer's. Rarely asked: inlined,
    /// it costs each notice two checks of access.
    @inline(never)
    func isWithinTotal(_ new: Int, _ peer: Peer) -> Bool {
        let pending = peer.outbox.pending
        guard pending + new > Self.alwaysTaken else { return true }
        let rest = restOfTotal
        return new <= rest && (pending <= Self.alwaysTaken || pending <= rest / Self.shareOfRest)
    }

    /// What is full where a frame found no room.
    func whatIsFull(_ count: Int, _ peer: Peer) -> String {
        isWithinQueue(count, peer, table.limits.queue)
            ? "\(peer.outbox.pending) bytes wait for it, and for all \(max(0, restOfTotal)) are left of "
                + "\(table.limits.total), of which one queue may have an eighth (limits.total)"
            : "\(peer.outbox.pending) bytes wait, and \(table.limits.queue) may (limits.queue)"
    }

    /// What is full where a call or a report found no room.
    func whatIsFullForRequest(_ count: Int, _ peer: Peer) -> String {
        let most = mostRequested(of: peer)
        guard isWithinQueue(count, peer, table.limits.queue), !isWithinQueue(count, peer, most) else {
            return whatIsFull(count, peer)
        }
        return "\(peer.outbox.pending) bytes wait, and as it observes with keep: all, calls and reports "
            + "may fill \(most) of \(table.limits.queue) (limits.queue)"
    }

    /// What the limits on bytes that wait have against one more request of a peer's that is
    /// to wait for a module or the authorizer.
    func checkRoom(for held: HeldRequest, of peer: Peer) throws(BusError) {
        let own = peer.heldBytes
        try require(
            own == 0 || own + held.cost <= table.limits.held, .overloaded,
            "\(own) bytes of \(peer.displayName) wait for modules or the authorizer, and \(table.limits.held) may "
                + "(limits.held): wait for answers")
        if own + held.cost > Self.alwaysTaken, let refusal = totalRefusal(held.cost) { throw refusal }
    }

    /// What the limit on all that waits has against so many bytes more.
    func totalRefusal(_ count: Int) -> BusError? {
        guard count > restOfTotal else { return nil }
        return BusError(
            .overloaded,
            "\(waitingBytes) bytes wait in the broker for all, and \(table.limits.total) may (limits.total); these are "
                + "\(count): try later")
    }
}
