import StrataCore

/// Opens: a URL becomes a call of the action that it is mapped to.
extension BusCore {
    @inline(never)
    func handleOpen(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        guard hasUsableID(header, from: peer) else { return }
        turn.interrupt()
        statistics.opens += 1
        let facts = LiveFacts(
            core: self, kind: .open, peer: peer, skipsAuthorization: header.members.contains(.auth))
        if let refusal = facts.error(.sender ... .trust) {
            refuse(peer, header.id, refusal)
            return
        }
        let match: URLMatch<URLTarget>
        do { match = try routes.urls.resolve(header.url, schemes: table.schemes) } catch {
            refuse(peer, header.id, BusError(ErrorCode(error.code.rawValue), error.message))
            return
        }
        let target = match.value
        let parameters = match.body()
        guard takesFrame(header, body: parameters.count) else {
            refuse(
                peer, header.id,
                BusError(
                    .badURL,
                    "the URL's parameters have \(parameters.count) bytes as JSON, which with the open's header is over "
                        + "\(frameLimits.frame) (limits.frame)"))
            return
        }
        guard let interface = routes.interface(target.interface) else {
            refuse(peer, header.id, unknownInterface(target.interface))
            return
        }
        if routes.actionNames.isFull { sweepActionNames() }
        let to = Array(target.to.utf8)
        let action = Array(target.action.utf8)
        let number = routes.actionNumber(interface, action)
        to.withUnsafeBytes { to in
            action.withUnsafeBytes { action in
                parameters.withUnsafeBytes { parameters in
                    let request = Request(
                        to: to, interface: interface, action: action, url: header.url, trace: header.trace,
                        meta: header.meta, body: parameters)
                    guard target.owner.isReady, let callee = target.owner.peer else {
                        let call = hold(request, header, for: target.owner, from: peer)
                        call?.pointee.action = number
                        return
                    }
                    if let refusal = self.facts(of: request, target.owner, from: peer).error(.setAside ... .start) {
                        refuse(peer, header.id, refusal)
                        return
                    }
                    guard let call = openRequest(.call, header, from: peer) else { return }
                    call.pointee.action = number
                    goOn(call, request, header, from: peer, to: callee)
                }
            }
        }
    }
}
