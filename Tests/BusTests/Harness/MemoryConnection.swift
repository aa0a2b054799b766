import StrataCore

@testable import StrataBus

/// A connection of a `MemoryBus`: what `Connection` is of a `Broker`.
final class MemoryConnection {
    let peer: Peer
    let link: MemoryLink
    var assembler: FrameAssembler
    /// The link takes no more for now.
    private var isBlocked = false
    /// The link has closed, and what was to be written is lost.
    private(set) var isBroken = false

    init(_ peer: Peer, _ link: MemoryLink, _ assembler: consuming FrameAssembler) {
        self.peer = peer
        self.link = link
        self.assembler = assembler
    }

    /// Whether it may write again what it had to keep.
    var hasRoomAgain: Bool { isBlocked && link.isWritable }

    /// Reads a turn's bytes.
    /// - Returns: false where there are none.
    func readTurn(_ buffer: ReadBuffer) -> Bool {
        let count = link.read(into: assembler.space(in: buffer))
        assembler.received(count)
        if count == 0 { assembler.keepRest() }
        return count > 0
    }

    /// Writes what waits for the peer, as far as the link takes it.
    func write() {
        guard peer.life != .closed, !isBroken else { return }
        isBlocked = false
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 64) { parts in
            while true {
                let count = peer.outbox.gather(parts)
                guard count > 0 else { return }
                guard !link.isClosed else {
                    isBroken = true
                    return
                }
                let written = parts[..<count].reduce(0) { $0 + link.write($1) }
                guard written > 0 else {
                    isBlocked = true
                    return
                }
                peer.outbox.wrote(written)
            }
        }
    }
}
