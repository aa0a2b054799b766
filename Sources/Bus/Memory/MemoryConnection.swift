import StrataCore

/// A connection of a `MemoryBroker`: what `Connection` is of a `Broker`.
package final class MemoryConnection: Peer {
    package let pipe: MemoryPipe
    var assembler: FrameAssembler
    /// How many bytes were read of it.
    private var bytesRead: UInt64 = 0
    /// The pipe takes no more for now.
    private var isBlocked = false
    /// Not all that it has was written, so that others could go on.
    private var isCutShort = false
    /// The pipe has closed, and what was to be written is lost.
    private(set) var isBroken = false
    /// Whole frames were read that its turn had no time for.
    var hasFramesLeft = false
    /// When the frame that it has begun must be complete; 0 for none.
    var assemblyDeadline: UInt64 = 0

    init(_ number: UInt64, _ credentials: PeerCredentials, _ bus: BusCore) {
        pipe = MemoryPipe()
        assembler = FrameAssembler(limits: bus.helloLimits, bus.pool.reclaimer)
        super.init(number: number, credentials: credentials, outbox: Outbox(pool: bus.pool))
    }

    /// Goes on where another bus's was.
    init(_ state: PeerState, _ outbox: consuming Outbox, insteadOf former: MemoryConnection, _ bus: BusCore) {
        pipe = former.pipe
        bytesRead = former.bytesRead
        assembler = FrameAssembler(
            limits: state.role == .none ? bus.helloLimits : bus.frameLimits, bus.pool.reclaimer)
        super.init(number: state.number, credentials: state.credentials, outbox: outbox)
        state.kept.withPieces { pieces in for piece in pieces { assembler.keep(piece) } }
        assemblyDeadline = state.assemblyDeadline
    }

    /// How many of its bytes were whole frames that the bus has handled; while it isn't ended.
    package var bytesHandled: UInt64 { bytesRead - UInt64(assembler.keptCount) }

    /// Whether the bus has not ended it.
    package var isServed: Bool { !life.isOver }

    /// Whether something waits for it that its pipe has not taken.
    package var hasUnwritten: Bool { !outbox.isEmpty }

    /// Whether its session is there.
    package var hasSession: Bool { life.isOpen }

    /// Whether a turn brings anything: bytes to be read, or the end to be seen.
    package var wantsTurn: Bool {
        guard hasFramesLeft || pipe.hasInput, life != .ending, life != .closed else { return false }
        return life.isRead || pipe.hasHungUp && !awaitsIdleWork
    }

    /// Whether it may write again what it had to keep.
    package var hasRoomAgain: Bool { (isBlocked || isCutShort) && life != .closed && pipe.isWritable }

    /// It is written to again.
    func unblock() { (isBlocked, isCutShort) = (false, false) }

    /// Reads a turn's bytes.
    /// - Returns: how many there were.
    func read(_ buffer: ReadBuffer, most: Int) -> Int {
        let space = assembler.space(in: buffer, most: max(1, min(most, ReadBuffer.turn)))
        let count = pipe.read(into: UnsafeMutableRawBufferPointer(rebasing: space.prefix(max(1, most))))
        assembler.received(count)
        bytesRead += UInt64(count)
        if count == 0 { assembler.keepRest() }
        return count
    }

    /// Writes a share of what waits, where others are to go on; else all of it.
    func writeShare(isShared: Bool) {
        guard !isBlocked, !isCutShort else { return }
        write(most: isShared ? TurnShares.mostWritten : .max)
        isCutShort = isShared && !isBlocked && !isBroken && !outbox.isEmpty
    }

    /// Writes what waits for the peer, as far as the pipe takes it.
    func write(most: Int = .max) {
        guard life != .closed, !isBroken, !isBlocked else { return }
        var left = most
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 64) { parts in
            while left > 0 {
                let count = outbox.gather(parts)
                guard count > 0 else { return }
                guard !pipe.isClosed else {
                    isBroken = true
                    return
                }
                let written = parts[..<count].reduce(0) { $0 + pipe.write(.init(rebasing: $1.prefix(left - $0))) }
                guard written > 0 else {
                    isBlocked = true
                    return
                }
                outbox.wrote(written)
                left -= written
            }
        }
    }
}

extension Peer {
    /// Because each peer of a broker in memory is a connection of it.
    var memory: MemoryConnection { unsafeDowncast(self, to: MemoryConnection.self) }
}

/// The bytes between a peer and a `MemoryBroker`: what a socket and its buffers are elsewhere.
package final class MemoryPipe {
    /// How many bytes are taken of the broker's before the peer has read some: at first as
    /// many as a socket's buffer takes.
    package var capacity = 208 << 10
    /// For the broker, from `consumed` on.
    private var sent: [UInt8] = []
    private var consumed = 0
    /// For the peer, which has not read them.
    package private(set) var arrived: [UInt8] = []
    /// How many bytes have arrived since the beginning.
    package private(set) var written = 0
    /// The peer has shut down its writing side.
    package private(set) var hasEndedWriting = false
    /// The peer has closed it.
    package private(set) var isClosed = false
    package private(set) var isClosedByBroker = false

    // MARK: The peer's end

    /// How many bytes the broker has not read.
    package var unread: Int { sent.count - consumed }

    package func send(_ bytes: [UInt8]) {
        guard !isClosed, !hasEndedWriting, !isClosedByBroker else { return }
        sent += bytes
    }

    /// Takes what has arrived, or so many bytes of it.
    package func take(most: Int = .max, _ use: (UnsafeRawBufferPointer) -> Void) {
        let count = min(most, arrived.count)
        arrived.withUnsafeBytes { use(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        arrived.removeFirst(count)
    }

    package func endWriting() { hasEndedWriting = true }

    package func close() {
        isClosed = true
        arrived = []
    }

    // MARK: The broker's end

    var hasInput: Bool { unread > 0 || hasHungUp }

    /// The peer says nothing more.
    var hasHungUp: Bool { isClosed || hasEndedWriting }

    /// Whether it takes bytes; or has closed, which is to be seen.
    var isWritable: Bool { isClosed || arrived.count < capacity }

    /// Moves as many bytes as there is space for.
    /// - Returns: how many.
    func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(space.count, unread)
        sent.withUnsafeBytes { space.copyMemory(from: .init(rebasing: $0[consumed..<consumed + count])) }
        consumed += count
        if consumed == sent.count || consumed > 1 << 20 {
            sent.removeFirst(consumed)
            consumed = 0
        }
        return count
    }

    /// - Returns: how many bytes it took.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, max(0, capacity - arrived.count))
        arrived.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        written += count
        return count
    }

    func closeByBroker() {
        isClosedByBroker = true
        (sent, consumed) = ([], 0)
    }
}
