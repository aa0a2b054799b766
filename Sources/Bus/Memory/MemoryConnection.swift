import StrataCore

/// A connection of a `MemoryBroker`; the counterpart of `Connection` for a `Broker`.
package final class MemoryConnection: Peer {
    package let pipe: MemoryPipe
    var assembler: FrameAssembler
    /// The number of bytes that were read from it.
    private var bytesRead: UInt64 = 0
    /// Whether the pipe takes no more bytes for now.
    private var isBlocked = false
    /// Whether writing stopped before everything was written, so that other peers could continue.
    private var isCutShort = false
    /// Whether the pipe has closed, so that everything that was still to be written is lost.
    private(set) var isBroken = false
    /// Whether complete frames were read that its turn had no time for.
    var hasFramesLeft = false
    /// When the frame that it has begun must be complete; 0 if there is none.
    var assemblyDeadline: UInt64 = 0

    init(_ number: UInt64, _ credentials: PeerCredentials, _ bus: BusCore) {
        pipe = MemoryPipe()
        assembler = FrameAssembler(limits: bus.helloLimits, bus.pool.reclaimer)
        super.init(number: number, credentials: credentials, outbox: Outbox(pool: bus.pool))
    }

    /// Continues the connection of another bus.
    init(_ state: PeerState, _ outbox: consuming Outbox, insteadOf former: MemoryConnection, _ bus: BusCore) {
        pipe = former.pipe
        bytesRead = former.bytesRead
        assembler = FrameAssembler(
            limits: state.life.isOpen ? bus.frameLimits : bus.helloLimits, bus.pool.reclaimer)
        super.init(number: state.number, credentials: state.credentials, outbox: outbox)
        state.kept.withPieces { pieces in for piece in pieces { assembler.keep(piece) } }
        assemblyDeadline = state.assemblyDeadline
    }

    /// The number of its bytes that were complete frames, and that the bus has handled; valid until
    /// the bus ends it.
    package var bytesHandled: UInt64 { bytesRead - UInt64(assembler.keptCount) }

    /// Whether the bus has not ended it.
    package var isServed: Bool { !life.isOver }

    /// Whether bytes wait for it that its pipe has not taken.
    package var hasUnwritten: Bool { !outbox.isEmpty }

    /// Whether it has a session.
    package var hasSession: Bool { life.isOpen }

    /// Whether a turn would do anything: read bytes, or notice the end.
    package var wantsTurn: Bool {
        guard hasFramesLeft || pipe.hasInput, life != .ending, life != .closed else { return false }
        return life.isRead || pipe.hasHungUp && !awaitsIdleWork
    }

    /// Whether it can write again what it had to keep.
    package var hasRoomAgain: Bool { (isBlocked || isCutShort) && life != .closed && pipe.isWritable }

    /// Makes it be written to again.
    func unblock() { (isBlocked, isCutShort) = (false, false) }

    /// Reads the bytes of a turn.
    /// - Returns: the number of bytes read.
    func read(_ buffer: ReadBuffer, most: Int) -> Int {
        let space = assembler.space(in: buffer, most: max(1, min(most, ReadBuffer.turn)))
        let count = pipe.read(into: UnsafeMutableRawBufferPointer(rebasing: space.prefix(max(1, most))))
        assembler.received(count)
        bytesRead += UInt64(count)
        if count == 0 { assembler.keepRest() }
        return count
    }

    /// Writes a share of what waits if other peers have to continue; otherwise all of it.
    func writeShare(isShared: Bool) {
        guard !isBlocked, !isCutShort else { return }
        write(most: isShared ? TurnShares.mostWritten : .max)
    }

    /// Writes what waits for the peer, as far as the pipe takes it.
    func write(most: Int = .max) {
        guard life != .closed, !isBroken, !isBlocked else { return }
        defer { isCutShort = isCutShort || most != .max && !isBlocked && !isBroken && !outbox.isEmpty }
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
    /// This peer as a connection in memory. The cast is safe because every peer of a `MemoryBroker`
    /// is one.
    var memory: MemoryConnection { unsafeDowncast(self, to: MemoryConnection.self) }
}

/// The bytes between a peer and a `MemoryBroker`, in place of a socket and its buffers.
package final class MemoryPipe {
    /// The most bytes from the broker that wait until the peer reads some. The default is what a
    /// socket's buffer takes.
    package var capacity = 208 << 10
    /// The bytes for the broker, from `consumed` on.
    private var sent: [UInt8] = []
    private var consumed = 0
    /// The bytes for the peer, which has not read them yet.
    package private(set) var arrived: [UInt8] = []
    /// The number of bytes that have arrived since the beginning.
    package private(set) var written = 0
    /// Whether the peer has shut down its writing side.
    package private(set) var hasEndedWriting = false
    /// Whether the peer has closed it.
    package private(set) var isClosed = false
    package private(set) var isClosedByBroker = false

    // MARK: The peer's end

    /// The number of bytes that the broker has not read.
    package var unread: Int { sent.count - consumed }

    package func send(_ bytes: [UInt8]) {
        guard !isClosed, !hasEndedWriting, !isClosedByBroker else { return }
        sent += bytes
    }

    /// Takes the bytes that have arrived, up to `most`.
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

    /// Whether the peer sends nothing more.
    var hasHungUp: Bool { isClosed || hasEndedWriting }

    /// Whether it takes bytes, or has closed, which a write notices.
    var isWritable: Bool { isClosed || arrived.count < capacity }

    /// Moves as many bytes as there is space for.
    /// - Returns: the number of bytes moved.
    func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(space.count, unread)
        sent.withUnsafeBytes { space.copyMemory(from: .init(rebasing: $0[consumed..<consumed + count])) }
        consumed += count
        // Removing bytes from the front moves the rest, so it is done rarely.
        if consumed == sent.count || consumed > 1 << 20 {
            sent.removeFirst(consumed)
            consumed = 0
        }
        return count
    }

    /// - Returns: the number of bytes that it took.
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
