import StrataCore

/// Reports: up the table, to one named module of the same or an earlier level.
extension BusCore {
    func handleReport(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) throws(BusError) {
        guard header.members.contains(.name) else { return endForName(header, of: peer) }
        guard hasUsableID(header, from: peer) else { return }
        var facts = LiveFacts(core: self, kind: .report, peer: peer, name: header.name)
        try facts.check(.sender ... .sender)
        if try sendToNode(header, body, from: peer) { return }
        try checkDescriptors()
        let mark = nodeMark(header.to)
        let to = UnsafeRawBufferPointer(rebasing: header.to[..<(mark ?? header.to.count)])
        guard let target = modules.find(to) ?? awayRow(ofReplica: to) else { throw unknownModule(to, header) }
        facts.owner = target
        try facts.check(.level ... .declaration)
        statistics.reports += 1
        // `bus/levels` shows the reports within a level.
        if target.rank == peer.rank, let sender = peer.module, sender.owning !== target.owning {
            sender.history.note(reportTo: target)
        }
        let request = Request(
            to: to, name: header.name, object: header.members.contains(.object) ? header.object : nil,
            trace: header.trace, meta: header.meta, body: body, descriptors: turn.descriptors)
        // Before the name gets a number, which a sweep would remove.
        if routes.actionNames.isFull { sweepActionNames() }
        if let mark,
            let node = try node(
                UnsafeRawBufferPointer(rebasing: header.to[(mark + 1)...]), of: target, else: .unknownModule)
        {
            let call = try sendAway(request, header, to: target, on: node, from: peer)
            call.pointee.action = routes.actionNames.number(of: header.name.text)
        } else if let observer = receiver(of: target, nil, key: header.key) {
            let call = try openRequest(.report, header, from: peer)
            call.pointee.action = routes.actionNames.number(of: header.name.text)
            deliverReport(call, request, from: peer, to: observer)
        } else {
            let call = try hold(request, header, for: target, from: peer)
            call.pointee.action = routes.actionNames.number(of: header.name.text)
        }
    }

    private func unknownModule(_ to: UnsafeRawBufferPointer, _ header: borrowing Header) -> BusError {
        let name = to.text
        let known = [modules.rows, modules.guests].joined().lazy.map(\.name)
        let hint = didYouMean(name, known, else: "strata ps lists the modules")
        return BusError(
            .unknownModule,
            header.members.contains(.to)
                ? "a report went to \"\(name)\", which is neither a row nor a live guest: \(hint)"
                : "a report lacks \"to\", the module's name")
    }

    /// Queues a numbered notice to each matching observation of the target.
    /// - Parameter observer: the target's session.
    func deliverReport(_ call: CallPointer, _ request: Request, from peer: Peer, to observer: Peer) {
        guard let target = observer.module else {
            preconditionFailure("reports go to modules, not to \(observer.displayName)")
        }
        let level = peer.role == .module ? levels.nameBytes[peer.rank] : []
        // Its own observations, because others may observe the name any number of times.
        let matching = observer.observations.all.filter {
            !$0.isEnded && $0.terms.target.isOf(request.name) && $0.matches(request.object)
        }
        let frame = request.descriptors.map { DescribedFrame($0.takeUnretainedValue(), request.body, to: observer) }
        if let frame, let refusal = refusal(of: frame, room: request.room, to: observer, "the report") {
            return fail(call, refusal.code == .failed ? .badParams : refusal.code, refusal.message)
        }
        guard !matching.isEmpty else {
            if monitors.isOn { monitorReport(call, request, from: peer, to: target, observer) }
            reportDone(call)
            return
        }
        level.withUnsafeBytes { level in
            let notice = Notice(
                name: request.name, object: request.object, from: peer.from, node: peer.node, level: level,
                via: "report",
                trace: request.trace, meta: request.meta, body: request.body)
            // All notices of a report are queued, or none. A body that isn't copied counts once.
            let carried = frame?.body.count ?? notice.body.count
            let count = (notice.cost - notice.body.count + carried) * matching.count
            let body = carried < Outbox.largeBody ? 0 : carried
            guard fitsRequest(count, observer, new: count - body * (matching.count - 1)) else {
                if monitors.isOn { countReport(call, request, from: peer, to: observer) }
                return fail(
                    call, .overloaded,
                    "the queue to \(target.name) is full: \(whatIsFullForRequest(count, observer)); report again later")
            }
            if monitors.isOn { monitorReport(call, request, from: peer, to: target, observer) }
            queueReport(call, notice, frame, matching, to: observer)
        }
    }

    private func queueReport(
        _ report: CallPointer, _ notice: Notice, _ frame: DescribedFrame?, _ matching: [Observation],
        to observer: Peer
    ) {
        // One payload for all notices: the frame's memory may become the queue's own, and no other
        // payload may borrow from it after that.
        let payload =
            if let frame { frame.payload(reclaimer) } else {
                notice.body.count < Outbox.largeBody ? nil : Payload(borrowing: notice.body, reclaimer)
            }
        defer { if let payload, payload.isBorrowed { queued(payload) } }
        for observation in matching {
            guard let call = calls.open(.notice) else {
                return failAndCancel(report, .overloaded, "the broker has \(Call.mostSlots) open requests")
            }
            call.pointee.wasSent(to: observer)
            call.pointee.deadline.expiry = report.pointee.deadline.expiry
            call.pointee.deadline.budget = report.pointee.deadline.budget
            call.pointee.action = report.pointee.action
            call.pointee.startedAt = time
            observer.addServed(call)
            report.adopt(call, further: 0)
            report.pointee.notices.open += 1
            report.pointee.notices.observers += 1
            statistics.notices += 1
            if monitors.isOn { monitorReportNotice(notice, frame, to: observer) }
            let write = { (writer: inout HeaderWriter) in
                writer.integer("id", call.pointee.id)
                notice.write(to: &writer, subscription: observation.terms.id)
                frame?.write(to: &writer)
            }
            call.pointee.end =
                if let payload {
                    queue(.notice, to: observer, room: notice.room, payload: payload, isAnswer: false, write)
                } else {
                    queue(.notice, to: observer, room: notice.room, body: notice.body, isAnswer: false, write)
                }
        }
    }

    /// Handles the answer to one notice of a report; `error` is nil for a reply.
    func noticeAnswered(_ notice: CallPointer, _ error: BusError?) {
        if var error {
            if let report = reportFailed(notice, &error) { fail(report, error) }
        } else if let report = endNotice(notice), report.pointee.notices.open == 0 {
            reportDone(report)
        }
    }

    /// Ends the notices of a report of which one has failed. The other observers still handle
    /// theirs, but their answers are dropped.
    /// - Parameter error: the notice's error. It becomes the report's, about all observers.
    /// - Returns: the report, which must end with the error; nil if it has ended already.
    func reportFailed(_ notice: CallPointer, _ error: inout BusError) -> CallPointer? {
        guard let report = endNotice(notice) else { return nil }
        if error.ran == .no, report.pointee.notices.observers > 1 { error.ran = .maybe }
        while let other = report.pointee.firstChild {
            other.leaveParent()
            release(other, "another observer of the report failed")
        }
        return report
    }

    /// - Returns: the notice's report; nil if the report has ended.
    private func endNotice(_ notice: CallPointer) -> CallPointer? {
        let report = notice.pointee.parent
        release(notice, "the notice was answered")
        report?.pointee.notices.open -= 1
        return report
    }

    /// Ends a report whose target's session has ended with some notices unanswered.
    func reportTargetEnded(_ report: CallPointer, _ target: Peer, _ error: BusError) {
        noteFailure(of: report, error)
        var delivered = report.pointee.notices.observers > report.pointee.notices.open
        while let notice = report.pointee.firstChild {
            if mayArrive(notice, at: target) { delivered = true }
            notice.leaveParent()
            release(notice, "\(target.displayName) has ended")
        }
        fail(report, error.code, error.message, ran: delivered ? .maybe : .no)
    }

    private func reportDone(_ call: CallPointer) {
        answer(call, Array("{\"observers\":\(call.pointee.notices.observers)}".utf8), "the report was answered")
    }

    /// Takes a report's notices back. Those that have not begun to be written are never delivered,
    /// and the others are cancelled.
    /// - Returns: whether one has been delivered, or has begun to be written.
    func cancelNotices(_ report: CallPointer) -> Bool {
        var begun = report.pointee.notices.observers > report.pointee.notices.open
        while let notice = report.pointee.firstChild {
            notice.leaveParent()
            if let callee = notice.pointee.callee?.takeUnretainedValue() {
                if !takeBack(notice, from: callee) {
                    begun = true
                    writeCancel(callee, notice)
                }
            }
            release(notice, "its report was cancelled")
        }
        return begun
    }
}
