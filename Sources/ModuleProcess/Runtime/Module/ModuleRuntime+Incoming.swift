internal import StrataCore

extension ModuleRuntime {
    /// Starts the handler of a call.
    func received(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, on session: Session) {
        if header.from.equals("bus"), header.to.starts(with: "module/".utf8) {
            received(module: header, body, on: session)
            return
        }
        let entry = offers.actions.find(header.to)
        let name = entry?.name ?? header.to.text
        // Optional structs: a bare closure would be wrapped once more by each optional.
        let other = entry == nil ? offers.exports.action(for: name) : nil
        let call = IncomingCall(
            id: header.id, name: name, parent: header.id, deadline: deadline(header), trace: Array(header.trace),
            credit: header.credit, session: session, in: surroundings)
        if let telemetry {
            if let series = entry?.series, telemetry.tracing == nil {
                call.begin(Measurement(series))
            } else {
                let series = telemetry.begin(
                    call, Subject(.call, to: name), isKnown: entry != nil || other != nil, from: header.from.text)
                entry?.isMeasured(in: series)
            }
        }
        guard session.handlers < SessionLimits.handlers else {
            call.fail(
                ModuleError(
                    .overloaded,
                    "\(self.name) is handling \(session.handlers) requests, its limit: call it again when some are done"
                ))
            return
        }
        if let entry {
            entry.start(call, header, body)
        } else if let other {
            other.start(call, header, body)
        } else {
            call.fail(ModuleError(.unknownAction, "\(self.name) has no action \(name)"))
        }
    }

    private func received(module header: borrowing Header, _ body: UnsafeRawBufferPointer, on session: Session) {
        let to = header.to
        let call = IncomingCall(
            id: header.id, name: header.name.count > 0 ? "event \(header.name.text)" : to.text, parent: header.id,
            deadline: deadline(header), trace: Array(header.trace), credit: header.credit, session: session,
            isOfBus: true, in: surroundings)
        call.open()
        if let telemetry, let subject = subject(module: header) { telemetry.begin(call, subject, from: "bus") }
        handle(module: UnsafeRawBufferPointer(rebasing: to.dropFirst(7)), call, header, body)
    }

    /// Returns the measured subject of a broker's own call: a step of the module's life, or an
    /// event. Other calls aren't measured.
    private func subject(module header: borrowing Header) -> Subject? {
        let action = UnsafeRawBufferPointer(rebasing: header.to.dropFirst(7)).text
        if action == "event" { return Subject(.event, header.name.text) }
        return LifeCycle.Step(rawValue: action).map { Subject(.call, "module/\($0.rawValue)") }
    }

    /// Returns the deadline on the surroundings' clock; nil if there is none.
    private func deadline(_ header: borrowing Header) -> UInt64? {
        guard header.members.contains(.deadline), header.deadline > 0 else { return nil }
        return surroundings.now + UInt64(header.deadline)
    }

    /// Starts the handler of a notice, or queues it.
    func received(notice header: borrowing Header, _ body: UnsafeRawBufferPointer, on session: Session) {
        let hasID = header.members.contains(.id)
        guard let observing = observations[header.subscription] else {
            // This module has just ended that observation.
            if hasID { session.answer(header.id) }
            return
        }
        // A notice is not a call, so it can't be named as a parent.
        let call = IncomingCall(
            id: hasID ? header.id : nil, name: "observer of \(observing.name)", parent: nil,
            deadline: deadline(header), trace: Array(header.trace), session: session, in: surroundings)
        call.open()
        telemetry?.begin(
            notice: call, Subject(hasID ? .report : .broadcast, observing.name), missed: header.missed,
            from: header.from.text)
        let delivery = Delivery(
            header, body, header.members.contains(.descriptors) ? session.takeDescriptors() : [])
        let fits = notices.add(bytes: body.count, limit: session.limits.queue) { finish in
            call.onClose = finish
            call.run { call in
                try await observing.handle(delivery)
                call.reply()
            }
        }
        if !fits {
            ModuleLog.logger.error(
                "\(name) is too slow for its notices: over \(session.limits.queue) bytes of them wait; it reconnects")
            connection.lose(session)
        }
    }
}
