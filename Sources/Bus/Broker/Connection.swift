import StrataCore
import StrataLoop

/// A connection: its socket, and how it is read and written. To the bus it is a `Peer`.
final class Connection: Peer {
    /// Whether it waits for others to have their turns first.
    enum Turn: UInt8 {
        case none
        case awaited
        /// The loop doesn't say any more that it can be read.
        case awaitedUnwatched
    }

    let socket: Socket
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var assembler: FrameAssembler
    /// The kernel takes no more of its output; the loop says when it does.
    @exclusivity(unchecked)  // the same
    var isBlocked = false
    /// Not all that it has was written, so that others could go on; the rest is
    /// written when the loop says that it can be.
    @exclusivity(unchecked)  // the same
    var isCutShort = false
    /// What its turns took of the broker's time.
    @exclusivity(unchecked)  // the same
    var pace = TurnShares.Pace()
    @exclusivity(unchecked)  // the same
    var turn = Turn.none
    /// Its last turn has left something to read, as far as is known.
    @exclusivity(unchecked)  // the same
    var hasMore = false
    /// Whole frames of it were read that its turn had no time for.
    @exclusivity(unchecked)  // the same
    var hasFramesLeft = false
    /// Its other side has closed, which was seen while it wasn't read.
    var hasHungUp = false
    /// Its socket takes nothing any more.
    var isBroken = false
    /// Bytes that were read of it since it is heard out.
    var lastBytes = 0
    /// When the frame that it has begun must be complete; 0 for none.
    var assemblyDeadline: UInt64 = 0
    /// Whether an alarm looks after that.
    var isAssemblyTimed = false

    init(
        number: UInt64, socket: Socket, credentials: PeerCredentials, limits: FrameLimits, pool: OutboxPool,
        outbox: consuming Outbox? = nil
    ) {
        self.socket = socket
        assembler = FrameAssembler(limits: limits, pool.reclaimer)
        super.init(number: number, credentials: credentials, outbox: outbox ?? Outbox(pool: pool))
    }
}

extension Peer {
    /// Because each peer of a broker is a connection of it.
    var connection: Connection { unsafeDowncast(self, to: Connection.self) }
}
