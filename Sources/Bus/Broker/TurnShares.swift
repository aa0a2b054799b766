import StrataCore
import StrataLoop

/// How much of the broker's time one peer's turn may take while others, who ask
/// for little, have to wait for it.
///
/// A peer is *heavy* where its last turn had more than a frame or two. It is *light* where
/// its turns have no more and come seldom: what it feels of the bus is how long the turns
/// of others take. While there are light peers, so much is read of heavy ones at once that
/// their turns come to take as long as `budget`, and one of them alone has a turn in a round
/// of the loop, after the light ones. Where nobody is light, turns are as large as they can
/// be, which costs the fewest system calls, and heavy peers have `mostRead` together in a
/// round: so long waits one that says something all at once.
///
/// Knows no peers and no clock: times are nanoseconds that it is given.
struct TurnShares {
    /// What a turn may take while somebody light is there.
    static let budget: UInt64 = 10_000
    /// A peer is light where its turns are so far apart, or farther.
    static let lightGap: UInt64 = 200_000
    /// How long after its last turn a light peer is thought of.
    static let memory: UInt64 = 100_000_000
    /// What is read at once of a peer of whom nothing is known, in bytes.
    static let firstRead = 4 << 10
    /// What is read of a heavy peer at least, in bytes.
    static let leastRead = 512
    /// What is read of all heavy peers in a round while nobody light is there, in bytes,
    /// but for the end of the last turn.
    static let mostRead = 4 * ReadBuffer.turn
    /// What the end of a session counts in a round, in bytes read: many may end at once.
    static let endCost = mostRead / 16
    /// What a turn's frames may take while nobody light is there: a turn whose frames take
    /// longer ends there too.
    static let longestTurn: UInt64 = 1_000_000
    /// What is written to a peer at once, in bytes, while somebody light is there.
    static let mostWritten = 16 << 10
    /// The same where room is needed for a frame.
    static let mostWrittenForRoom = 4 * mostWritten
    /// A turn of so few frames, and of fewer bytes than `firstRead`, is a light peer's.
    private static let lightFrames = 2

    /// A connection's first turns are hello and what its start asks: they say nothing
    /// of what it is like.
    static let startTurns: UInt8 = 8

    /// What is known of one peer's turns.
    struct Pace {
        /// How many of its first turns are still to come.
        fileprivate var starting = TurnShares.startTurns
        /// What its next turn reads at most while somebody light is there, in bytes.
        fileprivate(set) var room = TurnShares.firstRead
        /// When its last turn began.
        fileprivate(set) var lastTurn: UInt64 = 0
        fileprivate(set) var isHeavy = false
    }

    /// Until when the light peer that had its turn last is thought of.
    private var lightUntil: UInt64 = 0

    /// Whether somebody light is there at a time.
    @inline(__always)
    func isShared(at time: UInt64) -> Bool { time < lightUntil }

    /// Whether a turn has taken so long that its other frames have to wait for the next.
    func isSpent(start: UInt64, now: UInt64) -> Bool {
        now &- start > (isShared(at: start) ? Self.budget : Self.longestTurn)
    }

    /// A peer's turn is over.
    /// - Parameters:
    ///   - start: when it began.
    ///   - frames: how many it had; `bytes`: how many were read for it.
    ///   - isSpent: whether it had more frames than time.
    ///   - now: reads the clock; isn't called for a light turn.
    @inline(__always)
    mutating func ended(
        _ pace: inout Pace, start: UInt64, frames: Int, bytes: Int, isSpent: Bool = false, now: () -> UInt64
    ) {
        if frames <= Self.lightFrames, !isSpent, bytes < Self.firstRead {
            if pace.starting > 0 {
                pace.starting -= 1
            } else if start &- pace.lastTurn >= Self.lightGap, !pace.isHeavy {
                // A heavy peer's last piece is small too.
                lightUntil = start &+ Self.memory
            }
            pace.lastTurn = start
            if pace.room < Self.firstRead { pace.room = min(Self.firstRead, pace.room * 2) }
            pace.isHeavy = false
            return
        }
        pace.lastTurn = start
        pace.isHeavy = true
        if isShared(at: start) { weigh(&pace, taken: max(1, now() &- start), bytes: bytes) }
    }

    /// A turn of a peer that monitors is over. It counts as a heavy one: a monitor says
    /// little and often, and changes nothing for others.
    @inline(__always)
    func endedMonitors(_ pace: inout Pace, start: UInt64) {
        pace.lastTurn = start
        pace.isHeavy = true
    }

    /// Fits a peer's next turn to the budget by what this one took.
    private func weigh(_ pace: inout Pace, taken: UInt64, bytes: Int) {
        if taken > Self.budget {
            pace.room = max(Self.leastRead, Int(UInt64(min(bytes, pace.room)) * Self.budget / taken))
        } else if taken < Self.budget / 2, pace.room < ReadBuffer.turn {
            pace.room = min(ReadBuffer.turn, pace.room * 2)
        }
    }
}

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
        idleWork.start()
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
