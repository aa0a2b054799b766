import StrataCore

/// Broadcasts that are delivered in batches, one broadcast after another. The sender isn't read
/// until its broadcast is delivered. Neither is a peer whose next frame is another broadcast. So
/// the order from one peer to another is kept, and all observers see all broadcasts in the same
/// order.
extension BusCore {
    /// Begins a broadcast that is delivered in batches.
    /// - Parameters:
    ///   - walks: the observations that it reaches.
    ///   - held: the number of observations for which it is held.
    ///   - nodes: the number of nodes that it went on to.
    func beginFanOut(
        _ walks: [FanOut.Walk], _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer, rank: Int,
        held: Int, nodes: Int
    ) {
        let sharesBody = body.count >= Outbox.largeBody
        let payload = sharesBody ? Payload(borrowing: body, reclaimer) : Payload(copying: body, reclaimer)
        // The bytes stay until the fan-out ends, even while no queue refers to them.
        payload.hold()
        if sharesBody { queued(payload) }
        let fanOut = levels.nameBytes[rank].withUnsafeBytes { level in
            FanOut(
                sender: peer, id: header.id, rank: rank,
                notice: KeptNotice(
                    from: Array(peer.from), node: Array(peer.node), level: Array(level),
                    object: header.members.contains(.object) ? Array(header.object) : nil, trace: Array(header.trace),
                    meta: Array(header.meta), body: payload),
                sharesBody: sharesBody, walks: walks, nodes: nodes, recipients: held)
        }
        work.begin(fanOut)
        awaitFanOut(peer)
    }

    /// Stops reading a peer until the fan-out is done.
    func awaitFanOut(_ peer: Peer) {
        let line = peer.line
        line.take(.paused(.idleWork))
        work.wait(line)
    }

    /// Delivers the next batch.
    func advanceFanOut() {
        deliver(isShared ? FanOut.sharedBatch : FanOut.batch)
    }

    /// Delivers everything that is left, because the next action must not come before it.
    func finishFanOut() {
        while deliver(.max) {}
    }

    /// - Returns: whether there was something to deliver.
    @discardableResult
    private func deliver(_ most: Int) -> Bool {
        // Ending a slow consumer may call this again, which takes another batch.
        guard let batch = work.takeBatch(most) else { return false }
        let recipients = batch.notice.withNotice(batch.name) { notice in
            if monitors.isOn { countsBroadcast(from: notice.from) }
            defer { countedBroadcast() }
            return deliver(notice, batch.sharesBody ? batch.notice.body : nil, to: batch.observations, rank: batch.rank)
        }
        statistics.notices += UInt64(recipients)
        if let done = work.delivered(to: recipients) { concluded(done) }
        return true
    }

    /// Ends a fan-out, and answers its sender. The sender continues in the next round, after the
    /// removed observations are freed.
    private func concluded(_ done: FanOut) {
        done.notice.body.letGo()
        if done.id != 0 { answer(done.sender, done.id, recipients: done.recipients, nodes: done.nodes) }
    }

    /// Resumes the peer that has waited the longest for a fan-out or a listing. Only one, because
    /// its next broadcast may be another fan-out.
    func resumeAfterFanOut() {
        guard let peer = work.takeFirstWaiting(), peer.isOpen else { return }
        // A node is always read (docs/nodes.md).
        if peer.role == .node || peer.outbox.pendingAnswers <= mostQueued {
            resume(peer)
        } else {
            peer.take(.paused(.answersUnread))
        }
    }
}

/// A broadcast to many observations. It is delivered in batches, so that other peers have turns in
/// between.
struct FanOut {
    /// A broadcast to more observations than this is delivered in batches.
    static let mostAtOnce = 128
    /// The observations in a batch while a light peer is connected (`TurnShares`): some ten
    /// microseconds of work.
    static let sharedBatch = 100
    /// The observations in a batch while no light peer is connected.
    static let batch = 2_000

    /// The observations of one name or pattern, as they were when the broadcast arrived.
    struct Walk {
        /// The name that their notices have.
        let name: [UInt8]
        /// Unretained, because observations that are removed meanwhile live until the fan-out's
        /// end.
        let observations: [Unmanaged<Observation>]
    }

    let sender: Peer
    /// The sender's number for it; 0 if it has none.
    let id: UInt64
    let rank: Int
    let notice: KeptNotice
    /// Whether the queues share the body instead of each having a copy.
    let sharesBody: Bool
    let walks: [Walk]
    /// The number of nodes that it went on to.
    let nodes: Int

    /// Where the next batch begins.
    private(set) var walk = 0
    private(set) var position = 0
    private(set) var recipients = 0
    /// The number of batches that are being delivered.
    private(set) var batchesInHand = 0

    /// Some of the observations of a walk.
    struct Batch {
        let notice: KeptNotice
        let name: [UInt8]
        let observations: ArraySlice<Unmanaged<Observation>>
        let sharesBody: Bool
        let rank: Int
    }

    /// Takes the next batch of at most `most` observations; nil if none is left.
    mutating func takeBatch(_ most: Int) -> Batch? {
        guard walk < walks.count else { return nil }
        let all = walks[walk].observations
        let end = position + min(most, all.count - position)
        let batch = Batch(
            notice: notice, name: walks[walk].name, observations: all[position..<end], sharesBody: sharesBody,
            rank: rank)
        (walk, position) = end == all.count ? (walk + 1, 0) : (walk, end)
        batchesInHand += 1
        return batch
    }

    /// Counts a delivered batch.
    /// - Returns: whether everything is delivered.
    mutating func delivered(to recipients: Int) -> Bool {
        self.recipients += recipients
        batchesInHand -= 1
        return walk == walks.count && batchesInHand == 0
    }
}
