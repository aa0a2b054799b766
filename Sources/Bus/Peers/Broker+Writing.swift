import StrataCore

/// Writing to connections: all that a round has queued at its end, and less of it
/// where that would keep others waiting.
extension Broker {
    /// How much is still heard of a peer that is heard out, in bytes.
    static let mostLastBytes = 16 * ReadBuffer.turn

    /// Notes that a peer has something to write at the end of the round.
    @inline(__always)
    func wrote(to peer: Peer) {
        guard !peer.isDirty else { return }
        peer.isDirty = true
        dirty.append(peer)
    }

    func flushAll() {
        var index = 0
        // Ending one peer may give others something to write.
        while index < dirty.count {
            let peer = dirty[index]
            index += 1
            peer.isDirty = false
            if !peer.isBlocked, !peer.isCutShort { flushShare(peer) }
            if !peer.outbox.isEmpty { peer.outbox.noteWaiting() }
        }
        dirty.removeAll(keepingCapacity: true)
        if !heardOut.isEmpty { hearOut() }
    }

    /// Handles what peers have sent that are to go, and lets them go. While others wait for
    /// their turns, one of them has one in a round.
    private func hearOut() {
        let gone = heardOut
        heardOut = []
        var hasRead = false
        for peer in gone {
            let isShared = shares.isShared(at: time)
            if peer.awaitsIdleWork || (isShared || isTurnSpent) && hasRead {
                heardOut.append(peer)
                continue
            }
            var isDone = false
            repeat {
                let count = peer.phase == .open && peer.lastBytes < Self.mostLastBytes ? read(peer) : 0
                peer.lastBytes += count
                isDone = count == 0
            } while !isDone && !isShared && !isTurnSpent && !peer.awaitsIdleWork
            hasRead = true
            guard isDone, !peer.awaitsIdleWork else {
                heardOut.append(peer)
                continue
            }
            if let farewell = peer.farewell, !peer.isBroken {
                end(peer, farewell)
            } else {
                close(peer, reason: "closed")
            }
        }
        if !heardOut.isEmpty { pieces.start() }
    }

    /// Ends a connection when what it has sent is handled; where its other side closes
    /// meanwhile, it ends as any that is closed.
    func end(_ peer: Peer, onceHeardOut farewell: BusError) {
        guard peer.phase == .open, peer.farewell == nil else { return }
        peer.farewell = farewell
        guard !peer.isBroken else { return }
        heardOut.append(peer)
        pieces.start()
    }

    /// Writes what is queued, as far as the kernel takes it, and as far as it keeps
    /// no light peer waiting.
    func flushShare(_ peer: Peer) {
        guard shares.isShared(at: time), peer.outbox.pending > TurnShares.mostWritten else {
            flush(peer)
            return
        }
        flush(peer, most: TurnShares.mostWritten)
        guard peer.phase != .closed, !peer.isBlocked, !peer.outbox.isEmpty else { return }
        peer.isCutShort = true
        watch(peer)
    }

    /// Writes what is queued, so that a further frame may have room.
    func flushForRoom(_ peer: Peer) {
        // A reader that is as fast as this writes would go on taking it for long.
        flush(peer, most: shares.isShared(at: time) ? TurnShares.mostWrittenForRoom : .max)
    }

    /// Writes what is queued, as far as the kernel takes it.
    /// - Parameter most: ends after so many bytes.
    func flush(_ peer: Peer, most: Int = .max) {
        guard peer.phase != .closed, !peer.isBlocked else { return }
        var left = most
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 64) { parts in
            while true {
                var count = peer.outbox.gather(parts)
                guard count > 0 else { break }
                if most != .max {
                    guard left > 0 else { return }
                    count = Self.cut(parts, count, to: left)
                }
                switch peer.socket.write(UnsafeBufferPointer(rebasing: parts[..<count])) {
                case .moved(let written):
                    peer.outbox.wrote(written)
                    left &-= written
                case .wouldBlock:
                    peer.isBlocked = true
                    watch(peer)
                    return
                case .ended, .failed:
                    // It is gone; what it sent before may still be there to be
                    // read, which is done at the round's end.
                    peer.isBlocked = true
                    peer.isBroken = true
                    watch(peer)
                    if peer.farewell == nil || peer.phase != .open { heardOut.append(peer) }
                    return
                }
            }
            if peer.phase == .ending { close(peer, reason: "") }
        }
    }

    /// Leaves of some pieces those that have so many bytes together.
    /// - Returns: how many pieces are left, one at least.
    private static func cut(
        _ parts: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>, _ count: Int, to most: Int
    ) -> Int {
        var left = most
        for index in 0..<count {
            if parts[index].count >= left {
                parts[index] = UnsafeRawBufferPointer(rebasing: parts[index][..<left])
                return index + 1
            }
            left -= parts[index].count
        }
        return count
    }
}
