import StrataCore

/// Calls of the bus's own: to modules, to the launcher, to the authorizer.
extension BusCore {
    /// Calls a module at `module/…`, or the launcher or the authorizer.
    /// - Parameters:
    ///   - trace: that of the request it is made for, with its quotation marks.
    ///   - meta: a JSON object's bytes.
    ///   - action: where it is a module's own, the number of its name.
    ///   - request: what it is made for: it is cancelled where that one ends.
    ///   - mustFit: whether a full queue refuses it, as it does any call.
    func callOwn(
        _ peer: Peer, to: String, name: String? = nil, body: [UInt8] = [], trace: [UInt8] = [],
        meta: [UInt8] = [], of action: UInt32 = ActionNames.none, for request: CallPointer? = nil, deadline: UInt64,
        mustFit: Bool = false, _ purpose: OwnPurpose
    ) {
        let count = body.count + trace.count + meta.count + HeaderWriter.overhead / 2
        // A request that waits for the answer has its body there already.
        let new = request?.pointee.held == nil ? count : count - body.count
        if mustFit, peer.isOpen, !fits(count, peer, new: new) {
            let full = BusError(
                .overloaded, "the queue to \(peer.displayName) is full: \(whatIsFull(count, peer))")
            return own(purpose, peer, .failure(full))
        }
        guard peer.isOpen, let call = calls.open(.own) else {
            return own(purpose, peer, .failure(BusError(.died, "\(peer.displayName) is gone")))
        }
        call.pointee.isLifecycle = to.hasPrefix("module/")
        call.pointee.action = action
        call.pointee.wasSent(to: peer)
        call.pointee.deadline.budget = deadline
        call.pointee.deadline.expiry = deadline == 0 ? Call.Deadline.never : now + deadline
        peer.addServed(call)
        arm(call)
        request?.adopt(call)
        calls.set(purpose, of: call)
        var to = to
        let room = to.utf8.count * 6 + (name?.utf8.count ?? 0) * 6 + trace.count + meta.count
        call.pointee.end = body.withUnsafeBytes { body in
            queue(.call, to: peer, room: room, body: body, isAnswer: false) { writer in
                writer.integer("id", call.pointee.id)
                to.withUTF8 { writer.string("to", UnsafeRawBufferPointer($0)) }
                writer.string("from", "bus" as StaticString)
                if let name { writer.string("name", name) }
                writer.integer("deadline", deadline)
                writer.integer("credit", 0)
                if !trace.isEmpty { trace.withUnsafeBytes { writer.raw("trace", $0) } }
                if !meta.isEmpty { meta.withUnsafeBytes { writer.raw("meta", $0) } }
            }
        }
        if monitors.isOn { body.withUnsafeBytes { monitorOwnCall(call, to, name, $0, to: peer) } }
    }

    func finishOwn(_ call: CallPointer, _ answer: OwnAnswer) {
        let purpose = calls.takePurpose(of: call)
        let callee = call.pointee.callee?.takeUnretainedValue()
        release(call, "the broker's call has ended")
        if let purpose, let callee { own(purpose, callee, answer) }
    }
}
