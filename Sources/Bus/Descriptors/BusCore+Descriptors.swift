import StrataCore

/// Descriptors that go with calls, replies and reports: open files, pipes, sockets, memory. They go
/// only to peers that said so in hello, and with a call or a reply only as many as the action's
/// module has declared.
extension BusCore {
    /// The most descriptors that may be in the broker. The connections come first, so it is at most
    /// what they leave of RLIMIT_NOFILE.
    var mostDescriptors: Int { min(4_096, connections.limit.rest(table.limits.connections)) }

    /// Lets a peer send and get descriptors if its hello said so.
    func admitDescriptors(_ hello: Hello, of peer: Peer) {
        guard !hello.takes.isEmpty else { return }
        peer.descriptors = PeerDescriptors(
            hello.takes, of: peer.number, user: peer.credentials.uid, in: descriptors)
        host.takeDescriptors(of: peer)
    }

    /// Handles a frame whose header names descriptors, or a body in a memory file.
    @inline(never)
    func handleDescribed(_ header: borrowing Header, _ frame: Frame, of peer: Peer) {
        guard takeDescriptors(header, frame, of: peer) else { return }
        guard !monitors.isEmpty else { return handle(header, frame, of: peer) }
        // Monitors see the start of a body, wherever it is.
        let body = (try? bytes(frame.body)) ?? .none
        handleMonitored(header, Frame(header: frame.header, body: body), of: peer)
    }

    /// Returns the bytes of the current frame's body, wherever they are. Those in a file are valid for as
    /// long as the frame is handled. A frame whose body is in a file is otherwise handled as if it had none.
    func bytes(_ body: UnsafeRawBufferPointer) throws(BusError) -> UnsafeRawBufferPointer {
        guard let descriptors = turn.descriptors?.takeUnretainedValue(), descriptors.bodyCount > 0 else { return body }
        return try descriptors.mappedBody().bytes
    }

    /// Finds the descriptors that came with a frame.
    /// - Returns: false if the peer was ended, because its frame and the descriptors don't match.
    private func takeDescriptors(_ header: borrowing Header, _ frame: Frame, of peer: Peer) -> Bool {
        let isInFile = header.members.contains(.memory)
        let problem: String
        switch header.kind {
        case .call, .reply, .report:
            if let own = peer.descriptors, peer.isOpen, own.terms.contains(isInFile ? .memory : .descriptors) {
                let expected = isInFile ? 1 : Int(header.descriptors)
                if let came = own.takeFirst() {
                    if came.refusal != nil || came.numbers.count == expected, !isInFile || frame.body.isEmpty {
                        if isInFile { came.holdBody(of: Int(header.memory), most: table.limits.body) }
                        turn.take(came)
                        return true
                    }
                    problem =
                        isInFile && !frame.body.isEmpty
                        ? "it has \(frame.body.count) bytes of a body as well: leave those out"
                        : "\(came.numbers.count) came with it: send all of a frame's with its first byte"
                } else {
                    problem = "none came with its bytes: send them with its first byte"
                }
            } else {
                problem = "its hello didn't say \"\(isInFile ? "memory" : "descriptors")\": true"
            }
        default: problem = "only calls, replies and reports have some"
        }
        statistics.badFrames += 1
        let said = isInFile ? "\"memory\": \(header.memory)" : "\"descriptors\": \(header.descriptors)"
        end(peer, .badHeader, "a \(header.kind.name) of \(peer.displayName) said \(said), and \(problem)")
        return false
    }

    /// Ends a peer whose bytes brought descriptors that no frame names, or more than the broker can
    /// close.
    /// - Parameter most: the number of frames whose descriptors may have come before the frames' end.
    @inline(never)
    func refuseLooseDescriptors(of peer: Peer, most: Int) {
        guard peer.isOpen, let own = peer.descriptors else { return }
        if own.isOverrun {
            return end(
                peer, .overloaded,
                "\(descriptors.count) descriptors are in the broker, and \(peer.displayName) sends more: connect later")
        }
        guard own.received.count > most else { return }
        statistics.badFrames += 1
        end(
            peer, .badFrame,
            "descriptors of \(peer.displayName) came without a frame that names them: send them with the first byte "
                + "of a frame that says \"descriptors\" or \"memory\"")
    }

    /// Checks that the descriptors of a request can be taken on.
    func checkDescriptors() throws(BusError) {
        if let refusal = turn.descriptors?.takeUnretainedValue().refusal { throw refusal }
    }

    /// Checks that a call's descriptors can go on to its action, as far as that is known.
    @inline(never)
    func checkDescriptors(of route: RouteTable.Route) throws(BusError) {
        guard let descriptors = turn.descriptors?.takeUnretainedValue() else { return }
        try checkDescriptors()
        if isElsewhere(route.owner) { return }
        try route.action.withBytes { action throws(BusError) in
            try checkDescriptors(descriptors, for: route.interface, action)
        }
    }

    /// Checks that a request can go to another node, another process than a module, or the bus itself:
    /// none of them takes descriptors, and a body only in the frame.
    /// - Returns: the bytes of its body.
    func inline(
        _ body: UnsafeRawBufferPointer, for target: @autoclosure () -> String, _ header: borrowing Header
    ) throws(BusError) -> UnsafeRawBufferPointer {
        guard let descriptors = turn.descriptors?.takeUnretainedValue() else { return body }
        try checkDescriptors()
        try require(
            descriptors.bodyCount > 0, .badParams,
            "descriptors go to modules of this node, and \(target()) isn't one: send them without")
        try require(
            takesFrame(header, body: descriptors.bodyCount), .tooLarge, tooLong(descriptors.bodyCount, for: target()))
        return try bytes(body)
    }

    /// Says why a body in a memory file can't go to a receiver.
    private func tooLong(_ count: Int, for target: String) -> String {
        "\(target) takes no bodies in memory files, so it gets them in a frame: \(count) bytes with a header are over "
            + "\(frameLimits.frame) (limits.frame)"
    }

    /// Checks that an action takes so many descriptors. It can be told only once its module is ready.
    func checkDescriptors(
        _ descriptors: FrameDescriptors?, for interface: InterfaceRecord, _ action: UnsafeRawBufferPointer
    ) throws(BusError) {
        guard let descriptors, interface.isLive, descriptors.bodyCount == 0 else { return }
        let most = Int(interface.action(action)?.descriptors.params ?? 0)
        try require(
            descriptors.numbers.count <= most, .badParams,
            "\(interface.name)/\(action.text) takes \(most == 0 ? "no" : "up to \(most)") descriptors, and "
                + "\(descriptors.numbers.count) came: its module declares in hello how many it takes")
    }

    /// Checks that a frame with descriptors can go to a peer.
    func refusal(of frame: DescribedFrame, room: Int, to peer: Peer, _ target: String) -> BusError? {
        if !frame.isBody, !peer.takes(.descriptors) {
            return BusError(
                .failed,
                "\(target) has descriptors, and the hello of \(peer.displayName) doesn't say \"descriptors\": true")
        }
        guard frame.isInlineBody else { return nil }
        if frame.bodyCount + room > Int(frameLimits.frame) {
            return BusError(.tooLarge, tooLong(frame.bodyCount, for: peer.displayName))
        }
        return frame.problem
    }

    /// Queues a call with descriptors to the session that serves it.
    @inline(never)
    func deliverDescriptors(_ call: CallPointer, _ request: Request, _ room: Int, to callee: Peer) {
        guard let descriptors = request.descriptors?.takeUnretainedValue() else { return }
        let frame = DescribedFrame(descriptors, request.body, to: callee)
        let count = frame.body.count + room + HeaderWriter.overhead / 2
        if let refusal = refusal(of: frame, room: room, to: callee, request.to.text) {
            countUnsent(call, request, to: callee)
            return fail(call, refusal)
        }
        guard fitsRequest(count, callee, new: count) else { return queueIsFull(for: call, request, count, to: callee) }
        noteSent(call, request, to: callee)
        let remaining = remaining(call)
        call.pointee.end = queue(.call, to: callee, room: room, frame, isAnswer: false) { writer in
            write(call, request, remaining, to: &writer)
        }
    }

    /// Queues a frame that came with descriptors.
    /// - Returns: the position behind the frame.
    @discardableResult
    func queue(
        _ kind: Header.Kind, to peer: Peer, room: Int, _ frame: DescribedFrame, isAnswer: Bool,
        _ write: (inout HeaderWriter) -> Void
    ) -> UInt64 {
        let payload = frame.payload(reclaimer)
        let end = queue(kind, to: peer, room: room, payload: payload, isAnswer: isAnswer) { writer in
            write(&writer)
            frame.write(to: &writer)
        }
        if payload.isBorrowed { queued(payload) }
        return end
    }

    /// Forwards a final reply that came with descriptors.
    @inline(never)
    func forwardDescriptors(
        _ call: CallPointer, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer,
        to caller: Peer
    ) {
        // An adapter has read the body.
        guard let descriptors = turn.descriptors?.takeUnretainedValue() else {
            return forwardWhole(call, header, body, from: peer, to: caller)
        }
        let count = descriptors.numbers.count
        if let refusal = descriptors.refusal { return failAnswer(call, refusal) }
        let frame = DescribedFrame(descriptors, body, to: caller)
        if !frame.isBody, count > Int(call.pointee.mostDescriptors) {
            return failAnswer(
                call,
                BusError(
                    .failed,
                    "\(peer.displayName) answered with \(count) descriptors, and its hello declares "
                        + "\(call.pointee.mostDescriptors) in replies of this action"))
        }
        let room = header.trace.count + header.meta.count
        if let refusal = refusal(of: frame, room: room + HeaderWriter.overhead, to: caller, "the answer") {
            return failAnswer(call, refusal)
        }
        let size = frame.body.count + room + HeaderWriter.overhead / 4
        guard fits(size, caller) else { return overloadedAnswer(call, size, caller) }
        // From now on only the caller decides how long they stay here.
        if !frame.isInlineBody, let refusal = caller.descriptors?.take(over: descriptors, bytes: table.limits.body) {
            return failAnswer(call, refusal)
        }
        if monitors.isOn { monitorReply(call, body, more: false, from: peer, to: caller) }
        queue(.reply, to: caller, room: room, frame, isAnswer: true) { writer in
            writer.integer("id", call.pointee.callerID)
            writer.passOn(header.trace, header.meta)
        }
        release(call, "its parent was answered")
    }

    /// Fails a call whose answer can't go on. What is wrong with it is the callee's fault, not the caller's.
    private func failAnswer(_ call: CallPointer, _ refusal: BusError) {
        fail(call, Self.codeOfAnswer(refusal), refusal.message, ran: .yes)
    }

    static func codeOfAnswer(_ refusal: BusError) -> ErrorCode { refusal.code == .badParams ? .failed : refusal.code }

    /// Returns the bytes of an answer to one of the bus's own calls.
    func answerBytes(_ body: UnsafeRawBufferPointer) throws(BusError) -> UnsafeRawBufferPointer {
        guard let count = turn.descriptors?.takeUnretainedValue().bodyCount else { return body }
        try checkDescriptors()
        try require(count <= Int(frameLimits.frame), .tooLarge, tooLong(count, for: "the bus"))
        return try bytes(body)
    }
}
