import StrataCore
import StrataLoop

/// A connection: its socket, and how it is read and written. The bus sees it as a `Peer`.
final class Connection: Peer {
    /// Whether it waits for a turn after other peers.
    enum Turn: UInt8 {
        case none
        case awaited
        /// It waits, and the loop no longer reports that it can be read.
        case awaitedUnwatched
    }

    let socket: Socket
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var assembler: FrameAssembler
    /// Whether the kernel takes no more of its output; the loop reports when it does.
    @exclusivity(unchecked)  // the same
    var isBlocked = false
    /// Whether it is blocked by descriptors that other processes haven't read. An alarm, and not the
    /// loop, says when to try again.
    var awaitsOtherReaders = false
    /// Whether writing stopped before everything was written, so that other peers could continue.
    /// The rest is written when the loop reports that it can be.
    @exclusivity(unchecked)  // the same
    var isCutShort = false
    /// How much of the broker's time its turns have taken.
    @exclusivity(unchecked)  // the same
    var pace = TurnShares.Pace()
    @exclusivity(unchecked)  // the same
    var turn = Turn.none
    /// Whether its last turn probably left something to read.
    @exclusivity(unchecked)  // the same
    var hasMore = false
    /// Whether complete frames were read that its turn had no time for.
    @exclusivity(unchecked)  // the same
    var hasFramesLeft = false
    /// Whether its other side has closed, which was noticed while it wasn't read.
    var hasHungUp = false
    /// Whether its socket takes no more bytes at all.
    var isBroken = false
    /// The bytes that were read while it is being heard out.
    var lastBytes = 0
    /// When the frame that it has begun must be complete; 0 if there is none.
    var assemblyDeadline: UInt64 = 0
    /// Whether an alarm is set for that deadline, or for an earlier one.
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
    /// This peer as a connection. The cast is safe because every peer of a `Broker` is one.
    var connection: Connection { unsafeDowncast(self, to: Connection.self) }
}
