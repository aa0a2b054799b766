import StrataCore

/// Actions with `auth: true`: the app's authorizer is asked before each call.
extension BusCore {
    /// The interface that authorizes calls; nil if the app names none, or no module has it.
    var authorizer: InterfaceRecord? { table.authorizer.flatMap { routes.interface($0) } }

    /// Delivers a call, after asking the authorizer if the action needs it. Any refusal is
    /// `unauthorized`, and the handler never starts.
    /// - Parameters:
    ///   - header: the request's header, because its parent may be a start that can't wait for the
    ///     authorizer. It has the key alone if the request has waited for its owner.
    ///   - owner: the session that serves the interface.
    func authorize(
        _ call: CallPointer, _ request: Request, _ interface: InterfaceRecord, _ header: borrowing Header,
        from caller: Peer, to owner: Peer
    ) {
        let facts = facts(of: request, interface.owner, from: caller)
        let verdict = facts.verdict(.authorization)
        guard verdict == .depends, let authorizer else {
            if case .refused(let refusal) = verdict {
                countUnsent(call, request, to: owner)
                return fail(call, facts.error(refusal))
            }
            return deliver(call, request, to: callee(interface, Self.instanceNumber(request.to), owner))
        }
        do throws(BusError) {
            var copy = HeldRequest.Copy(request, key: header.key)
            copy.replica = Self.replica(namedIn: header.to)?.name.number ?? 0
            let held = HeldRequest(copy, request.interface)
            try checkRoom(for: held, of: caller)
            keep(held, for: call, of: caller)
            try askAuthorizer(call, authorizer, header, from: caller)
        } catch {
            fail(call, error)
        }
    }

    /// - Parameter hasWaited: whether it is the call's turn, even if the authorizer's module still
    ///   catches up.
    private func askAuthorizer(
        _ call: CallPointer, _ authorizer: InterfaceRecord, _ header: borrowing Header, from caller: Peer,
        hasWaited: Bool = false
    ) throws(BusError) {
        let module = authorizer.owner
        let step = startStep(header, of: caller)
        let refusal = Array("authorize".utf8).withUnsafeBytes { action in
            LiveFacts(
                core: self, kind: .call, peer: caller, owner: module, interface: authorizer, name: action,
                startStep: step
            ).error(.node ... .start)
        }
        if let refusal { throw BusError(.unauthorized, refusal.message) }
        try require(
            !isElsewhere(module), .unauthorized,
            "\(module.name) authorizes, and runs on another node: calls are authorized on its own node only")
        if let peer = hasWaited ? module.peer : module.receiver { return try ask(peer, authorizer, call, from: caller) }
        try wait(.authorization(CallReference(call), authorizer), for: module)
    }

    /// Continues a call that waited for the authorizer's module, which now is ready or can't become
    /// ready.
    func authorizerSettled(_ isReady: Bool, _ call: CallPointer, _ authorizer: InterfaceRecord) {
        guard call.pointee.state == .inside, let caller = call.pointee.caller?.takeUnretainedValue() else { return }
        do throws(BusError) {
            try require(
                isReady && authorizer.owner.peer != nil, .unauthorized, unavailable(authorizer.owner).message)
            try askAuthorizer(call, authorizer, Header(), from: caller, hasWaited: true)
        } catch {
            fail(call, error)
        }
    }

    private func ask(
        _ peer: Peer, _ authorizer: InterfaceRecord, _ call: CallPointer, from caller: Peer
    ) throws(BusError) {
        // Unretained, because the call owns its copy until it continues or ends.
        guard let held = call.pointee.held?.takeUnretainedValue() else {
            preconditionFailure("a call that waits for the authorizer has its copy")
        }
        let meta = JSON.present([
            "to": .string(Request.Bytes.text(held.copy.to)), "from": .string(caller.from.text),
            "level": caller.role == .module || caller.role == .app ? .string(levels.names[caller.rank]) : Optional.none,
            "url": Request.Bytes.text(held.copy.url).json,
        ]).encoded()
        try require(
            meta.count <= HeaderScanner.longestMeta, .unauthorized,
            "the authorizer can't be asked: the URL is too long for the \(HeaderScanner.longestMeta) bytes of a meta")
        callOwn(
            peer, to: "\(authorizer.name)/authorize", body: held.copy.body, trace: held.copy.trace, meta: meta,
            for: call, deadline: remaining(call), mustFit: true,
            in: held.copy.file, .authorization(CallReference(call)))
    }

    func authorizerAnswered(_ asked: CallReference, _ answer: OwnAnswer) {
        guard asked.isOpen, asked.call.pointee.state == .inside else { return }
        do throws(BusError) {
            try check(authorization: answer)
            allowed(asked.call)
        } catch {
            fail(asked.call, error)
        }
    }

    private func check(authorization answer: OwnAnswer) throws(BusError) {
        let json: JSON
        switch answer {
        case .failure(let error) where error.code == .deadlineExceeded:
            // The authorizer had exactly the time that was left for the call.
            throw BusError(.deadlineExceeded, "the authorizer did not answer within the call's deadline")
        case .failure(let error):
            throw BusError(.unauthorized, "the authorizer did not answer: \(error.message) (\(error.code))")
        case .success(let body):
            do throws(BusError) { json = try BodyLimit.ordinary.read(body, of: "the authorizer's answer") } catch {
                throw BusError(.unauthorized, error.message)
            }
        }
        let reason = json["reason"]?.string ?? ""
        try require(
            json["allow"] == .bool(true), .unauthorized, reason.isEmpty ? "the authorizer did not allow it" : reason)
    }

    /// Continues an allowed call, which is sent to its owner or waits for it.
    private func allowed(_ call: CallPointer) {
        guard let held = call.pointee.held?.takeUnretainedValue(), let owner = held.interface?.owner else {
            preconditionFailure("a call that waits for the authorizer has its copy")
        }
        let caller = call.pointee.caller!.takeUnretainedValue()  // because a call has a caller
        let refusal = held.withRequest { facts(of: $0, owner, from: caller).error(.node ... .owner) }
        if let refusal { return fail(call, refusal) }
        // One authorization is enough for this call, even if it now waits for its owner.
        call.pointee.isAuthorized = true
        if held.copy.replica > 0 {
            let member = owner.members.first { $0.row?.replica?.number == held.copy.replica }
            guard let named = member?.receiver else { return fail(call, unavailable(member ?? owner)) }
            return unhold(call).withRequest { goOn(call, $0, from: caller, to: named) }
        }
        let callee = held.copy.key.withUnsafeBytes { key in
            receiver(of: owner, held.interface, key: key, instance: held.copy.to.withUnsafeBytes(Self.instanceNumber))
        }
        guard let callee else {
            // The owner's session ended meanwhile, or the next one catches up.
            wait(call, for: owner)
            return
        }
        // The instance may have ended meanwhile, or the owner may be another process with other
        // actions.
        unhold(call).withRequest { goOn(call, $0, from: caller, to: callee) }
    }
}
