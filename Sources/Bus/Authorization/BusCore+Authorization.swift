import StrataCore

/// Actions with `auth: true`: the app's authorizer is asked before each call.
extension BusCore {
    /// Keeps a call until the authorizer has allowed it; a refusal of any kind
    /// is `unauthorized`, and the handler never started.
    /// - Parameter header: the request's, whose parent may be a start that can't
    ///   wait for the authorizer; an empty one where it has waited for its owner.
    func authorize(
        _ call: CallPointer, _ request: Request, _ interface: InterfaceRecord, _ header: borrowing Header,
        from caller: Peer
    ) {
        if interface.name == table.authorizer, let owner = interface.owner.peer {
            deliver(call, request, to: callee(interface, Self.instanceNumber(request.to), owner))
            return
        }
        guard let name = table.authorizer, let authorizer = routes.interface(name) else {
            fail(
                call,
                BusError(
                    .unauthorized,
                    "\(request.to.text) has auth: true, and the manifest names no authorizer: name one"))
            return
        }
        let held = HeldRequest(request)
        if let refusal = heldRefusal(held, of: caller) {
            fail(call, refusal)
            return
        }
        keep(held, for: call, of: caller)
        askAuthorizer(call, authorizer, header, from: caller)
    }

    private func askAuthorizer(
        _ call: CallPointer, _ authorizer: InterfaceRecord, _ header: borrowing Header, from caller: Peer
    ) {
        let module = authorizer.owner
        if let refusal = setAsideRefusal(module, "\(authorizer.name)/authorize") {
            fail(call, BusError(.unauthorized, refusal.message))
            return
        }
        if module.isReady, let peer = module.peer {
            ask(peer, authorizer, call, from: caller)
            return
        }
        guard canBeWaitedFor(module) else {
            fail(call, BusError(.unauthorized, unavailable(module).message))
            return
        }
        if let refusal = startRefusal(header, of: caller, module) {
            fail(call, BusError(.unauthorized, refusal.message))
            return
        }
        guard module.canTakeWaiter(table.limits.waiting) else {
            fail(
                call,
                BusError(
                    .overloaded,
                    "\(table.limits.waiting) requests wait for \(module.name) already (limits.waiting): try later"))
            return
        }
        module.whenReady(.authorization(CallReference(call), authorizer))
        want(module)
    }

    /// The authorizer's module is ready, or known not to become so.
    func authorizerSettled(_ isReady: Bool, _ call: CallPointer, _ authorizer: InterfaceRecord) {
        guard call.pointee.state == .inside, let caller = call.pointee.caller?.takeUnretainedValue() else { return }
        if isReady, authorizer.owner.peer != nil {
            askAuthorizer(call, authorizer, Header(), from: caller)
        } else {
            fail(call, BusError(.unauthorized, unavailable(authorizer.owner).message))
        }
    }

    private func ask(_ peer: Peer, _ authorizer: InterfaceRecord, _ call: CallPointer, from caller: Peer) {
        // Unretained, because the call owns its copy until it goes on or ends.
        guard let held = call.pointee.held?.takeUnretainedValue() else {
            preconditionFailure("a call that waits for the authorizer has its copy")
        }
        var meta: [JSON.Member] = [
            .init("to", .string(Request.Bytes.text(held.to))), .init("from", .string(caller.from.text)),
        ]
        if caller.role == .module { meta.append(.init("level", .string(levels.names[caller.rank]))) }
        if !held.url.isEmpty { meta.append(.init("url", .string(Request.Bytes.text(held.url)))) }
        let encoded = JSON.object(meta).encoded()
        guard encoded.count <= HeaderScanner.longestMeta else {
            fail(
                call,
                BusError(
                    .unauthorized,
                    "the authorizer can't be asked: the URL is too long for the \(HeaderScanner.longestMeta) bytes of a meta"
                ))
            return
        }
        callOwn(
            peer, to: "\(authorizer.name)/authorize", body: held.body, trace: held.trace, meta: encoded,
            of: routes.actionNumber(authorizer, Array("authorize".utf8)), for: call, deadline: remaining(call),
            mustFit: true, .authorization(CallReference(call)))
    }

    func authorizerAnswered(_ asked: CallReference, _ answer: OwnAnswer) {
        guard asked.isOpen, asked.call.pointee.state == .inside else { return }
        let call = asked.call
        switch answer {
        case .failure(let error) where error.code == .deadlineExceeded:
            // It had what was left of the call's own time.
            fail(call, BusError(.deadlineExceeded, "the authorizer did not answer within the call's deadline"))
        case .failure(let error):
            fail(call, BusError(.unauthorized, "the authorizer did not answer: \(error.message) (\(error.code))"))
        case .success(let body):
            do throws(BusError) {
                let json = try BodyLimit.ordinary.read(body, of: "the authorizer's answer")
                guard json["allow"] == .bool(true) else {
                    let reason = json["reason"]?.string ?? ""
                    fail(call, BusError(.unauthorized, reason.isEmpty ? "the authorizer did not allow it" : reason))
                    return
                }
            } catch {
                fail(call, BusError(.unauthorized, error.message))
                return
            }
            allowed(call)
        }
    }

    /// The call takes its place among the others now.
    private func allowed(_ call: CallPointer) {
        guard let held = call.pointee.held?.takeUnretainedValue(), let owner = held.interface?.owner else {
            preconditionFailure("a call that waits for the authorizer has its copy")
        }
        if let refusal = setAsideRefusal(owner, held.actionName) {
            fail(call, refusal)
            return
        }
        guard owner.isReady, let callee = owner.peer else {
            // Its owner went away meanwhile. It was allowed once, for this call.
            guard canBeWaitedFor(owner) else {
                fail(call, unavailable(owner))
                return
            }
            call.pointee.isAuthorized = true
            wait(call, for: owner)
            return
        }
        let caller = call.pointee.caller!.takeUnretainedValue()  // because a call has a caller
        unhold(call).withRequest { request in
            // The instance may have ended meanwhile, or the owner be another
            // process with other actions.
            guard let interface = request.interface.map(present) else {
                preconditionFailure("a call that waits for the authorizer is an interface's")
            }
            if let refusal = lateRefusal(interface, request, from: caller) {
                fail(call, refusal)
            } else {
                deliver(call, request, to: self.callee(interface, Self.instanceNumber(request.to), callee))
            }
        }
    }
}
