import StrataCore

/// Answers, cancels, credits and deadlines: everything that advances or ends an open request.
extension BusCore {
    /// Returns the open request that a peer serves under a number.
    @inline(__always)
    private func served(_ id: UInt64, by peer: Peer) -> CallPointer? {
        // A peer can only answer the calls that it serves.
        guard let call = calls.find(id), call.pointee.state == .sent,
            call.pointee.callee?.toOpaque() == Unmanaged.passUnretained(peer).toOpaque()
        else {
            statistics.dropped += 1
            return nil
        }
        return call
    }

    @inline(__always)
    func handleReply(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        guard let call = served(header.id, by: peer) else { return }
        guard call.pointee.kind == .call else {
            answerInside(call, header, body, from: peer)
            return
        }
        // Unwrapped, because a call has a caller, which lives until the end of this round.
        let caller = call.pointee.caller!
        (caller._withUnsafeGuaranteedRef { $0.carrier } ?? caller)._withUnsafeGuaranteedRef { caller in
            if let adaptation = call.pointee.adaptation {
                forwardAdapted(call, adaptation.takeUnretainedValue(), header, body, from: peer, to: caller)
            } else {
                forwardReply(call, header, body, from: peer, to: caller)
            }
        }
    }

    /// Forwards a reply to the caller.
    @inline(__always)
    func forwardReply(
        _ call: CallPointer, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer,
        to caller: Peer
    ) {
        if header.more { return forwardPartial(call, header, body, from: peer, to: caller) }
        statistics.replies += 1
        durations.record((time - min(time, call.pointee.startedAt)) / 1_000)
        if !header.members.isDisjoint(with: [.descriptors, .memory]) {
            return forwardDescriptors(call, header, body, from: peer, to: caller)
        }
        forwardWhole(call, header, body, from: peer, to: caller)
    }

    /// Forwards a final reply with its body.
    @inline(__always)
    func forwardWhole(
        _ call: CallPointer, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer,
        to caller: Peer
    ) {
        // What is passed on of its header is a part of it.
        let count = body.count &+ Int(header.count) &+ HeaderWriter.overhead / 4
        guard fits(count, caller) else { return overloadedAnswer(call, count, caller) }
        queueReply(call, header, body, more: false, from: peer, to: caller)
        release(call, "its parent was answered")
    }

    @inline(__always)
    private func queueReply(
        _ call: CallPointer, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, more: Bool,
        from peer: Peer, to caller: Peer
    ) {
        if monitors.isOn { monitorReply(call, body, more: more, from: peer, to: caller) }
        let id = call.pointee.callerID
        queue(.reply, to: caller, room: Int(header.count), body: body, isAnswer: true) { writer in
            writer.integer("id", id)
            if more { writer.boolean("more", true) }
            writer.passOn(header.trace, header.meta)
        }
    }

    @inline(never)
    func monitorReply(_ call: CallPointer, _ body: UnsafeRawBufferPointer, more: Bool, from peer: Peer, to caller: Peer)
    {
        if traffic.isOn, !more { countEnd(call, isError: false) }
        // Two nodes' monitors that noted each other's streams would never end.
        if !monitors.isEmpty, !more || peer.role != .node {
            monitorAnswer(call, nil, body, more: more, from: peer, to: caller)
        }
    }

    @inline(never)
    func overloadedAnswer(_ call: CallPointer, _ count: Int, _ caller: Peer, ran: BusError.Ran = .yes) {
        fail(
            call, .overloaded,
            "the answer did not fit into the queue to \(caller.displayName): \(whatIsFull(count, caller)); read "
                + "answers sooner", ran: ran)
    }

    @inline(never)
    private func forwardPartial(
        _ call: CallPointer, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer,
        to caller: Peer
    ) {
        guard header.members.isDisjoint(with: [.descriptors, .memory]) else {
            return failAndCancel(
                call, .failed,
                "\(peer.displayName) sent descriptors or a memory file with a partial reply: only the last may have some"
            )
        }
        guard call.pointee.stream.credit > 0 else {
            return failAndCancel(
                call, .overloaded,
                "\(peer.displayName) sent a partial reply beyond the caller's credit: a callee waits for credit")
        }
        let count = body.count + header.trace.count + header.meta.count + HeaderWriter.overhead / 4
        guard fits(count, caller) else {
            return failAndCancel(
                call, .overloaded,
                "a partial reply did not fit into the queue to \(caller.displayName): "
                    + "\(whatIsFull(count, caller)); give less credit")
        }
        call.pointee.stream.credit -= 1
        call.pointee.stream.wasPassedOn = true
        queueReply(call, header, body, more: true, from: peer, to: caller)
        // In a stream, the deadline is for each reply.
        renewDeadline(call)
    }

    /// Handles an answer to a notice or to one of the bus's own calls.
    @inline(never)
    private func answerInside(
        _ call: CallPointer, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) {
        guard !header.more else {
            statistics.dropped += 1
            return
        }
        var body = body
        if call.pointee.kind == .own {
            do throws(BusError) { body = try answerBytes(body) } catch {
                return finishOwn(call, .failure(BusError(Self.codeOfAnswer(error), error.message, ran: .yes)))
            }
        }
        if monitors.isOn {
            if let shown = tableWithoutSecrets(body, call) {
                shown.withUnsafeBytes { monitorAnswer(call, nil, $0, from: peer, to: nil) }
            } else {
                monitorAnswer(call, nil, body, from: peer, to: nil)
            }
        }
        if call.pointee.kind == .notice {
            noticeAnswered(call, nil)
        } else {
            finishOwn(call, .success(Array(body)))
        }
    }

    @inline(never)
    func handleError(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        guard header.members.contains(.id) else {
            // An error without id is a client's remark, and has no addressee.
            if peer.role == .link { noteLastWord(header, of: peer) }
            statistics.dropped += 1
            return
        }
        guard let call = served(header.id, by: peer) else { return }
        var error = calleeError(header, body, from: peer)
        error.root = calls.root(of: call)
        // The request failed on another node, which knows where that began.
        if peer.isRemote, let root = BusError.Root(header.root) { error.root = root }
        switch call.pointee.kind {
        case .own, .notice:
            if call.pointee.kind == .own { error = withoutSecrets(error, of: peer) }
            if monitors.isOn {
                error.body.withUnsafeBytes { monitorAnswer(call, error.code, $0, from: peer, to: nil) }
            }
            if call.pointee.kind == .own {
                finishOwn(call, .failure(error))
            } else if let report = reportFailed(call, &error) {
                forwardError(report, error, header, body, from: peer)
            }
        case .call, .report, .served:
            durations.record((time - min(time, call.pointee.startedAt)) / 1_000)
            forwardError(call, error, header, body, from: peer)
        }
    }

    /// Forwards the error of a callee or an observer to the caller.
    private func forwardError(
        _ call: CallPointer, _ error: BusError, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        from peer: Peer
    ) {
        let caller = call.pointee.caller!.takeUnretainedValue().line  // because a call has a caller
        // Where it began is inside this app, and no other app's business.
        let root = caller.role == .app ? [] : error.root?.json.encoded() ?? []
        let room =
            header.trace.count + header.meta.count + root.count
            + (error.message.utf8.count + error.code.rawValue.utf8.count) * 6
        let count = body.count + room + HeaderWriter.overhead / 4
        guard fits(count, caller) else { return overloadedAnswer(call, count, caller, ran: error.ran) }
        noteFailure(of: call, error, in: peer)
        if monitors.isOn {
            countEnd(call, isError: true)
            monitorAnswer(call, error.code, body, from: peer, to: caller)
        }
        statistics.countError(error.code)
        let id = call.pointee.callerID
        queue(.error, to: caller, room: room, body: body, isAnswer: true) { writer in
            writer.integer("id", id)
            writer.string("code", error.code.rawValue)
            writer.string("message", error.message)
            writer.string("ran", error.ran.rawValue)
            writer.passOn(header.trace, header.meta)
            if !root.isEmpty { root.withUnsafeBytes { writer.raw("root", $0) } }
        }
        release(call, "its parent failed")
    }

    /// The bus's own codes that a callee may send.
    private static let calleeCodes: Set<ErrorCode> = [.badParams, .failed, .unknownAction, .overloaded, .cancelled]

    /// Reads a callee's error. A module may send some of the bus's codes, and any code with a dot.
    /// A replaced session may also send `replaced`. The launcher is part of the bus, so it may send
    /// any code; the broker of another app may send all of the bus's.
    private func calleeError(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) -> BusError {
        let sent = ErrorCode(header.code.text)
        let isAllowed =
            sent.rawValue.contains(".") || Self.calleeCodes.contains(sent)
            || (peer.role == .launcher && !sent.rawValue.isEmpty)
            || ((peer.role == .link || peer.isRemote) && ErrorCode.ofTheBus.contains(sent))
            || (sent == .replaced && isDraining(peer))
        let code = isAllowed ? sent : .failed
        // Without `ran`, only these two codes say that the handler never started.
        let ran: BusError.Ran =
            header.members.contains(.ran)
            ? header.ran : code == .unknownAction || code == .overloaded ? .no : .yes
        let message = header.message.isEmpty ? "\(peer.displayName) gave no message" : header.message.text
        return BusError(code, message, ran: ran, body: Array(body))
    }

    // MARK: cancel and credit

    @inline(never)
    func handleCancel(_ header: borrowing Header, from peer: Peer) {
        guard let call = peer.requests[header.id] else {
            statistics.dropped += 1
            return
        }
        if call.pointee.kind == .served, monitors.cancel(call) { return }
        failAndCancel(
            call, .cancelled, Self.cancelled(header.id, by: peer), trace: header.trace, meta: header.meta)
    }

    static func cancelled(_ id: UInt64, by peer: Peer) -> String { "\(peer.displayName) cancelled its request \(id)" }

    @inline(never)
    func handleCredit(_ header: borrowing Header, from peer: Peer) {
        guard let call = peer.requests[header.id] else {
            statistics.dropped += 1
            return
        }
        let most = UInt64(HeaderScanner.largestInteger)
        // Credit stops at the largest number that a header can have.
        let added = min(header.credit, most - min(call.pointee.stream.credit, most))
        call.pointee.stream.credit += added
        if call.pointee.kind == .served {
            planTraffic()
            return feedWatches()
        }
        // A report is no stream, so credit restarts nothing.
        guard call.pointee.kind == .call else { return }
        renewDeadline(call)
        if call.pointee.state == .inside { renewOwnCalls(of: call) }
        guard call.pointee.state == .sent, let callee = call.pointee.callee?.takeUnretainedValue() else { return }
        guard call.pointee.stream.owed == 0,
            fits(HeaderWriter.overhead / 4 + header.trace.count + header.meta.count, callee.line)
        else {
            // The queue is full: the credit is added up, and sent when there is room.
            call.pointee.stream.owed += added
            callee.line.setOwesCredit(true)
            return
        }
        writeCredit(call, header.credit, to: callee, header.trace, header.meta)
    }

    private func writeCredit(
        _ call: CallPointer, _ credit: UInt64, to callee: Peer, _ trace: UnsafeRawBufferPointer = .none,
        _ meta: UnsafeRawBufferPointer = .none
    ) {
        queue(.credit, to: callee.line, room: trace.count + meta.count, body: .none, isAnswer: false) { writer in
            writer.integer("id", call.pointee.id)
            if callee.isRemote { nameCaller(of: call, to: &writer) }
            writer.integer("credit", credit)
            writer.passOn(trace, meta)
        }
    }

    /// Restarts the deadlines of calls that the bus made for a call: the authorizer has as long as
    /// the call that it is asked about.
    private func renewOwnCalls(of call: CallPointer) {
        var next = call.pointee.firstChild
        while let child = next {
            next = child.pointee.child.next
            guard child.pointee.kind == .own else { continue }
            child.pointee.deadline.budget = call.pointee.deadline.budget
            renewDeadline(child)
        }
    }

    /// Sends the credit that had no room in a connection's queue.
    func sendOwedCredit(over connection: Peer) {
        connection.setOwesCredit(false)
        guard connection.role == .node else { return sendOwedCredit(connection) }
        for peer in nodes.find(connection)?.peers ?? [] { sendOwedCredit(peer) }
    }

    private func sendOwedCredit(_ callee: Peer) {
        var next = callee.firstServed
        while let call = next {
            next = call.pointee.served.next
            guard call.pointee.stream.owed > 0 else { continue }
            guard fits(HeaderWriter.overhead / 4, callee.line) else {
                callee.line.setOwesCredit(true)
                return
            }
            writeCredit(call, call.pointee.stream.owed, to: callee)
            call.pointee.stream.owed = 0
        }
    }

    // MARK: deadlines

    func deadlinesPassed() {
        while let call = calls.nextExpired(now: now) { deadlinePassed(call) }
    }

    /// The delay in milliseconds after which a passed deadline of the bus's own calls was missed by
    /// the broker itself, because it was halted or replaced.
    private static let ownLateness: UInt64 = 50

    private func deadlinePassed(_ call: CallPointer) {
        if call.pointee.kind == .own, now > call.pointee.deadline.expiry + Self.ownLateness {
            // The answer may have arrived long ago. It is read before a module is blamed for the
            // broker's own absence.
            call.pointee.deadline.expiry = now + Self.ownLateness
            arm(call)
            return
        }
        let who = (creation(of: call) ?? call).pointee.callee?.takeUnretainedValue().displayName
        let waited = call.pointee.waitsFor?.takeUnretainedValue().name
        let budget = call.pointee.deadline.budget
        let given = budget == 0 ? "the deadline of the call that it was made for" : "the deadline of \(budget) ms"
        if call.pointee.kind == .call, call.pointee.stream.wasPassedOn, let who {
            return failAndCancel(
                call, .deadlineExceeded,
                budget == 0
                    ? "the stream of \(who) continued after \(given)"
                    : "the stream of \(who) was quiet for \(budget) ms, the deadline of each reply: give more, or 0 for none"
            )
        }
        let what =
            who.map { "\($0) did not answer" } ?? waited.map { "\($0) was not ready" } ?? "there was no answer"
        failAndCancel(
            call, .deadlineExceeded,
            "\(what) within \(given): give more, or find out why it is slow")
    }
}
