import StrataCore

/// Broadcasts that go out in pieces. One is under way at a time: the peer that sent
/// it isn't read until it is out, and neither is one whose next frame is another
/// broadcast. So what one sends to another keeps its order, and all observers see
/// all broadcasts in one order.
extension BusCore {
    /// Begins a broadcast that goes in pieces.
    /// - Parameter names: the notification's name, and those that adapters give it.
    func beginFanOut(
        _ names: [[UInt8]], _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer, rank: Int
    ) {
        let sharesBody = body.count >= Outbox.largeBody
        let payload = sharesBody ? Payload(borrowing: body, reclaimer) : Payload(copying: body, reclaimer)
        payload.hold()
        if sharesBody { queued(payload) }
        let walks = names.compactMap { name in
            name.withUnsafeBytes { observations.find($0) }
                .map { FanOut.Walk(name: name, observations: $0.observations) }
        }
        let fanOut = levels.nameBytes[rank].withUnsafeBytes { level in
            FanOut(
                sender: peer, id: header.id, rank: rank,
                notice: KeptNotice(
                    from: Array(peer.from), level: Array(level),
                    object: header.members.contains(.object) ? Array(header.object) : nil, trace: Array(header.trace),
                    meta: Array(header.meta), body: payload),
                sharesBody: sharesBody, walks: walks)
        }
        work.begin(fanOut)
        awaitFanOut(peer)
    }

    /// Doesn't read a peer until the fan-out is done.
    func awaitFanOut(_ peer: Peer) {
        peer.take(.paused(.idleWork))
        work.wait(peer)
    }

    /// Delivers the next batch.
    func advanceFanOut() {
        deliver(isShared ? FanOut.sharedBatch : FanOut.batch)
    }

    /// Delivers all that is left: what comes next must not come before it.
    func finishFanOut() {
        while deliver(.max) {}
    }

    /// - Returns: whether there was something to deliver.
    @discardableResult
    private func deliver(_ most: Int) -> Bool {
        // Ending a slow consumer may come back here, for another batch.
        guard let batch = work.takeBatch(most) else { return false }
        let recipients = batch.notice.withNotice(batch.name) { notice in
            deliver(notice, batch.sharesBody ? batch.notice.body : nil, to: batch.observations, rank: batch.rank)
        }
        statistics.notices += UInt64(recipients)
        if let done = work.delivered(to: recipients) { concluded(done) }
        return true
    }

    /// All have it: the sender gets its answer. It goes on in the next round, after
    /// what was taken out meanwhile is dropped.
    private func concluded(_ done: FanOut) {
        done.notice.body.letGo()
        if done.id != 0 { writeReply(done.sender, id: done.id, Array("{\"recipients\":\(done.recipients)}".utf8)) }
    }

    /// Lets one peer go on that waited for a fan-out or a listing: the one that has waited
    /// the longest. Its next broadcast may be another fan-out.
    func resumeAfterFanOut() {
        guard let peer = work.takeFirstWaiting(), peer.isOpen else { return }
        if peer.outbox.pendingAnswers <= mostQueued { resume(peer) } else { peer.take(.paused(.answersUnread)) }
    }
}

/// A broadcast on its way to so many observations that it goes in pieces, so that
/// others have their turns in between.
struct FanOut {
    /// A broadcast to more observations than this goes in pieces.
    static let mostAtOnce = 128
    /// How many observations a batch has while somebody light is there
    /// (`TurnShares`): some ten microseconds' work.
    static let sharedBatch = 100
    /// The same where nobody is.
    static let batch = 2_000

    /// The observations of one name, as they were when the broadcast came.
    struct Walk {
        let name: [UInt8]
        /// Unretained, because what is taken out of the table meanwhile lives until
        /// the fan-out's end.
        let observations: [Unmanaged<Observation>]
    }

    let sender: Peer
    /// What the sender numbered it; 0 for not at all.
    let id: UInt64
    let rank: Int
    let notice: KeptNotice
    /// Whether the body is not copied into each queue.
    let sharesBody: Bool
    let walks: [Walk]

    /// Where the next batch begins.
    private(set) var walk = 0
    private(set) var position = 0
    private(set) var recipients = 0
    /// Pieces that are being delivered.
    private(set) var batchesInHand = 0

    /// Some of the observations of one name.
    struct Batch {
        let notice: KeptNotice
        let name: [UInt8]
        let observations: ArraySlice<Unmanaged<Observation>>
        let sharesBody: Bool
        let rank: Int
    }

    /// Takes the next batch, of `most` observations; nil where none is left.
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

    /// A batch was delivered to so many.
    /// - Returns: whether all is delivered.
    mutating func delivered(to recipients: Int) -> Bool {
        self.recipients += recipients
        batchesInHand -= 1
        return walk == walks.count && batchesInHand == 0
    }
}
