import StrataCore

/// Opening a request: its number, its quota, its parent and its deadline.
extension BusCore {
    /// Whether a request has a usable number. If it doesn't, the request is answered with `bad-id`.
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
        if peer.requests[header.id] != nil {
            writeError(
                peer, id: 0,
                BusError(
                    .badID,
                    "the id \(header.id) is in use by an open request, which goes on: choose another"))
            return false
        }
        return true
    }

    /// Opens a request: its number, quota, parent and deadline.
    @inline(__always)
    func openRequest(
        _ kind: RequestLife.Kind, _ header: borrowing Header, from peer: Peer
    ) throws(BusError) -> CallPointer {
        try require(
            peer.requests.count < table.limits.calls, .overloaded,
            "\(peer.displayName) has \(table.limits.calls) open requests (limits.calls): wait for answers")
        let parent = header.members.contains(.parent) ? try checkedParent(header, of: peer) : nil
        guard let call = calls.open(kind) else {
            throw BusError(.overloaded, "the broker has \(Call.mostSlots) open requests: wait for answers")
        }
        call.pointee.caller = .passUnretained(peer)
        call.pointee.callerID = header.id
        call.pointee.startedAt = time
        call.pointee.stream.credit = header.members.contains(.credit) ? header.credit : 16
        peer.requests.add(call, header.id)
        peer.addMade(call)
        begin(call, header, parent)
        return call
    }

    /// Returns the open call that a request names as its parent, if its chain has room for another
    /// request.
    @inline(never)
    func checkedParent(_ header: borrowing Header, of peer: Peer) throws(BusError) -> CallPointer {
        guard let parent = openParent(header, of: peer) else {
            throw BusError(
                .cancelled,
                "the parent \(header.parent) is not open at \(peer.displayName): it has ended, or was never its call")
        }
        try checkDepth(below: parent, header)
        return parent
    }

    /// Returns the open call that a request names as its parent.
    func openParent(_ header: borrowing Header, of peer: Peer) -> CallPointer? {
        // Peers are compared as pointers, which takes no reference.
        guard header.parent > 0, let parent = calls.find(UInt64(header.parent)),
            parent.pointee.callee?.toOpaque() == Unmanaged.passUnretained(peer).toOpaque(),
            parent.pointee.state == .sent
        else { return nil }
        return parent
    }

    /// Puts a request behind its parent, and starts its deadline.
    @inline(__always)
    private func begin(_ call: CallPointer, _ header: borrowing Header, _ parent: CallPointer?) {
        var budget: UInt64 = 30_000
        if header.members.contains(.deadline) {
            // Only a stream may go without a deadline: without `credit`, 0 counts as 1 ms.
            if header.deadline == 0, header.members.contains(.credit) {
                budget = 0
            } else {
                budget = UInt64(min(max(header.deadline, 1), 86_400_000))
            }
        }
        call.pointee.deadline.budget = budget
        if let parent { parent.adopt(call, further: 1) }
        call.pointee.deadline.expiry = expiry(budget, parent)
        arm(call)
    }

    /// Returns when a step that begins now expires: at its own limit or with its parent, whichever
    /// is earlier.
    @inline(__always)
    private func expiry(_ budget: UInt64, _ parent: CallPointer?) -> UInt64 {
        let own = budget == 0 ? Call.Deadline.never : now + budget
        return min(own, parent?.pointee.deadline.expiry ?? Call.Deadline.never)
    }

    /// Starts a call's timer for its expiry.
    @inline(__always)
    func arm(_ call: CallPointer) {
        guard call.pointee.deadline.expiry != Call.Deadline.never else { return }
        wake(at: calls.arm(call))
    }

    /// Restarts the deadline for the next step of a stream.
    func renewDeadline(_ call: CallPointer) {
        calls.disarm(call)
        call.pointee.deadline.expiry = expiry(call.pointee.deadline.budget, call.pointee.parent)
        arm(call)
    }

    /// Returns the milliseconds that a call has left; 0 if it has no deadline.
    @inline(__always)
    func remaining(_ call: CallPointer) -> UInt64 {
        guard call.pointee.deadline.expiry != Call.Deadline.never else { return 0 }
        return max(1, call.pointee.deadline.expiry - min(call.pointee.deadline.expiry, now))
    }
}
