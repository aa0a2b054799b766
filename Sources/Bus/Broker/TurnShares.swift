import StrataCore
import StrataLoop

/// How much of the broker's time one peer's turn may take while light peers wait for it.
///
/// A peer is *heavy* if its last turn had more than a frame or two. It is *light* if its turns have
/// no more and are rare. A light peer waits only for the turns of other peers, so these must be
/// short.
///
/// While light peers are connected, the bytes that are read of a heavy peer are adapted until its
/// turns take about `budget`. Only one heavy peer has a turn in each round of the loop, after the
/// light ones. While no light peer is connected, turns are as large as possible, which costs the
/// fewest system calls. Heavy peers then have `mostRead` together in a round, so a burst waits at
/// most that long.
///
/// This type knows no peers and no clock; times are nanoseconds that it is given.
struct TurnShares {
    /// The time that a turn may take while a light peer is connected, in nanoseconds.
    static let budget: UInt64 = 10_000
    /// The least time between the turns of a light peer, in nanoseconds.
    static let lightGap: UInt64 = 200_000
    /// How long after its last turn a light peer still counts, in nanoseconds.
    static let memory: UInt64 = 100_000_000
    /// The bytes that are read at once of a peer of which nothing is known.
    static let firstRead = 4 << 10
    /// The least that is read of a heavy peer at once, in bytes.
    static let leastRead = 512
    /// The bytes that are read of all heavy peers in a round while no light peer is connected. The
    /// last turn may exceed it.
    static let mostRead = 4 * ReadBuffer.turn
    /// The bytes read for which the end of a session counts in a round, because many may end at
    /// once.
    static let endCost = mostRead / 16
    /// The time that a turn may take while no light peer is connected, in nanoseconds. A turn whose
    /// frames take longer ends there, too.
    static let longestTurn: UInt64 = 1_000_000
    /// The most bytes that are written to a peer at once while a light peer is connected.
    static let mostWritten = 16 << 10
    /// The same if a frame needs room in the queue.
    static let mostWrittenForRoom = 4 * mostWritten
    /// The most frames in a turn of a light peer, which also has fewer bytes than `firstRead`.
    private static let lightFrames = 2

    /// The number of a connection's first turns that say nothing about it: they are hello, and the
    /// requests of its start.
    static let startTurns: UInt8 = 8

    /// The pace of one peer's turns.
    struct Pace {
        /// How many of its first turns are still to come.
        fileprivate var starting = TurnShares.startTurns
        /// The most bytes that its next turn reads while a light peer is connected.
        fileprivate(set) var room = TurnShares.firstRead
        /// When its last turn began.
        fileprivate(set) var lastTurn: UInt64 = 0
        fileprivate(set) var isHeavy = false
    }

    /// Until when the last light peer that had a turn counts.
    private var lightUntil: UInt64 = 0

    /// Whether a light peer counts as connected at a time.
    @inline(__always)
    func isShared(at time: UInt64) -> Bool { time < lightUntil }

    /// Whether a turn has taken so long that its other frames must wait for the next turn.
    func isSpent(start: UInt64, now: UInt64) -> Bool {
        now &- start > (isShared(at: start) ? Self.budget : Self.longestTurn)
    }

    /// Updates a peer's pace after its turn.
    /// - Parameters:
    ///   - start: when the turn began.
    ///   - frames: the number of its frames.
    ///   - bytes: the number of bytes that were read for it.
    ///   - isSpent: whether it had more frames than time.
    ///   - now: reads the clock; it isn't called for a light turn.
    @inline(__always)
    mutating func ended(
        _ pace: inout Pace, start: UInt64, frames: Int, bytes: Int, isSpent: Bool = false, now: () -> UInt64
    ) {
        if frames <= Self.lightFrames, !isSpent, bytes < Self.firstRead {
            if pace.starting > 0 {
                pace.starting -= 1
            } else if start &- pace.lastTurn >= Self.lightGap, !pace.isHeavy {
                // The last batch of a heavy peer is small, too, so it doesn't count as light.
                lightUntil = start &+ Self.memory
            }
            pace.lastTurn = start
            // A light turn lets a reduced room grow again.
            if pace.room < Self.firstRead { pace.room = min(Self.firstRead, pace.room * 2) }
            pace.isHeavy = false
            return
        }
        pace.lastTurn = start
        pace.isHeavy = true
        if isShared(at: start) { weigh(&pace, taken: max(1, now() &- start), bytes: bytes) }
    }

    /// Updates the pace of a peer that monitors after its turn. It counts as heavy: a monitor sends
    /// little and often, and must not make turns shorter for the other peers.
    @inline(__always)
    func endedMonitors(_ pace: inout Pace, start: UInt64) {
        pace.lastTurn = start
        pace.isHeavy = true
    }

    /// Adapts the size of a peer's next turn to the budget, by the time that this one took.
    private func weigh(_ pace: inout Pace, taken: UInt64, bytes: Int) {
        if taken > Self.budget {
            pace.room = max(Self.leastRead, Int(UInt64(min(bytes, pace.room)) * Self.budget / taken))
        } else if taken < Self.budget / 2, pace.room < ReadBuffer.turn {
            pace.room = min(ReadBuffer.turn, pace.room * 2)
        }
    }
}

/// Turns whose frames take long. A turn ends when its time is over. Frames that were read but not
/// handled wait for the peer's next turn.
extension Broker {
    /// Makes a peer wait for a turn in which its frames continue.
    func awaitRest(_ connection: Connection) {
        connection.hasFramesLeft = true
        // This round has been long enough.
        readOfHeavy = TurnShares.mostRead
        if connection.turn == .none { awaitingTurn.append(connection) }
        connection.turn = .awaitedUnwatched
        watch(connection)
        idleWork.start()
    }

    /// Gives a peer the turn that its frames wait for. No more is read of it before they are done.
    /// - Returns: the number of their bytes that were handled, at least one.
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
        // The rest may be the beginning of a frame, whose end is in the socket.
        connection.hasMore = true
        return max(1, handled)
    }
}
