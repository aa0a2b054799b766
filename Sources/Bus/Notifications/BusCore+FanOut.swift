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

    /// Delivers the next piece.
    func advanceFanOut() {
        deliver(isShared ? FanOut.sharedPiece : FanOut.piece)
    }

    /// Delivers all that is left: what comes next must not come before it.
    func finishFanOut() {
        while deliver(.max) {}
    }

    /// - Returns: whether there was something to deliver.
    @discardableResult
    private func deliver(_ most: Int) -> Bool {
        // Ending a slow consumer may come back here, for another piece.
        guard let piece = work.takePiece(most) else { return false }
        let recipients = piece.notice.withNotice(piece.name) { notice in
            deliver(notice, piece.sharesBody ? piece.notice.body : nil, to: piece.observations, rank: piece.rank)
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
