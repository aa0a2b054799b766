import StrataCore

/// What a gone peer asked for: nobody waits for it, and its callees are told. Where a
/// peer had many requests open, and others wait for their turns, they end in pieces.
/// Until the last has ended the closed peer is kept, and an answer that still comes is
/// dropped with its queue.
extension BusCore {
    /// A peer with more open requests than this ends in pieces.
    private static let mostEndedAtOnce = 128
    /// So many requests end in a piece while somebody light is there: some ten microseconds' work.
    private static let sharedPiece = 12

    func endMade(by peer: Peer) {
        guard peer.firstMade != nil else { return }
        guard peer.life == .closed, peer.requests.count > Self.mostEndedAtOnce, stage == .running,
            isShared
        else { return endAllMade(by: peer) }
        if let first = work.add(departure: peer) { endAllMade(by: first) }
    }

    /// Ends the next piece of what the peer asked for that has been gone the longest.
    func advanceDepartures() {
        guard let peer = work.departures.first else { return }
        let error = Self.isGone(peer)
        var left = isShared ? Self.sharedPiece : .max
        while left > 0, let call = peer.firstMade {
            left -= 1
            failAndCancel(call, error)
        }
        if peer.firstMade == nil { work.remove(departure: peer) }
    }

    /// Ends all that gone peers asked for: what comes next must find none of it.
    func finishDepartures() {
        for peer in work.takeDepartures() { endAllMade(by: peer) }
    }

    private func endAllMade(by peer: Peer) {
        let error = Self.isGone(peer)
        while let call = peer.firstMade { failAndCancel(call, error) }
    }

    private static func isGone(_ peer: Peer) -> BusError {
        BusError(.cancelled, "its caller, \(peer.displayName), is gone", ran: .maybe)
    }
}
