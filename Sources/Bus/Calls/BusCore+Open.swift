import StrataCore

/// Opens: a URL becomes a call of the action that it is mapped to.
extension BusCore {
    @inline(never)
    func handleOpen(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) throws(BusError) {
        guard hasUsableID(header, from: peer) else { return }
        turn.interrupt()
        statistics.opens += 1
        try LiveFacts(core: self, kind: .open, peer: peer, skipsAuthorization: header.members.contains(.auth))
            .check(.sender ... .trust)
        let match: URLMatch<URLTarget>
        do { match = try routes.urls.resolve(header.url, schemes: table.schemes) } catch {
            throw BusError(ErrorCode(error.code.rawValue), error.message)
        }
        let target = match.value
        let parameters = match.body()
        try require(
            takesFrame(header, body: parameters.count), .badURL,
            "the URL's parameters have \(parameters.count) bytes as JSON, which with the open's header is over "
                + "\(frameLimits.frame) (limits.frame)")
        guard let interface = routes.interface(target.interface) else { throw unknownInterface(target.interface) }
        if routes.actionNames.isFull { sweepActionNames() }
        let to = Array(target.to.utf8)
        let action = Array(target.action.utf8)
        let number = routes.actionNumber(interface, action)
        try to.withBytes { to throws(BusError) in
            try action.withBytes { action throws(BusError) in
                try parameters.withBytes { parameters throws(BusError) in
                    let request = Request(
                        to: to, interface: interface, action: action, url: header.url, trace: header.trace,
                        meta: header.meta, body: parameters)
                    guard target.owner.isReady, let callee = target.owner.peer else {
                        try hold(request, header, for: target.owner, from: peer).pointee.action = number
                        return
                    }
                    try facts(of: request, target.owner, from: peer).check(.setAside ... .start)
                    let call = try openRequest(.call, header, from: peer)
                    call.pointee.action = number
                    goOn(call, request, header, from: peer, to: callee)
                }
            }
        }
    }
}
