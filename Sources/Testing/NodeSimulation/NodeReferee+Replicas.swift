import StrataCore

/// Judges the row with replicas.
extension NodeReferee {
    /// Judges which replica has got a request, and in which order. Those without a key may overtake each other.
    func begins(_ request: JoinedRequest, atReplica peer: JoinedPeer) {
        expect(
            [0, peer.replica].contains(request.replica), .placed,
            "\(name(request)) names the replica \(request.replica), and came to \(peer.label)")
        // What the bus had written to one that it has ended says nothing of now.
        guard request.key > 0, peer.isUsable, isThere(peer, since: look) else { return }
        let last = peer.lastKeyed[[request.caller, request.key]] ?? -1
        expect(last < request.sent.place || peers[request.caller].row == nil, .order, late(request, at: peer))
        peer.lastKeyed[[request.caller, request.key]] = request.sent.place
        if let holder = keys[request.key], isThere(peers[holder.peer], since: holder.look) {
            expect(
                peer.number == holder.peer, .key,
                "\(name(request)) with the key \(request.key) came to \(peer.label), and \(peers[holder.peer].label) has it"
            )
            keyed += 1
        }
        keys[request.key] = (peer.number, look)
    }

    /// Whether the replica has died that may have had a request, since it was sent.
    func hasDied(_ request: JoinedRequest) -> Bool {
        guard app.rows[request.row].hasReplicas else { return wasAbsent(request, replica: 0) }
        let had = request.begun.last.map { peers[$0].replica } ?? request.replica
        return (had > 0 ? [had] : [1, 2]).contains { wasAbsent(request, replica: $0) }
    }

    /// Judges a cancel of a request that its callee serves. The death of another replica is no reason for it.
    func checkReason(ofCancel number: Int) {
        let (request, caller) = (requests[number], peers[requests[number].caller])
        let isGone = caller.row == nil ? !caller.isUsable : !isThere(caller, since: request.sent.look)
        expect(
            request.isCancelled || request.end != nil || isGone || wasApart(request) || isOverdue(request), .death,
            "\(name(request)) was cancelled for its callee without a reason")
    }

    func late(_ request: JoinedRequest, at peer: JoinedPeer) -> String {
        "\(name(request)) came to \(peer.label) after a later request of \(peers[request.caller].label)"
    }
}
