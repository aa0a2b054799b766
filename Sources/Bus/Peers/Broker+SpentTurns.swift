import StrataCore

/// Turns whose frames take long: a turn ends with its time, and the frames that were read
/// for it and not handled yet wait for the peer's next turn.
extension Broker {
    /// Looks whether the present turn has used its time. Called where a frame is done that
    /// may have taken long; what most frames do costs less than to look.
    func lookAtTurn() {
        if !isTurnSpent { isTurnSpent = shares.isSpent(start: time, now: Loop.nanoseconds) }
    }

    /// Lets a peer wait for a turn in which its frames go on.
    func awaitRest(_ peer: Peer) {
        peer.hasFramesLeft = true
        // The round has been long enough.
        readOfHeavy = TurnShares.mostRead
        if peer.turn == .none { awaitingTurn.append(peer) }
        peer.turn = .awaitedUnwatched
        watch(peer)
        pieces.start()
    }

    /// Gives a peer the turn that its frames wait for. Nothing is read of it before they
    /// are done.
    /// - Returns: how many of their bytes were handled; one at least.
    func handleRest(of peer: Peer) -> Int {
        peer.hasFramesLeft = false
        let kept = peer.assembler.keptCount
        peer.assembler.resume()
        let frames = process(peer)
        let handled = kept - peer.assembler.keptCount
        shares.ended(&peer.pace, start: time, frames: frames, bytes: handled, isSpent: peer.hasFramesLeft) {
            Loop.nanoseconds
        }
        // What is left may be a frame's beginning: the socket may have the rest.
        peer.hasMore = true
        return max(1, handled)
    }
}
