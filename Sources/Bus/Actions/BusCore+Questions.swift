import StrataCore

/// `metrics {"module"}` and `contracts {"module"}`: what a module tells operators about itself. The
/// bus calls `module/metrics` or `module/contracts`, and forwards the answer unchanged.
extension BusCore {
    func askModule(_ asked: BusCall) throws(BusError) {
        let name = try asked.params().required("module")
        guard var module = modules.find(name) else {
            throw BusError(.unknownModule, "there is no module \(name): strata ps lists the modules")
        }
        // All replicas have the same contracts, and each has metrics of its own.
        if module.replicas != nil, let one = module.members.first(where: { $0.isReady }) ?? module.members.first {
            try require(
                asked.action == "contracts", .badParams,
                "\(name) has replicas, and each has its own \(asked.action): name one, as in \(one.name)")
            module = one
        }
        guard module.isReady, let callee = module.peer else {
            throw BusError(.unavailable, "\(name) isn't ready, so it can't tell its \(asked.action) yet")
        }
        let trace = Array(asked.header.pointee.trace)
        let call = try open(asked)
        // If it ends early, `ran` must be `maybe`, because the handler may have started.
        call.pointee.stream.wasPassedOn = true
        callOwn(
            callee, to: "module/\(asked.action)", trace: trace, for: call, deadline: remaining(call),
            mustFit: true, .question(CallReference(call)))
    }

    func moduleAnswered(_ asking: CallReference, _ callee: Peer, _ answer: OwnAnswer) {
        guard asking.isOpen, let peer = asking.call.pointee.caller?.takeUnretainedValue() else { return }
        switch answer {
        case .success(let body):
            let count = body.count + HeaderWriter.overhead / 4
            guard fits(count, peer.line) else {
                let action = routes.actionNames.name(asking.call.pointee.action) ?? "its question"
                return fail(
                    asking.call, .overloaded,
                    "the answer of \(callee.displayName) to \(action) has \(body.count) bytes, and did not fit into "
                        + "the queue to \(peer.displayName): \(whatIsFull(count, peer.line))", ran: .yes)
            }
            self.answer(asking.call, body, "the module has answered")
        case .failure(let error): fail(asking.call, error)
        }
    }
}
