import Glibc
import StrataCore
import StrataLoop

/// Writes lines to a descriptor on a thread of its own, so that a halted terminal, or a pipe
/// that nobody reads, never holds up the launcher. Whole lines are dropped where the buffer is
/// full or the disk is, and a line that counts them takes their place.
///
/// `@unchecked Sendable` because all its state is under the lock.
public final class DescriptorSink: LineSink, @unchecked Sendable {
    /// Bytes that may wait.
    static let room = 1 << 20

    private let descriptor: Int32
    private let changed = Condition()
    private var waiting: [UInt8] = []
    /// Lines that were dropped before the first one that waits.
    private var droppedBefore = 0
    /// Lines that were dropped after the last one that waits.
    private var droppedAfter = 0
    /// The end wants the dropped lines counted, though no line follows them.
    private var isCountWanted = false
    private var isWriting = false
    /// Nobody reads any more: all is dropped in silence.
    private var isBroken = false

    /// The object, its thread and the descriptor stay until the process ends.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        // Signals are the loop's thread's to get: the new one starts without.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let status = pthread_create(
            &thread, nil,
            { context -> UnsafeMutableRawPointer? in
                Unmanaged<DescriptorSink>.fromOpaque(context!).takeUnretainedValue().run()
                return nil
            }, context)
        if status == 0 { pthread_detach(thread) } else { isBroken = true }
    }

    public func write(line: [UInt8]) {
        changed.lock()
        defer { changed.unlock() }
        guard !isBroken else { return }
        // What comes after a dropped line is dropped too, so that one count stands for both.
        guard droppedAfter == 0, waiting.count + line.count < Self.room else {
            droppedAfter += 1
            return
        }
        waiting += line
        waiting.append(UInt8(ascii: "\n"))
        changed.broadcast()
    }

    /// Waits until all is written, and no longer than that.
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
        // The last write stopped in a line, which is ended before the next.
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

    /// Whether the descriptor may take more later.
    private static func isFull(_ error: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(error) }

    /// - Returns: how many bytes were written, and what stopped it; 0 for nothing.
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
