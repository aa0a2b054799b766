/// When notes are formatted, and how many of them: a monitor is heavy work, and has a
/// bounded share of the broker's time.
///
/// A turn begins `period` after the end of the one before it, or at once where that is
/// long ago. It has `mostWork`, done in pieces, one a round of the loop. Knows no notes and no clock:
/// times are milliseconds that it is given.
struct NoteTurns {
    /// From one turn's end to the next one's begin, in milliseconds.
    static let period: UInt64 = 10
    /// The work of one turn: a frame without body is 1.
    static let mostWork = 512
    /// The work of one piece while somebody light is there (`TurnShares`).
    static let sharedPiece = 12
    /// The same where nobody is.
    static let piece = 128

    /// The work of a frame with a body: as long as formatting that many frames takes.
    static func work(bodyBytes: Int, values: Int) -> Int { 1 + bodyBytes / 512 + values / 4 }

    enum State: Equatable {
        /// There is nothing to format.
        case idle
        /// The next turn begins at a time.
        case planned
        case underWay
    }

    /// What is to be done now.
    enum Action: Equatable {
        case nothing
        /// Work a piece in each round.
        case start
        /// Call `timePassed` in so many milliseconds.
        case wait(UInt64)
    }

    private(set) var state = State.idle
    private var nextTurn: UInt64 = 0
    private var done = 0

    @inline(__always) var isPlanned: Bool { state != .idle }
    var isUnderWay: Bool { state == .underWay }

    /// A frame was kept.
    @inline(__always)
    mutating func added(now: UInt64) -> Action { state == .idle ? plan(now) : .nothing }

    /// The time of the next turn has come.
    mutating func timePassed() -> Action { state == .planned ? begin() : .nothing }

    /// A piece was worked.
    /// - Parameter isEmpty: whether nothing is left to format.
    mutating func worked(_ work: Int, isEmpty: Bool, now: UInt64) -> Action {
        guard state == .underWay else { return .nothing }
        done += work
        guard isEmpty || done >= Self.mostWork else { return .nothing }
        // One large body may take more than a turn has: the next turn comes that much later.
        let periods = UInt64(max(1, (done + Self.mostWork - 1) / Self.mostWork))
        nextTurn = now + Self.period * periods
        state = .idle
        return isEmpty ? .nothing : plan(now)
    }

    /// Nothing is left: the last monitor has ended.
    mutating func emptied() { state = .idle }

    private mutating func plan(_ now: UInt64) -> Action {
        guard now < nextTurn else { return begin() }
        state = .planned
        return .wait(nextTurn - now)
    }

    private mutating func begin() -> Action {
        state = .underWay
        done = 0
        return .start
    }
}
