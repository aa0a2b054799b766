internal import StrataCore

extension ModuleRuntime {
    /// Starts the handler of a call.
    func received(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, on session: Session) {
        let to = header.to
        let name = header.name
        let isModule = header.from.equals("bus") && to.starts(with: "module/".utf8)
        let scope = scope(header, name: isModule && name.count > 0 ? "event \(name.text)" : to.text)
        let call = IncomingCall(
            id: header.id, scope: scope, credit: header.credit, session: session, outlivesConnection: isModule)
        guard isModule || session.handlers < SessionLimits.handlers else {
            call.fail(
                ModuleError(
                    .overloaded,
                    "\(self.name) is handling \(session.handlers) requests, its limit: call it again when some are done"
                ))
            return
        }
        session.open(call)
        if isModule {
            handle(module: UnsafeRawBufferPointer(rebasing: to.dropFirst(7)), call, header, body)
        } else if let export = exports.action(for: scope.name) {
            export.start(call, header, body)
        } else {
            call.fail(ModuleError(.unknownAction, "\(self.name) has no action \(scope.name)"))
        }
    }

    private func scope(_ header: borrowing Header, name: String, parent: Bool = true) -> CallScope {
        var deadline: UInt64?
        if header.members.contains(.deadline), header.deadline > 0 {
            deadline = ModuleExecutor.shared.loop.now + UInt64(header.deadline)
        }
        return CallScope(
            name: name, parent: parent ? header.id : nil, deadline: deadline, trace: Array(header.trace))
    }

    /// Starts the handler of a notice, or lets it wait for its turn.
    func received(notice header: borrowing Header, _ body: UnsafeRawBufferPointer, on session: Session) {
        let hasID = header.members.contains(.id)
        guard let observing = bySubscription[header.subscription] else {
            // One that this module has just given up.
            if hasID { session.answer(header.id) }
            return
        }
        // A notice is no call, and can't be named as a parent.
        let scope = scope(header, name: "observer of \(observing.name)", parent: false)
        let call = IncomingCall(id: hasID ? header.id : nil, scope: scope, session: session)
        session.open(call)
        let delivery = Delivery(header, body)
        let fits = notices.add(bytes: body.count, limit: session.limits.queue) { finish in
            call.onClose = finish
            call.run { call in
                try await observing.handle(delivery)
                call.reply()
            }
        }
        if !fits {
            ModuleLog.logger.error(
                "\(name) is too slow for its notices: over \(session.limits.queue) bytes of them wait; connecting anew")
            lose(session)
        }
    }
}
