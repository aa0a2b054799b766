import StrataCore

/// The first step of handling a peer's frames, by their kind.
extension BusCore {
    /// Why the frames of a turn stop: the connection has something to do first.
    enum Interruption {
        /// `lent` must be written or kept, because its bytes are in the turn's memory.
        case lent
        /// The frame may have taken long: the connection must check whether the turn has time left.
        case slow
    }

    /// Handles the frames of a turn until none is left, or until the peer is paused or ended.
    /// - Parameter frames: counts the frames.
    @inline(never)
    func handleFrames(
        of peer: Peer, in assembler: inout FrameAssembler, _ frames: inout Int
    ) throws -> Interruption? {
        var header = Header()
        turn.begin()
        let scanner = turn.scanner
        // Handling a frame may pause or end the peer.
        while peer.life.isRead, let frame = try assembler.next() {
            frames &+= 1
            try scanner.scan(frame.header, into: &header)
            if frame.body.count >= Outbox.largeBody { turn.hold(frame.body) }
            if !header.members.isDisjoint(with: [.descriptors, .memory]) {
                handleDescribed(header, frame, of: peer)
            } else if peer.isOpen {
                if peer.role == .node {
                    handle(fromNode: &header, frame, of: peer)
                } else if !monitors.isEmpty {
                    handleMonitored(header, frame, of: peer)
                } else {
                    handle(header, frame, of: peer)
                }
            } else {
                greet(header, frame.body, of: peer)
                // Before hello is answered the limits are lower (`helloLimits`).
                if peer.isOpen { assembler.limits = peer.role == .node ? nodeLimits : frameLimits }
            }
            if frame.body.count >= Outbox.largeBody { turn.letGo() }
            guard turn.isInterrupted else { continue }
            return interruption(of: peer, in: &assembler, at: frame)
        }
        return nil
    }

    /// Stops a turn behind a frame, or before it if the frame is to be handled later.
    @inline(never)
    private func interruption(
        of peer: Peer, in assembler: inout FrameAssembler, at frame: Frame
    ) -> Interruption {
        let descriptors = turn.releaseDescriptors()
        if turn.takeInterruption() {
            assembler.putBack(frame)
            if let descriptors { peer.descriptors?.putBack(descriptors) }
        }
        return turn.lent == nil ? .slow : .lent
    }

    /// Stops reading a peer until `resume`, which begins with the current frame again.
    private func putBack(_ peer: Peer, for reason: PeerLife.Reading) {
        peer.take(.paused(reason))
        turn.putBack()
    }

    @inline(__always)
    func handle(_ header: borrowing Header, _ frame: Frame, of peer: Peer) {
        switch header.kind {
        case .call, .open, .report, .broadcast, .notice, .unknown:
            // A fast path: `mostQueued` is never less than this.
            if peer.outbox.pendingAnswers > min(table.limits.queue, Self.alwaysTaken) {
                host.write(to: peer)
                if peer.outbox.pendingAnswers > mostQueued {
                    // The peer doesn't read its answers, so its next request waits.
                    putBack(peer, for: .answersUnread)
                    return
                }
            }
            switch header.kind {
            case .call: handleCall(header, frame.body, from: peer)
            case .broadcast where work.fanOut == nil: handleBroadcast(header, frame.body, from: peer)
            case .broadcast:
                // The next broadcast waits for the fan-out, because all observers see all
                // broadcasts in the same order.
                turn.putBack()
                awaitFanOut(peer)
            default: handleRare(header, frame.body, from: peer)
            }
        case .reply: handleReply(header, frame.body, from: peer)
        case .error: handleError(header, frame.body, from: peer)
        case .cancel: handleCancel(header, from: peer)
        case .credit: handleCredit(header, from: peer)
        }
    }

    @inline(never)
    private func handleRare(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        do throws(BusError) {
            switch header.kind {
            case .open: try handleOpen(header, body, from: peer)
            case .report: try handleReport(header, body, from: peer)
            default: refuseKind(header, from: peer)
            }
        } catch {
            refuse(peer, header, error)
        }
    }

    private func refuseKind(_ header: borrowing Header, from peer: Peer) {
        let kind = header.kind == .notice ? "notice" : header.unknownKind.text
        let reason =
            header.kind == .notice
            ? "is sent by the broker alone: send broadcast or report" : "is not in the protocol's section 4"
        // With the number of an open request, the error would be taken for the answer to that
        // request.
        let isInUse = peer.requests[header.id] != nil
        writeError(
            peer, id: isInUse ? 0 : header.id,
            BusError(
                .unknownKind,
                "the kind \"\(kind)\" \(reason)"
                    + (isInUse ? "; its id \(header.id) is in use by an open request, which goes on" : "")))
    }
}
