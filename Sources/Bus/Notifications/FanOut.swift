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
    private(set) var walk = 0
    private(set) var position = 0
    private(set) var recipients = 0
    /// Pieces that are being delivered.
    private(set) var piecesInHand = 0

    /// Some of the observations of one name.
    struct Piece {
        let notice: KeptNotice
        let name: [UInt8]
        let observations: ArraySlice<Unmanaged<Observation>>
        let sharesBody: Bool
        let rank: Int
    }

    /// Takes the next piece, of `most` observations; nil where none is left.
    mutating func takePiece(_ most: Int) -> Piece? {
        guard walk < walks.count else { return nil }
        let all = walks[walk].observations
        let end = position + min(most, all.count - position)
        let piece = Piece(
            notice: notice, name: walks[walk].name, observations: all[position..<end], sharesBody: sharesBody,
            rank: rank)
        (walk, position) = end == all.count ? (walk + 1, 0) : (walk, end)
        piecesInHand += 1
        return piece
    }

    /// A piece was delivered to so many.
    /// - Returns: whether all is delivered.
    mutating func delivered(to recipients: Int) -> Bool {
        self.recipients += recipients
        piecesInHand -= 1
        return walk == walks.count && piecesInHand == 0
    }
}
