import StrataCore
import StrataLoop

/// Turns whose frames take long: a turn ends with its time, and the frames that were read
/// for it and not handled yet wait for the peer's next turn.
extension Broker {
    /// Lets a peer wait for a turn in which its frames go on.
    func awaitRest(_ connection: Connection) {
        connection.hasFramesLeft = true
        // The round has been long enough.
        readOfHeavy = TurnShares.mostRead
        if connection.turn == .none { awaitingTurn.append(connection) }
        connection.turn = .awaitedUnwatched
        watch(connection)
        pieces.start()
    }

    /// Gives a peer the turn that its frames wait for. Nothing is read of it before they
    /// are done.
    /// - Returns: how many of their bytes were handled; one at least.
    func handleRest(of connection: Connection) -> Int {
        connection.hasFramesLeft = false
        let kept = connection.assembler.keptCount
        connection.assembler.resume()
        let frames = process(connection)
        let handled = kept - connection.assembler.keptCount
        shares.ended(
            &connection.pace, start: bus.time, frames: frames, bytes: handled, isSpent: connection.hasFramesLeft
        ) {
            Loop.nanoseconds
        }
        // What is left may be a frame's beginning: the socket may have the rest.
        connection.hasMore = true
        return max(1, handled)
    }
}
