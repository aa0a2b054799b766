import StrataCore

/// Writing frames into the peers' outboxes: the bus's own answers, and frames that it forwards.
extension BusCore {
    /// Notes that a peer has something to write at the end of the round.
    @inline(__always)
    func wrote(to peer: Peer) { connections.wrote(to: peer) }

    /// Answers a request that wasn't opened.
    @inline(never)
    func refuse(_ peer: Peer, _ id: UInt64, _ error: BusError) {
        if error.code == .levelViolation || error.code == .undeclared { statistics.violations += 1 }
        writeError(peer, id: id, error)
    }

    /// The most bytes of a header that a message may take; the rest is cut off.
    private var longestMessage: Int { min(2_048, Int(frameLimits.header)) }

    /// Queues an error, without an id if `id` is 0. The bus's own answers always fit.
    func writeError(_ peer: Peer, id: UInt64, _ error: BusError) {
        let line = peer.line
        guard line.life != .closed else { return }
        statistics.countError(error.code)
        let error = (peer.role == .app ? error.toldOutside(table.app) : error).shortened(to: longestMessage)
        if monitors.isOn { monitorOwnError(error, id, to: peer) }
        // Escaping turns one byte into up to 6.
        let room = (error.message.utf8.count + error.code.rawValue.utf8.count) * 6
        _ = error.body.withUnsafeBytes { body in
            queue(.error, to: line, room: room, body: body, isAnswer: true) { writer in
                if id != 0 { writer.integer("id", id) }
                writer.string("code", error.code.rawValue)
                writer.string("message", error.message)
                writer.string("ran", error.ran.rawValue)
            }
        }
        // Errors take long to make, so the turn's time is checked.
        turn.interrupt()
    }

    /// Queues one of the bus's own answers.
    func writeReply(_ peer: Peer, id: UInt64, _ body: [UInt8], more: Bool = false) {
        guard peer.isOpen else { return }
        statistics.replies += 1
        body.withUnsafeBytes { body in
            if monitors.isOn { monitorOwnReply(body, to: peer) }
            queue(.reply, to: peer.line, room: 0, body: body, isAnswer: true) { writer in
                writer.integer("id", id)
                if more { writer.boolean("more", true) }
            }
        }
    }

    func writeReply(_ peer: Peer, id: UInt64, _ body: JSON = .object([])) {
        writeFitting(peer, id: id, body.encoded())
    }

    /// Does the same with a body of which monitors see another one.
    func writeReply(_ peer: Peer, id: UInt64, _ body: JSON, shown: JSON?) {
        guard monitors.isOn, let shown else { return writeReply(peer, id: id, body) }
        let bytes = body.encoded()
        guard fitsAnswer(bytes.count, peer, id: id, .no), peer.isOpen else { return }
        statistics.replies += 1
        shown.encoded().withUnsafeBytes { monitorOwnReply($0, to: peer) }
        bytes.withUnsafeBytes { body in
            _ = queue(.reply, to: peer.line, room: 0, body: body, isAnswer: true) { $0.integer("id", id) }
        }
    }

    /// The most bytes that a body of the bus's own may have.
    var mostAnswered: Int { Int(frameLimits.frame) - HeaderWriter.overhead }

    /// Queues one of the bus's own answers. If it is too long for a frame, `overloaded` is queued
    /// instead.
    /// - Parameter ran: whether modules' handlers ran for the request.
    func writeFitting(_ peer: Peer, id: UInt64, _ bytes: [UInt8], ran: BusError.Ran = .no) {
        if fitsAnswer(bytes.count, peer, id: id, ran) { writeReply(peer, id: id, bytes) }
    }

    /// Does the same without a copy.
    func writeFitting(_ peer: Peer, id: UInt64, _ body: Payload) {
        guard fitsAnswer(body.bytes.count, peer, id: id, .no), peer.isOpen else { return }
        statistics.replies += 1
        if monitors.isOn { monitorOwnReply(body.bytes, to: peer) }
        queue(.reply, to: peer.line, room: 0, payload: body, isAnswer: true) { $0.integer("id", id) }
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
        _ peer: Peer, _ call: CallPointer, trace: UnsafeRawBufferPointer = .none,
        meta: UnsafeRawBufferPointer = .none
    ) {
        guard peer.isOpen else { return }
        queue(.cancel, to: peer.line, room: trace.count + meta.count, body: .none, isAnswer: false) { writer in
            writer.integer("id", call.pointee.id)
            if peer.isRemote { nameCaller(of: call, to: &writer) }
            writer.passOn(trace, meta)
        }
    }

    /// Queues a frame whose header `write` writes. A large body isn't copied if the kernel takes it
    /// at once.
    /// - Parameter room: the sum of `HeaderWriter.room` of everything that `write` writes.
    /// - Returns: the position behind the frame.
    @inline(__always)
    @discardableResult
    func queue(
        _ kind: Header.Kind, to peer: Peer, room: Int, body: UnsafeRawBufferPointer, isAnswer: Bool,
        _ write: (inout HeaderWriter) -> Void
    ) -> UInt64 {
        // A small body is copied behind its header.
        if body.count < Outbox.largeBody {
            var writer = HeaderWriter(peer.outbox.reserve(HeaderWriter.overhead &+ room &+ body.count), kind)
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

    /// Handles a payload with borrowed bytes that was just queued. If the bytes belong to the
    /// current frame they are lent: the connection writes them before the next frame, and keeps the
    /// rest. Any other bytes are written and kept here.
    func queued(_ payload: Payload) {
        if turn.lend(payload) { return }
        writeBorrowed()
        if let file = turn.descriptors?.takeUnretainedValue().file(of: payload.bytes) {
            payload.own(file)
        } else {
            payload.own()
        }
    }

    /// Takes back what was lent, before the next frame of the turn is handled or its memory is
    /// reused. The lent bytes are written as far as the connections take them, and the rest is
    /// kept.
    /// - Parameter assembler: has the turn's memory, and gives it away if it can.
    func takeBackLent(from assembler: inout FrameAssembler) {
        writeBorrowed()
        guard let payload = turn.takeLent() else { return }
        // Taking the frame's memory over saves a copy.
        if payload.isWaiting, let memory = assembler.giveAway(payload.bytes) {
            payload.own(memory)
        } else {
            payload.own()
        }
    }

    private func writeBorrowed() {
        for peer in turn.borrowers { host.write(to: peer) }
        turn.forgetBorrowers()
    }

    /// Queues a frame whose body may be in the queues of several peers.
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
