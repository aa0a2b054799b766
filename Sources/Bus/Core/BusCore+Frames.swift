import StrataCore

/// What each kind of frame from a peer leads to.
extension BusCore {
    /// Why the frames of a turn don't go on: the connection's side has something to do first.
    enum Interruption {
        /// `lent` is to be written or kept: its bytes stand in the turn's memory.
        case lent
        /// The frame may have taken long: whether the turn has time for more is to be looked at.
        case slow
    }

    /// Handles the frames of a turn, until there is none, or the peer is paused or ended.
    /// - Parameter frames: counts them.
    @inline(never)
    func handleFrames(
        of peer: Peer, in assembler: inout FrameAssembler, _ frames: inout Int
    ) throws -> Interruption? {
        var header = Header()
        turn.begin()
        let scanner = turn.scanner
        while !peer.isPaused, peer.phase == .open || peer.phase == .greeting, let frame = try assembler.next() {
            frames &+= 1
            try scanner.scan(frame.header, into: &header)
            if frame.body.count >= Outbox.largeBody { turn.hold(frame.body) }
            if peer.phase == .open {
                if monitors.isOn { handleMonitored(header, frame, of: peer) } else { handle(header, frame, of: peer) }
            } else {
                greet(header, frame.body, of: peer)
                if peer.phase == .open { assembler.limits = frameLimits }
            }
            if frame.body.count >= Outbox.largeBody { turn.letGo() }
            guard turn.isInterrupted else { continue }
            if turn.takeInterruption() { assembler.putBack(frame) }
            return turn.lent == nil ? .slow : .lent
        }
        return nil
    }

    /// Doesn't read a peer until `resume`, which begins with the frame in hand again.
    func putBack(_ peer: Peer, for reason: Peer.Pause) {
        peer.pause = reason
        turn.putBack()
    }

    @inline(__always)
    func handle(_ header: borrowing Header, _ frame: Frame, of peer: Peer) {
        switch header.kind {
        case .call, .open, .report, .broadcast, .notice, .unknown:
            if peer.outbox.pendingAnswers > min(table.limits.queue, Self.alwaysTaken) {
                host.write(to: peer)
                if peer.outbox.pendingAnswers > mostQueued {
                    // It doesn't read its answers: its next request waits.
                    putBack(peer, for: .answers)
                    return
                }
            }
            switch header.kind {
            case .call: handleCall(header, frame.body, from: peer)
            case .open: handleOpen(header, frame.body, from: peer)
            case .report: handleReport(header, frame.body, from: peer)
            case .notice, .unknown: refuseKind(header, from: peer)
            default:
                if work.fanOut == nil {
                    handleBroadcast(header, frame.body, from: peer)
                } else {
                    // All observers see all broadcasts in one order.
                    putBack(peer, for: .idleWork)
                    awaitFanOut(peer)
                }
            }
        case .reply: handleReply(header, frame.body, from: peer)
        case .error: handleError(header, frame.body, from: peer)
        case .cancel: handleCancel(header, from: peer)
        case .credit: handleCredit(header, from: peer)
        }
    }

    private func refuseKind(_ header: borrowing Header, from peer: Peer) {
        let kind = header.kind == .notice ? "notice" : header.unknownKind.text
        let reason =
            header.kind == .notice
            ? "is sent by the broker alone: send broadcast or report" : "is none of the protocol's section 4"
        // With the number of an open request it would be taken for that one's answer.
        let isInUse = peer.requests.find(header.id) != nil
        writeError(
            peer, id: isInUse ? 0 : header.id,
            BusError(
                .unknownKind,
                "the kind \"\(kind)\" \(reason)"
                    + (isInUse ? "; its id \(header.id) is in use by an open request, which goes on" : "")))
    }

    // MARK: Judging a request

    /// Whether a request has a number that can be used; answers it where not.
    @inline(__always)
    func hasUsableID(_ header: borrowing Header, from peer: Peer) -> Bool {
        if header.id == 0 {
            writeError(
                peer, id: 0,
                BusError(
                    .badID,
                    "a \(header.kind.name) came \(header.members.contains(.id) ? "with an id out of range" : "without id"): "
                        + "number requests from 1 to 2^53-1"))
            return false
        }
        if peer.requests.find(header.id) != nil {
            writeError(
                peer, id: 0,
                BusError(
                    .badID,
                    "the id \(header.id) is in use by an open request, which goes on: choose another"))
            return false
        }
        return true
    }

    /// Opens a request: its number, quota, parent and deadline. Nil where it
    /// was refused, and answered.
    @inline(__always)
    func openRequest(_ kind: Call.Kind, _ header: borrowing Header, from peer: Peer) -> CallPointer? {
        guard peer.requests.count < table.limits.calls else {
            refuse(
                peer, header.id,
                BusError(
                    .overloaded,
                    "\(peer.displayName) has \(table.limits.calls) open requests (limits.calls): wait for answers"))
            return nil
        }
        var parent: CallPointer?
        if header.members.contains(.parent) {
            parent = openParent(header, of: peer)
            guard parent != nil else {
                refuse(
                    peer, header.id,
                    BusError(
                        .cancelled,
                        "the parent \(header.parent) is not open at \(peer.displayName): it has ended, or was never its call"
                    ))
                return nil
            }
        }
        guard let call = calls.open(kind) else {
            refuse(
                peer, header.id,
                BusError(.overloaded, "the broker has \(Call.mostSlots) open requests: wait for answers"))
            return nil
        }
        call.pointee.caller = .passUnretained(peer)
        call.pointee.callerID = header.id
        call.pointee.startedAt = time
        call.pointee.credit = header.members.contains(.credit) ? header.credit : 16
        peer.requests.insert(header.id, call)
        peer.addMade(call)
        setDeadline(call, header, parent)
        return call
    }

    /// The open call that a request names as its parent.
    func openParent(_ header: borrowing Header, of peer: Peer) -> CallPointer? {
        guard header.parent > 0, let parent = calls.find(UInt64(header.parent)),
            parent.pointee.callee?.toOpaque() == Unmanaged.passUnretained(peer).toOpaque(),
            parent.pointee.state == .sent
        else { return nil }
        return parent
    }

    @inline(__always)
    private func setDeadline(_ call: CallPointer, _ header: borrowing Header, _ parent: CallPointer?) {
        var budget: UInt64 = 30_000
        if header.members.contains(.deadline) {
            if header.deadline == 0, header.members.contains(.credit) {
                budget = 0
            } else {
                budget = UInt64(min(max(header.deadline, 1), 86_400_000))
            }
        }
        call.pointee.budget = budget
        if let parent, !parent.pointee.isLifecycle { parent.adopt(call) }
        let parentExpiry = parent?.pointee.expiry ?? Call.never
        let own = budget == 0 ? Call.never : now + budget
        call.pointee.expiry = min(own, parentExpiry)
        arm(call)
    }

    /// Starts a call's timer for its expiry.
    @inline(__always)
    func arm(_ call: CallPointer) {
        guard call.pointee.expiry != Call.never else { return }
        wake(at: calls.arm(call))
    }

    /// Begins a step of a stream anew.
    func renewDeadline(_ call: CallPointer) {
        guard call.pointee.budget > 0 else { return }
        calls.disarm(call)
        call.pointee.expiry = min(
            now + call.pointee.budget, call.pointee.parent?.pointee.expiry ?? Call.never)
        arm(call)
    }

    /// Milliseconds that a call still has; 0 for no end.
    @inline(__always)
    func remaining(_ call: CallPointer) -> UInt64 {
        guard call.pointee.expiry != Call.never else { return 0 }
        return max(1, call.pointee.expiry - min(call.pointee.expiry, now))
    }

    // MARK: Writing to a peer

    /// Notes that a peer has something to write at the end of the round.
    @inline(__always)
    func wrote(to peer: Peer) { connections.wrote(to: peer) }

    /// Answers a request that was not opened.
    func refuse(_ peer: Peer, _ id: UInt64, _ error: BusError) {
        if error.code == .levelViolation || error.code == .undeclared { statistics.violations += 1 }
        writeError(peer, id: id, error)
    }

    /// A message may be so long, in a header's bytes; the rest is cut off.
    private var longestMessage: Int { min(2_048, Int(frameLimits.header)) }

    /// Queues an error; without id where that is 0. The broker's own answers
    /// always fit.
    func writeError(_ peer: Peer, id: UInt64, _ error: BusError) {
        guard peer.phase != .closed else { return }
        statistics.countError(error.code)
        let error = error.shortened(to: longestMessage)
        if monitors.isOn { monitorOwnError(error, id, to: peer) }
        let text = error.message.utf8.count + error.code.rawValue.utf8.count
        let memory = peer.outbox.reserve(HeaderWriter.overhead + text * 6 + error.body.count)
        var writer = HeaderWriter(memory, .error)
        if id != 0 { writer.integer("id", id) }
        writer.string("code", error.code.rawValue)
        writer.string("message", error.message)
        writer.string("ran", error.ran.rawValue)
        let count = error.body.withUnsafeBytes { writer.end(body: $0) }
        peer.outbox.commit(inlineCount: count, isAnswer: true)
        wrote(to: peer)
        turn.interrupt()
    }

    /// Queues an answer of the broker's own.
    func writeReply(_ peer: Peer, id: UInt64, _ body: [UInt8], more: Bool = false) {
        guard peer.phase == .open else { return }
        statistics.replies += 1
        if monitors.isOn { body.withUnsafeBytes { monitorOwnReply($0, to: peer) } }
        let memory = peer.outbox.reserve(HeaderWriter.overhead + body.count)
        var writer = HeaderWriter(memory, .reply)
        writer.integer("id", id)
        if more { writer.boolean("more", true) }
        let count = body.withUnsafeBytes { writer.end(body: $0) }
        peer.outbox.commit(inlineCount: count, isAnswer: true)
        wrote(to: peer)
    }

    func writeReply(_ peer: Peer, id: UInt64, _ body: JSON = .object([])) {
        writeFitting(peer, id: id, body.encoded())
    }

    /// No body of the broker's own may be longer, in bytes.
    var mostAnswered: Int { Int(frameLimits.frame) - HeaderWriter.overhead }

    /// Queues an answer of the broker's own; one that no frame can have is `overloaded`.
    /// - Parameter ran: whether modules' handlers ran for it.
    func writeFitting(_ peer: Peer, id: UInt64, _ bytes: [UInt8], ran: BusError.Ran = .no) {
        if fitsAnswer(bytes.count, peer, id: id, ran) { writeReply(peer, id: id, bytes) }
    }

    /// The same, without a copy.
    func writeFitting(_ peer: Peer, id: UInt64, _ body: Payload) {
        guard fitsAnswer(body.bytes.count, peer, id: id, .no), peer.phase == .open else { return }
        statistics.replies += 1
        if monitors.isOn { monitorOwnReply(body.bytes, to: peer) }
        queue(.reply, to: peer, room: 0, payload: body, isAnswer: true) { $0.integer("id", id) }
    }

    private func fitsAnswer(_ count: Int, _ peer: Peer, id: UInt64, _ ran: BusError.Ran) -> Bool {
        if count <= mostAnswered { return true }
        refuse(
            peer, id,
            BusError(
                .overloaded,
                "the answer has over \(mostAnswered) bytes, more than a frame may have: raise limits.frame in the manifest",
                ran: ran))
        return false
    }

    func writeCancel(
        _ peer: Peer, id: UInt64, trace: UnsafeRawBufferPointer = .none, meta: UnsafeRawBufferPointer = .none
    ) {
        guard peer.phase == .open else { return }
        let memory = peer.outbox.reserve(HeaderWriter.overhead + trace.count + meta.count)
        var writer = HeaderWriter(memory, .cancel)
        writer.integer("id", id)
        if trace.count > 0 { writer.raw("trace", trace) }
        if meta.count > 0 { writer.raw("meta", meta) }
        peer.outbox.commit(inlineCount: writer.end(body: .none), isAnswer: false)
        wrote(to: peer)
    }

    /// Queues a frame whose header `write` writes. Large bodies are not copied
    /// where the kernel takes them at once.
    /// - Parameter room: `HeaderWriter.room` of what `write` writes, added up.
    /// - Returns: the position behind the frame.
    @inline(__always)
    @discardableResult
    func queue(
        _ kind: Header.Kind, to peer: Peer, room: Int, body: UnsafeRawBufferPointer, isAnswer: Bool,
        _ write: (inout HeaderWriter) -> Void
    ) -> UInt64 {
        if body.count < Outbox.largeBody {
            var writer = HeaderWriter(peer.outbox.reserve(HeaderWriter.overhead + room + body.count), kind)
            write(&writer)
            let end = peer.outbox.commit(inlineCount: writer.end(body: body), isAnswer: isAnswer)
            wrote(to: peer)
            return end
        }
        let payload = Payload(borrowing: body, reclaimer)
        let end = queue(kind, to: peer, room: room, payload: payload, isAnswer: isAnswer, write)
        queued(payload)
        return end
    }

    /// A payload that borrows its bytes stands in queues now. Those of the frame in hand are
    /// lent: the connection's side writes them before the next frame, and keeps what is left. Any
    /// others are written and kept here.
    func queued(_ payload: Payload) {
        if turn.lend(payload) { return }
        writeBorrowed()
        payload.own()
    }

    /// The next frame of the turn comes, or its memory is used anew: what is lent is written,
    /// as far as the connections take it.
    /// - Returns: what the caller must let keep its bytes.
    func takeBackLent() -> Payload? {
        writeBorrowed()
        return turn.takeLent()
    }

    private func writeBorrowed() {
        for peer in turn.borrowers { host.write(to: peer) }
        turn.forgetBorrowers()
    }

    /// Queues a frame whose body may be in several peers' queues.
    @discardableResult
    func queue(
        _ kind: Header.Kind, to peer: Peer, room: Int, payload: Payload, isAnswer: Bool,
        _ write: (inout HeaderWriter) -> Void
    ) -> UInt64 {
        var writer = HeaderWriter(peer.outbox.reserve(HeaderWriter.overhead + room), kind)
        write(&writer)
        let end = peer.outbox.commit(
            inlineCount: writer.endHeader(bodyCount: payload.bytes.count), payload: payload,
            isAnswer: isAnswer)
        wrote(to: peer)
        if payload.isBorrowed { turn.borrows(peer) }
        return end
    }
}
