import Glibc
import StrataCore
import StrataLoop

/// Writing to connections. At a round's end everything is written that the round has queued, or
/// less of it if that would keep other peers waiting.
extension Broker {
    /// The most bytes that are still read of a peer that is being heard out.
    static let mostLastBytes = 16 * ReadBuffer.turn
    /// After how long a frame is tried again for which the kernel keeps too many unread descriptors,
    /// in milliseconds.
    private static let otherReaders: UInt64 = 20

    /// Writes what the round has produced.
    func flushAll() {
        flushDirty()
        if !heardOut.isEmpty { hearOut() }
        settle()
        // Ending one connection may give other connections something to write.
        while !bus.connections.dirty.isEmpty {
            flushDirty()
            settle()
        }
    }

    private func flushDirty() {
        var index = 0
        while index < bus.connections.dirty.count {
            let connection = bus.connections.dirty[index].connection
            index += 1
            connection.isDirty = false
            if !connection.isBlocked, !connection.isCutShort { flushShare(connection) }
            // What still waits counts for `limits.total` from now on.
            if !connection.outbox.isEmpty { connection.outbox.noteWaiting() }
        }
        bus.cleaned()
    }

    /// Writes a peer's waiting bytes, as far as the kernel takes them. In the middle of an event,
    /// the new position of its outbox is the answer.
    func write(to peer: Peer) { flushForRoom(peer.connection) }

    /// Handles what ending peers have sent, and then ends or closes them. While a light peer is
    /// connected, only one of them has a turn in each round.
    private func hearOut() {
        let gone = heardOut
        heardOut = []
        var hasRead = false
        for connection in gone {
            let isShared = isShared
            if connection.awaitsIdleWork || (isShared || isTurnSpent) && hasRead {
                heardOut.append(connection)
                continue
            }
            var isDone = false
            repeat {
                let count =
                    connection.isOpen && connection.lastBytes < Self.mostLastBytes ? read(connection) : 0
                connection.lastBytes += count
                isDone = count == 0
            } while !isDone && !isShared && !isTurnSpent && !connection.awaitsIdleWork
            hasRead = true
            guard isDone, !connection.awaitsIdleWork else {
                heardOut.append(connection)
                continue
            }
            if let farewell = connection.farewell, !connection.isBroken {
                bus.end(connection, farewell)
                settle()
            } else {
                close(connection, reason: "closed")
            }
        }
        if !heardOut.isEmpty { idleWork.start() }
    }

    /// Writes what is queued until the kernel takes no more. While a light peer is connected, it
    /// writes at most 16 KiB.
    func flushShare(_ connection: Connection) {
        guard isShared, connection.outbox.pending > TurnShares.mostWritten else {
            flush(connection)
            return
        }
        flush(connection, most: TurnShares.mostWritten)
        cutShort(connection)
    }

    /// Makes the loop continue with what writing a share has left, and report that there is room.
    private func cutShort(_ connection: Connection) {
        guard connection.life != .closed, !connection.isBlocked, !connection.outbox.isEmpty else { return }
        connection.isCutShort = true
        watch(connection)
    }

    /// Writes what is queued, so that another frame may have room.
    private func flushForRoom(_ connection: Connection) {
        // A reader as fast as this writer could otherwise keep it here for long.
        guard isShared else { return flush(connection) }
        flush(connection, most: TurnShares.mostWrittenForRoom)
        cutShort(connection)
    }

    /// Writes to a connection that takes bytes again, and goes on with what waited for room.
    func hasRoomAgain(_ connection: Connection) {
        connection.isBlocked = false
        connection.isCutShort = false
        flushShare(connection)
        if connection.life == .closed { return }
        watch(connection)
        // Its queue may be short enough for what waited for room.
        bus.hasRoom(connection)
    }

    /// Tries again to write a frame for which the kernel kept too many unread descriptors.
    func writeOn(_ connection: Connection) {
        guard connection.awaitsOtherReaders else { return }
        connection.awaitsOtherReaders = false
        hasRoomAgain(connection)
    }

    /// Writes what is queued, as far as the kernel takes it.
    /// - Parameter most: the most bytes that are written.
    func flush(_ connection: Connection, most: Int = .max) {
        guard connection.life != .closed, !connection.isBlocked else { return }
        var left = most
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 64) { parts in
            while true {
                var count = connection.outbox.gather(parts)
                guard count > 0 else { break }
                if most != .max {
                    guard left > 0 else { return }
                    count = Self.cut(parts, count, to: left)
                }
                switch Self.write(connection, UnsafeBufferPointer(rebasing: parts[..<count])) {
                case .moved(let written):
                    connection.outbox.wrote(written)
                    left &-= written
                case .wouldBlock:
                    connection.isBlocked = true
                    watch(connection)
                    return
                case .failed(ETOOMANYREFS):
                    // The kernel keeps too many descriptors that receivers of this process haven't read;
                    // this one may have no fault in it.
                    connection.isBlocked = true
                    connection.awaitsOtherReaders = true
                    watch(connection)
                    bus.setAlarm(.writing, of: connection, after: Self.otherReaders)
                    return
                case .ended, .failed:
                    // The other side has closed. What it sent before may still be readable, and is
                    // read at the round's end.
                    connection.isBlocked = true
                    connection.isBroken = true
                    watch(connection)
                    if connection.farewell == nil || !connection.isOpen { heardOut.append(connection) }
                    return
                }
            }
            // Its last bytes are written, which was all that kept it open.
            if connection.life == .ending { close(connection, reason: "") }
        }
    }

    @inline(__always)
    private static func write(
        _ connection: Connection, _ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>
    ) -> Socket.Transfer {
        guard let descriptors = connection.outbox.descriptors else { return connection.socket.write(parts) }
        let sent = descriptors.takeUnretainedValue()
        let result = connection.socket.write(parts, with: sent)
        if case .moved = result { sent.sent() }
        return result
    }

    /// Keeps the first buffers, up to `most` bytes in all.
    /// - Returns: the number of buffers that are kept, at least one.
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
