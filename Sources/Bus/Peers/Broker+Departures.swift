import StrataCore

/// What a gone peer asked for: nobody waits for it, and its callees are told. Where a
/// peer had many requests open, and others wait for their turns, they end in pieces.
/// Until the last has ended the closed peer is kept, and an answer that still comes is
/// dropped with its queue.
extension Broker {
    /// A peer with more open requests than this ends in pieces.
    private static let mostEndedAtOnce = 128
    /// So many requests end between two looks at the clock.
    private static let endedUnseen = 4
    /// So many peers end in pieces at a time; where one more comes, the first of them
    /// ends at once.
    static let mostDepartures = 64

    func endMade(by peer: Peer) {
        guard peer.firstMade != nil else { return }
        guard peer.phase == .closed, peer.requests.count > Self.mostEndedAtOnce, stage == .running,
            shares.isShared(at: turnTime)
        else {
            endAllMade(by: peer)
            return
        }
        if departures.count == Self.mostDepartures { endAllMade(by: departures.removeFirst()) }
        departures.append(peer)
        pieces.start()
    }

    /// Ends the next piece of what the peer asked for that has been gone the longest.
    func advanceDepartures() {
        guard let peer = departures.first else { return }
        let start = Loop.nanoseconds
        let error = Self.isGone(peer)
        repeat {
            for _ in 0..<Self.endedUnseen {
                guard let call = peer.firstMade else {
                    departures.removeAll { $0 === peer }
                    return
                }
                failAndCancel(call, error)
            }
        } while !shares.isShared(at: start) || Loop.nanoseconds - start < TurnShares.budget
    }

    /// Ends all that gone peers asked for: what comes next must find none of it.
    func finishDepartures() {
        let rest = departures
        departures = []
        for peer in rest { endAllMade(by: peer) }
    }

    private func endAllMade(by peer: Peer) {
        let error = Self.isGone(peer)
        while let call = peer.firstMade { failAndCancel(call, error) }
    }

    private static func isGone(_ peer: Peer) -> BusError {
        BusError(.cancelled, "its caller, \(peer.displayName), is gone", ran: .maybe)
    }
}
