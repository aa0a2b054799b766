import StrataCore

/// Descriptors that go with calls, replies and reports: open files, pipes, sockets, memory. They go
/// only to peers that said so in hello, and with a call or a reply only as many as the action's
/// module has declared.
extension BusCore {
    /// The most descriptors that may be in the broker. The connections come first, so it is at most
    /// what they leave of RLIMIT_NOFILE.
    var mostDescriptors: Int { min(4_096, connections.limit.rest(table.limits.connections)) }

    /// Lets a peer send and get descriptors if its hello said so. While the broker has as many as it
    /// may, the kernel refuses those of further peers.
    func admitDescriptors(_ hello: Hello, of peer: Peer) {
        guard hello.descriptors else { return }
        peer.descriptors = PeerDescriptors(of: peer.number, in: descriptors)
        if descriptors.count < mostDescriptors { host.takeDescriptors(of: peer) }
    }

    /// Finds the descriptors that came with the current frame.
    /// - Returns: false if the peer was ended, because its frame and the descriptors don't match.
    @inline(never)
    func takeDescriptors(_ header: borrowing Header, of peer: Peer) -> Bool {
        let problem: String
        switch header.kind {
        case .call, .reply, .report:
            if let own = peer.descriptors, peer.isOpen {
                if let came = own.takeFirst() {
                    if came.refusal != nil || came.numbers.count == header.descriptors {
                        turn.take(came)
                        return true
                    }
                    problem = "\(came.numbers.count) came with it: send all of a frame's with its first byte"
                } else {
                    problem = "none came with its bytes: send them with its first byte"
                }
            } else {
                problem = "its hello didn't say \"descriptors\": true"
            }
        default: problem = "only calls, replies and reports have some"
        }
        statistics.badFrames += 1
        end(
            peer, .badHeader,
            "a \(header.kind.name) of \(peer.displayName) said \"descriptors\": \(header.descriptors), and \(problem)")
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
                + "of a frame that says \"descriptors\"")
    }

    /// Checks that a request's descriptors can be taken on and stay on this node.
    func checkDescriptors(toOwner owner: ModuleRecord?) throws(BusError) {
        guard let descriptors = turn.descriptors?.takeUnretainedValue() else { return }
        if let refusal = descriptors.refusal { throw BusError(.overloaded, refusal) }
        if let owner, isElsewhere(owner) { throw Self.staysHere(owner.name) }
    }

    /// Checks that a call's descriptors can go on to its action, as far as that is known.
    @inline(never)
    func checkDescriptors(of route: RouteTable.Route) throws(BusError) {
        guard let descriptors = turn.descriptors?.takeUnretainedValue() else { return }
        try checkDescriptors(toOwner: route.owner)
        try route.action.withBytes { action throws(BusError) in
            try checkDescriptors(descriptors, for: route.interface, action)
        }
    }

    /// Queues a call with descriptors to the session that serves it.
    @inline(never)
    func deliverDescriptors(_ call: CallPointer, _ request: Request, _ room: Int, to callee: Peer) {
        guard let descriptors = request.descriptors?.takeUnretainedValue() else { return }
        let count = request.body.count + room + HeaderWriter.overhead / 2
        guard callee.descriptors != nil else {
            countUnsent(call, request, to: callee)
            return fail(
                call, .failed,
                "\(request.to.text) takes descriptors, and the hello of \(callee.displayName) doesn't say "
                    + "\"descriptors\": true")
        }
        guard fitsRequest(count, callee, new: count) else { return queueIsFull(for: call, request, count, to: callee) }
        noteSent(call, request, to: callee)
        let remaining = remaining(call)
        call.pointee.end = queue(
            .call, to: callee, room: room, body: request.body, with: descriptors, isAnswer: false
        ) { writer in
            write(call, request, remaining, to: &writer)
        }
    }

    /// The refusal of descriptors that would leave this node, or go to the bus itself.
    static func staysHere(_ target: String) -> BusError {
        BusError(.badParams, "descriptors go to modules of this node, and \(target) isn't one: send them without")
    }

    /// Checks that an action takes so many descriptors. It can be told only once its module is ready.
    func checkDescriptors(
        _ descriptors: FrameDescriptors?, for interface: InterfaceRecord, _ action: UnsafeRawBufferPointer
    ) throws(BusError) {
        guard let descriptors, interface.isLive else { return }
        let most = Int(interface.action(action)?.descriptors.params ?? 0)
        try require(
            descriptors.numbers.count <= most, .badParams,
            "\(interface.name)/\(action.text) takes \(most == 0 ? "no" : "up to \(most)") descriptors, and "
                + "\(descriptors.numbers.count) came: its module declares in hello how many it takes")
    }

    /// Returns a payload for a frame with descriptors. A large body is borrowed, as without them.
    func payload(_ body: UnsafeRawBufferPointer, with descriptors: FrameDescriptors) -> Payload {
        let payload =
            body.count < Outbox.largeBody ? Payload(copying: body, reclaimer) : Payload(borrowing: body, reclaimer)
        payload.descriptors = descriptors
        return payload
    }

    /// Queues a frame with descriptors.
    /// - Returns: the position behind the frame.
    @discardableResult
    private func queue(
        _ kind: Header.Kind, to peer: Peer, room: Int, body: UnsafeRawBufferPointer,
        with descriptors: FrameDescriptors, isAnswer: Bool, _ write: (inout HeaderWriter) -> Void
    ) -> UInt64 {
        let payload = payload(body, with: descriptors)
        let end = queue(kind, to: peer, room: room, payload: payload, isAnswer: isAnswer) { writer in
            write(&writer)
            writer.integer("descriptors", UInt64(descriptors.numbers.count))
        }
        if payload.isBorrowed { queued(payload) }
        return end
    }

    /// Forwards a final reply that has descriptors.
    @inline(never)
    func forwardDescriptors(
        _ call: CallPointer, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer,
        to caller: Peer
    ) {
        guard let descriptors = turn.descriptors?.takeUnretainedValue() else { return }
        let count = descriptors.numbers.count
        if let refusal = descriptors.refusal { return fail(call, .overloaded, refusal, ran: .yes) }
        guard count <= Int(call.pointee.mostDescriptors) else {
            return fail(
                call, .failed,
                "\(peer.displayName) answered with \(count) descriptors, and its hello declares "
                    + "\(call.pointee.mostDescriptors) in replies of this action", ran: .yes)
        }
        guard caller.descriptors != nil else {
            return fail(
                call, .failed,
                "the answer has \(count) descriptors, and \(caller.displayName) takes none: say "
                    + "\"descriptors\": true in hello", ran: .yes)
        }
        let room = header.trace.count + header.meta.count
        let size = body.count + room + HeaderWriter.overhead / 4
        guard fits(size, caller) else { return overloadedAnswer(call, size, caller) }
        if monitors.isOn { monitorReply(call, body, more: false, from: peer, to: caller) }
        queue(.reply, to: caller, room: room, body: body, with: descriptors, isAnswer: true) { writer in
            writer.integer("id", call.pointee.callerID)
            writer.passOn(header.trace, header.meta)
        }
        release(call, "its parent was answered")
    }
}
