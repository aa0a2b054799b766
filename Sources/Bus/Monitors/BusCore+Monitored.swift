import StrataCore

/// The places where frames are noted for monitors, and counted for `bus/traffic`. Each frame is
/// noted once: when it goes to its receiver, or with the code of its refusal. A frame is noted
/// before it is queued, because queueing may give its memory away.
extension BusCore {
    /// Handles a frame while there is a monitor.
    @inline(never)
    func handleMonitored(_ header: borrowing Header, _ frame: Frame, of peer: Peer) {
        switch header.kind {
        case .reply, .error, .cancel, .credit: handle(header, frame, of: peer)
        case .call, .open, .broadcast, .report, .notice, .unknown:
            withUnsafePointer(to: header) { header in
                monitors.begin(FrameInHand(peer: peer, header: header, body: frame.body))
                handle(header.pointee, frame, of: peer)
                if let hand = monitors.hand, hand.isServed { noteServed() }
                monitors.endHand()
            }
        }
    }

    /// Notes that a call to `bus` is being handled, which passes unless it is refused.
    @inline(never)
    func monitorServed() {
        monitors.isServed()
        traffic.edges?.pointee.isServedCounted = false
    }

    /// Notes a call that goes to its owner.
    @inline(never)
    func monitorDelivered(_ call: CallPointer, _ request: Request, to callee: Peer) {
        if !countsQuickly(call, request, to: callee) { noteDelivered(call, request, to: callee) }
    }

    @inline(never)
    private func noteDelivered(_ call: CallPointer, _ request: Request, to callee: Peer) {
        if traffic.isOn { countSent(call, request, to: callee) }
        guard !monitors.isEmpty else { return }
        // Unwrapped, because a delivered call has a caller.
        let caller = call.pointee.caller!._withUnsafeGuaranteedRef { $0.from }
        pass(
            MonitoredFrame(
                kind: .call, id: call.pointee.id, parent: Self.parent(of: call), from: caller, to: request.to,
                callee: callee.from, url: request.url.isEmpty ? nil : request.url,
                descriptors: request.descriptors.applicationCount, body: request.body))
    }

    /// Returns the number of the open request that a call was made for; 0 if there is none.
    private static func parent(of call: CallPointer) -> UInt64 { call.pointee.parent?.pointee.id ?? 0 }

    private func parent(of hand: FrameInHand) -> UInt64 {
        let header = hand.header
        guard header.pointee.members.contains(.parent) else { return 0 }
        return openParent(header.pointee, of: hand.peer)?.pointee.id ?? 0
    }

    /// Notes a report that goes to the target's observations.
    @inline(never)
    func monitorReport(
        _ call: CallPointer, _ request: Request, from peer: Peer, to target: ModuleRecord, _ observer: Peer
    ) {
        countReport(call, request, from: peer, to: observer)
        guard !monitors.isEmpty else { return }
        target.nameBytes.withUnsafeBytes {
            pass(
                MonitoredFrame(
                    kind: .report, from: peer.from, to: $0, name: request.name, object: request.object,
                    descriptors: request.descriptors.applicationCount, body: request.body))
        }
    }

    @inline(never)
    func monitorBroadcast(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        countsBroadcast(from: peer)
        guard !monitors.isEmpty else { return }
        pass(
            MonitoredFrame(
                kind: .broadcast, from: peer.from, to: .none, name: header.name,
                object: header.members.contains(.object) ? header.object : nil, body: body))
    }

    /// Notes a notice of a broadcast.
    @inline(never)
    func monitorNotice(_ notice: Notice, to peer: Peer) {
        if !countsQuickly(notice, to: peer) { noteNotice(notice, to: peer) }
    }

    @inline(never)
    private func noteNotice(_ notice: Notice, to peer: Peer) {
        if traffic.isOn { countNotice(notice, to: peer) }
        if !monitors.isEmpty { tell(notice, isReported: false, descriptors: 0, to: peer) }
    }

    /// Notes a notice of a report, which is counted once for all of them.
    @inline(never)
    func monitorReportNotice(_ notice: Notice, _ frame: DescribedFrame?, to peer: Peer) {
        tell(notice, isReported: true, descriptors: frame?.applicationCount ?? 0, to: peer)
    }

    private func tell(_ notice: Notice, isReported: Bool, descriptors: UInt8, to peer: Peer) {
        tell(
            MonitoredFrame(
                kind: .notice, from: notice.from, to: peer.from, name: notice.name, object: notice.object,
                isReported: isReported, descriptors: descriptors, body: notice.body))
    }

    /// Notes one of the bus's own calls.
    @inline(never)
    func monitorOwnCall(
        _ call: CallPointer, _ to: String, _ name: String?, _ body: UnsafeRawBufferPointer, to peer: Peer
    ) {
        Self.withText(to) { to in
            countOwn(call, to, to: peer)
            Self.withText(name ?? "") { text in
                tell(
                    MonitoredFrame(
                        kind: .call, id: call.pointee.id, parent: Self.parent(of: call), from: MonitoredFrame.bus,
                        to: to, callee: peer.from,
                        name: name == nil ? nil : text, body: body))
            }
        }
    }

    // MARK: Answers

    /// Notes a callee's answer that goes to its caller; a nil caller is the bus.
    @inline(never)
    func monitorAnswer(
        _ call: CallPointer, _ code: ErrorCode?, _ body: UnsafeRawBufferPointer, more: Bool = false,
        from callee: Peer, to caller: Peer?
    ) {
        guard !monitors.isEmpty else { return }
        let to = caller?.from ?? MonitoredFrame.bus
        guard let code else {
            tell(
                MonitoredFrame(
                    kind: .reply, id: Self.number(call), from: callee.from, to: to, isPartial: more,
                    descriptors: turn.descriptors.applicationCount, body: body))
            return
        }
        Self.withText(code.rawValue) {
            tell(MonitoredFrame(kind: .error, id: Self.number(call), from: callee.from, to: to, code: $0, body: body))
        }
    }

    /// Notices and reports are noted without a number.
    private static func number(_ call: CallPointer) -> UInt64 {
        switch call.pointee.kind {
        case .call, .own: call.pointee.id
        case .notice, .report, .served: 0
        }
    }

    @inline(never)
    func monitorOwnReply(_ body: UnsafeRawBufferPointer, to peer: Peer) {
        tell(MonitoredFrame(kind: .reply, from: MonitoredFrame.bus, to: peer.from, body: body))
    }

    /// Notes an error of the bus. If it refuses a request, the request is noted with the error's
    /// code; otherwise the error is noted as a frame from `bus`.
    @inline(never)
    func monitorOwnError(_ error: BusError, _ id: UInt64, to peer: Peer) {
        guard peer.role != .none, !monitors.isEmpty else { return }
        let call = id == 0 ? nil : peer.requests[id]
        if let call, monitors.monitors.contains(where: { $0.call == call }) || traffic.isOpen(call) { return }
        Self.withText(error.code.rawValue) { code in
            // Unretained, because the call owns its copy until it ends.
            if let call, let held = call.pointee.held?.takeUnretainedValue() {
                refused(call, held, code, from: peer)
            } else if let hand = monitors.hand, !hand.isTold, hand.peer === peer,
                id == 0 || id == hand.header.pointee.id
            {
                monitors.isTold()
                refused(hand, code)
            } else {
                error.body.withUnsafeBytes { body in
                    tell(
                        MonitoredFrame(
                            kind: .error, id: call.map(Self.number) ?? 0, from: MonitoredFrame.bus, to: peer.from,
                            code: code,
                            body: body))
                }
            }
        }
    }

    /// Notes a request that waited, and never went to its receiver.
    private func refused(_ call: CallPointer, _ held: HeldRequest, _ code: Header.Text, from peer: Peer) {
        let isReport = call.pointee.kind == .report
        held.withRequest { request in
            (held.interface?.owner.nameBytes ?? []).withUnsafeBytes { owner in
                tell(
                    MonitoredFrame(
                        kind: isReport ? .report : .call, parent: isReport ? 0 : Self.parent(of: call),
                        from: peer.from, to: request.to,
                        callee: held.interface == nil ? nil : owner, name: isReport ? request.name : nil, code: code,
                        descriptors: request.descriptors.applicationCount, body: request.body))
            }
        }
    }

    private func refused(_ hand: FrameInHand, _ code: Header.Text) {
        let header = hand.header
        let kind = header.pointee.kind
        let to = header.pointee.to
        let interface = Self.interface(to)
        let owner = routes.interface(interface)?.owner
        (owner?.nameBytes ?? []).withUnsafeBytes { name in
            tell(
                MonitoredFrame(
                    kind: kind, parent: kind == .call ? parent(of: hand) : 0, from: hand.peer.from,
                    to: kind == .open ? header.pointee.url : to,
                    receiver: owner == nil ? interface : name, callee: owner == nil ? nil : name, name: hand.name,
                    code: code, unknownKind: kind == .unknown ? header.pointee.unknownKind : nil,
                    descriptors: turn.descriptors.applicationCount, body: hand.body))
        }
    }

    /// Returns the interface that a refused request names, or all of `to` if that isn't
    /// `Interface/action`.
    private static func interface(_ to: Header.Text) -> Header.Text {
        guard let destination = Destination(to) else { return to }
        return Header.Text(rebasing: to[destination.interface])
    }

    // MARK: Noting

    /// Notes that the current request, or one that waited, passes.
    @inline(__always)
    private func pass(_ frame: @autoclosure () -> MonitoredFrame) {
        tell(frame())
        monitors.isTold()
    }

    /// Notes a call to `bus`, which must come before the frames that it leads to.
    @inline(never)
    private func noteServed() {
        guard let hand = monitors.hand, !hand.isTold else { return }
        monitors.isTold()
        tell(
            MonitoredFrame(
                kind: .call, parent: parent(of: hand), from: hand.peer.from, to: hand.header.pointee.to,
                callee: MonitoredFrame.bus,
                name: hand.name,
                body: hand.body))
    }

    @inline(__always)
    private func tell(_ frame: @autoclosure () -> MonitoredFrame) {
        if let hand = monitors.hand, hand.isServed, !hand.isTold { noteServed() }
        if !monitors.isMissedByAll() { note(frame()) }
    }

    private static func withText(_ string: String, _ use: (Header.Text) -> Void) {
        var string = string
        string.withUTF8 { use(Header.Text($0)) }
    }
}
