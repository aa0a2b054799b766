import StrataCore

/// A broadcast on its way to so many observations that it goes in pieces, so that
/// others have their turns in between.
struct FanOut {
    /// A broadcast to more observations than this goes in pieces.
    static let mostAtOnce = 128
    /// How many observations a piece has while somebody light is there
    /// (`TurnShares`): some ten microseconds' work.
    static let sharedPiece = 100
    /// The same where nobody is.
    static let piece = 2_000

    /// The observations of one name, as they were when the broadcast came.
    struct Walk {
        let name: [UInt8]
        /// Unretained, because what is taken out of the table meanwhile lives until
        /// the fan-out's end.
        let observations: [Unmanaged<Observation>]
    }

    let sender: Peer
    /// What the sender numbered it; 0 for not at all.
    let id: UInt64
    let rank: Int
    let notice: KeptNotice
    /// Whether the body is not copied into each queue.
    let sharesBody: Bool
    let walks: [Walk]

    /// Where the next piece begins.
    var walk = 0
    var position = 0
    var recipients = 0
    /// Pieces that are being delivered.
    var piecesInHand = 0

    var isDone: Bool { walk == walks.count }
}
