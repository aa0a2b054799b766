import StrataCore

/// `bus/monitor`: tells operators of each frame that passes or is refused.
///
/// The rest of the broker looks at `isMonitored`, and comes here only where that
/// is set. A frame is told once: when it goes to its receiver, or with the code
/// of its refusal. A monitor's own stream is told to no monitor, so that two of
/// them don't tell each other of each other for ever.
extension Broker {
    /// `monitor {"module"?, "name"?, "bodies"?}`
    @inline(never)
    func monitor(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) throws(BusError) {
        guard peer.role == .operator else {
            throw BusError(.forbidden, "bus/monitor is for operators: \(peer.displayName) can't ask for it")
        }
        let wanted = try wantedFrames(body)
        guard monitors.count < Monitor.most else {
            throw BusError(.overloaded, "\(Monitor.most) monitors are open already: end one of them")
        }
        guard let call = openRequest(.served, header, from: peer) else { return }
        // A monitor has no deadline.
        wheel.remove(call)
        call.pointee.expiry = Call.never
        call.pointee.budget = 0
        // Its request isn't told.
        frameInHand?.isTold = true
        monitors.append(Monitor(peer: peer, call: call, wanted: wanted))
        isMonitored = true
    }

    private func wantedFrames(_ body: UnsafeRawBufferPointer) throws(BusError) -> Monitor.Wanted {
        var wanted = Monitor.Wanted()
        guard !body.isEmpty else { return wanted }
        var reader = try MemberReader(body: body, of: "bus/monitor")
        wanted.module = try reader.string("module")
        wanted.name = try reader.string("name")
        wanted.bodies = try reader.bool("bodies") ?? false
        if let module = wanted.module, !Array(module.utf8).withUnsafeBytes(Name.isModule) {
            throw BusError(
                .badParams,
                "bus/monitor has module \"\(module)\", which can't be a name: say a module's, operator, launcher or bus"
            )
        }
        if let name = wanted.name, !(1...256).contains(name.utf8.count) {
            throw BusError(.badParams, "bus/monitor has a name of \(name.utf8.count) bytes: names have 1 to 256")
        }
        return wanted
    }

    /// A request of the broker's own ends: it may be a monitor.
    @inline(never)
    func endMonitor(_ call: CallPointer) {
        monitors.removeAll { $0.call == call }
        isMonitored = !monitors.isEmpty
    }

    // MARK: Requests

    /// Handles a frame while somebody monitors.
    @inline(never)
    func handleMonitored(_ header: borrowing Header, _ frame: Frame, of peer: Peer) {
        switch header.kind {
        case .reply, .error, .cancel, .credit: break
        case .call, .open, .broadcast, .report, .notice, .unknown:
            frameInHand = FrameInHand(header, frame.body, from: peer)
        }
        handle(header, frame, of: peer)
        tellServed()
        frameInHand = nil
    }

    /// A call to `bus` is in hand: it passes unless it is refused.
    @inline(never)
    func monitorServed() { frameInHand?.isServed = true }

    /// A call goes to its owner.
    @inline(never)
    func monitorDelivered(_ call: CallPointer, _ request: Request, to callee: Peer) {
        let caller = call.pointee.caller!.takeUnretainedValue()  // because a delivered call has a caller
        pass(
            MonitoredFrame(
                kind: "call", id: call.pointee.id, from: caller.from.text, to: request.to.text,
                callee: callee.from.text, url: request.url.isEmpty ? nil : request.url.text, body: request.body))
    }

    /// A report goes to the target's observations.
    @inline(never)
    func monitorReport(_ request: Request, from peer: Peer, to target: ModuleRecord) {
        pass(
            MonitoredFrame(
                kind: "report", from: peer.from.text, to: target.name, name: request.name.text, body: request.body))
    }

    @inline(never)
    func monitorBroadcast(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        pass(MonitoredFrame(kind: "broadcast", from: peer.from.text, to: "", name: header.name.text, body: body))
    }

    @inline(never)
    func monitorNotice(_ notice: Notice, to peer: Peer) {
        tell(
            MonitoredFrame(
                kind: "notice", from: notice.from.text, to: peer.from.text, name: notice.name.text, body: notice.body))
    }

    /// A call of the broker's own.
    @inline(never)
    func monitorOwnCall(
        _ call: CallPointer, _ to: String, _ name: String?, _ body: UnsafeRawBufferPointer, to peer: Peer
    ) {
        tell(
            MonitoredFrame(
                kind: "call", id: call.pointee.id, from: "bus", to: to, callee: peer.from.text, name: name, body: body))
    }

    // MARK: Answers

    /// A callee's answer goes to its caller; nil is the broker.
    @inline(never)
    func monitorAnswer(
        _ call: CallPointer, _ code: ErrorCode?, _ body: UnsafeRawBufferPointer, from callee: Peer, to caller: Peer?
    ) {
        tell(
            MonitoredFrame(
                kind: code == nil ? "reply" : "error", id: Self.number(call), from: callee.from.text,
                to: caller?.from.text ?? "bus",
                code: code?.rawValue, body: body))
    }

    /// Notices and reports aren't told with a number.
    private static func number(_ call: CallPointer) -> UInt64? {
        switch call.pointee.kind {
        case .call, .own: call.pointee.id
        case .notice, .report, .served: nil
        }
    }

    @inline(never)
    func monitorOwnReply(_ body: [UInt8], to peer: Peer) {
        body.withUnsafeBytes { tell(MonitoredFrame(kind: "reply", from: "bus", to: peer.from.text, body: $0)) }
    }

    /// An error of the broker's. Where it refuses a request, that is told, with
    /// the error's code; else it is a frame from `bus`.
    @inline(never)
    func monitorOwnError(_ error: BusError, _ id: UInt64, to peer: Peer) {
        guard peer.role != .none else { return }
        let call = id == 0 ? nil : peer.requests.find(id)
        if let call, monitors.contains(where: { $0.call == call }) { return }
        // Unretained, because the call owns its copy until it ends.
        if let call, let held = call.pointee.held?.takeUnretainedValue() {
            refused(call, held, error, from: peer)
        } else if let hand = frameInHand, !hand.isTold, hand.peer === peer, id == 0 || id == hand.id {
            frameInHand?.isTold = true
            refused(hand, error)
        } else {
            error.body.withUnsafeBytes { body in
                tell(
                    MonitoredFrame(
                        kind: "error", id: call.flatMap(Self.number), from: "bus", to: peer.from.text,
                        code: error.code.rawValue, body: body))
            }
        }
    }

    /// A request that waited, and never went to its receiver.
    private func refused(_ call: CallPointer, _ held: HeldRequest, _ error: BusError, from peer: Peer) {
        let isReport = call.pointee.kind == .report
        let to = held.to.withUnsafeBytes { $0.text }
        held.body.withUnsafeBytes { body in
            tell(
                MonitoredFrame(
                    kind: isReport ? "report" : "call", from: peer.from.text, to: to,
                    callee: held.interface?.owner.name, name: isReport ? held.name.text : nil,
                    code: error.code.rawValue, body: body))
        }
    }

    private func refused(_ hand: FrameInHand, _ error: BusError) {
        let owner = routes.interface(interface(hand.to))?.owner.name
        let kind = hand.kind == .unknown ? hand.unknownKind.text : "\(hand.kind.name)"
        tell(
            MonitoredFrame(
                kind: kind, from: hand.peer.from.text, to: hand.kind == .open ? hand.url.text : hand.to.text,
                target: owner ?? interface(hand.to), callee: owner, name: hand.name?.text,
                code: error.code.rawValue, body: hand.body))
    }

    /// The interface that a refused request names, or all that it names.
    private func interface(_ to: UnsafeRawBufferPointer) -> String {
        guard let destination = Destination(to) else { return to.text }
        return UnsafeRawBufferPointer(rebasing: to[destination.interface]).text
    }

    // MARK: Telling

    /// The request in hand, or one that waited, goes on.
    private func pass(_ frame: MonitoredFrame) {
        tell(frame)
        frameInHand?.isTold = true
    }

    /// A call to `bus` is told before what it leads to.
    private func tellServed() {
        guard let hand = frameInHand, hand.isServed, !hand.isTold else { return }
        frameInHand?.isTold = true
        tell(
            MonitoredFrame(
                kind: "call", from: hand.peer.from.text, to: hand.to.text, callee: "bus",
                name: hand.name?.text, body: hand.body))
    }

    private func tell(_ frame: MonitoredFrame) {
        tellServed()
        var frame = frame
        for monitor in monitors where monitor.wants(frame) && monitor.peer.phase == .open {
            guard monitor.call.pointee.credit > 0 else {
                monitor.missed += 1
                continue
            }
            let room = Int(frameLimits.frame) - HeaderWriter.overhead
            let body = frame.encoded(missed: monitor.missed, withBody: monitor.wanted.bodies, room: room)
            guard body.count <= room, fits(body.count + HeaderWriter.overhead, monitor.peer) else {
                monitor.missed += 1
                continue
            }
            monitor.call.pointee.credit -= 1
            body.withUnsafeBytes { body in
                _ = queue(.reply, to: monitor.peer, room: 0, body: body, isAnswer: true) { writer in
                    writer.integer("id", monitor.call.pointee.callerID)
                    writer.boolean("more", true)
                    if monitor.missed > 0 { writer.integer("missed", monitor.missed) }
                }
            }
            monitor.missed = 0
        }
    }
}

extension [UInt8] {
    /// The bytes as a string; what isn't UTF-8 is replaced.
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
