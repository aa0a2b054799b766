import Glibc
import StrataCore
import StrataLoop

/// Writes lines to a descriptor on a thread of its own. So a halted terminal, or a pipe without a
/// reader, never blocks the launcher. Whole lines are dropped if the buffer or the disk is full,
/// and a line with their number replaces them.
///
/// `@unchecked Sendable` because all its state is under the lock.
public final class DescriptorSink: LineSink, @unchecked Sendable {
    /// The most bytes that may wait.
    static let room = 1 << 20

    private let descriptor: Int32
    private let changed = Condition()
    private var waiting: [UInt8] = []
    /// The lines that were dropped before the first waiting one.
    private var droppedBefore = 0
    /// The lines that were dropped after the last waiting one.
    private var droppedAfter = 0
    /// Whether `finish` wants the dropped lines counted, although no line follows them.
    private var isCountWanted = false
    private var isWriting = false
    /// Whether there is no reader any more; further lines are dropped silently.
    private var isBroken = false

    /// Starts the thread. The object, its thread and the descriptor stay until the process ends.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        if !DetachedThread.start({ self.run() }) { isBroken = true }
    }

    public func write(line: [UInt8]) {
        changed.lock()
        defer { changed.unlock() }
        guard !isBroken else { return }
        // After a dropped line, further ones are dropped too, so that one count covers all of them.
        guard droppedAfter == 0, waiting.count + line.count < Self.room else {
            droppedAfter += 1
            return
        }
        waiting += line
        waiting.append(UInt8(ascii: "\n"))
        changed.broadcast()
    }

    /// Waits until everything is written, for up to the given number of milliseconds.
    public func finish(within milliseconds: Int) {
        changed.lock()
        isCountWanted = droppedBefore + droppedAfter > 0
        changed.broadcast()
        _ = changed.wait(milliseconds: milliseconds) {
            (waiting.isEmpty && !isCountWanted && !isWriting) || isBroken
        }
        changed.unlock()
    }

    private func run() {
        // Whether the last write stopped in the middle of a line, which is ended before the next.
        var isTorn = false
        changed.lock()
        while !isBroken {
            while waiting.isEmpty && !isCountWanted { changed.wait() }
            isCountWanted = false
            var dropped = droppedBefore
            if waiting.isEmpty { dropped += droppedAfter }
            droppedBefore = waiting.isEmpty ? 0 : droppedAfter
            droppedAfter = 0
            let note = Self.note(dropped, isTorn: isTorn)
            let piece = note + waiting
            waiting.removeAll(keepingCapacity: true)
            isWriting = true
            changed.unlock()
            let (written, error) = writeAll(piece)
            changed.lock()
            isWriting = false
            if written > 0 { isTorn = piece[written - 1] != UInt8(ascii: "\n") }
            if Self.isFull(error) {
                let lost = piece[max(written, note.count)...].count { $0 == UInt8(ascii: "\n") }
                droppedBefore += lost + (written < note.count ? dropped : 0)
            } else if error != 0 {
                isBroken = true
                waiting = []
            }
            changed.broadcast()
        }
        changed.unlock()
    }

    private static func note(_ dropped: Int, isTorn: Bool) -> [UInt8] {
        let end = isTorn ? "\n" : ""
        guard dropped > 0 else { return Array(end.utf8) }
        return Array("\(end)strata: \(dropped) lines were dropped here: they could not be written\n".utf8)
    }

    /// Whether the descriptor may accept more later.
    private static func isFull(_ error: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(error) }

    /// Writes all bytes.
    /// - Returns: The number of bytes that were written, and the error that stopped it; 0 for none.
    private func writeAll(_ bytes: [UInt8]) -> (written: Int, error: Int32) {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count > 0 {
                    written += count
                } else if errno == EAGAIN {
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, -1)
                } else if errno != EINTR {
                    return (written, errno)
                }
            }
            return (written, 0)
        }
    }
}
