import Glibc

/// Writes lines to a descriptor on a thread of its own: a terminal that was
/// halted, or a pipe that nobody reads, never holds up the launcher. What doesn't
/// fit into the buffer meanwhile is dropped, whole lines, and counted in a line
/// that takes their place.
///
/// `@unchecked Sendable` because all its state is under the lock.
public final class DescriptorSink: LineSink, @unchecked Sendable {
    /// Bytes that may wait.
    static let room = 1 << 20

    private let descriptor: Int32
    private let lock: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
    private let changed: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)
    private var waiting: [UInt8] = []
    private var dropped = 0
    private var isWriting = false
    /// Nobody reads any more: all is dropped in silence.
    private var isBroken = false

    /// The object, its thread and the descriptor stay until the process ends.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
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
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        guard !isBroken else { return }
        guard waiting.count + line.count < Self.room else {
            dropped += 1
            return
        }
        if dropped > 0 { noteDropped() }
        waiting += line
        waiting.append(UInt8(ascii: "\n"))
        pthread_cond_broadcast(changed)
    }

    /// Waits until all is written, and no longer than that.
    public func finish(within milliseconds: Int) {
        var until = timespec()
        clock_gettime(CLOCK_REALTIME, &until)
        until.tv_sec += milliseconds / 1_000
        until.tv_nsec += milliseconds % 1_000 * 1_000_000
        if until.tv_nsec >= 1_000_000_000 {
            until.tv_sec += 1
            until.tv_nsec -= 1_000_000_000
        }
        pthread_mutex_lock(lock)
        if dropped > 0 { noteDropped() }
        pthread_cond_broadcast(changed)
        while !waiting.isEmpty || isWriting, !isBroken {
            if pthread_cond_timedwait(changed, lock, &until) != 0 { break }
        }
        pthread_mutex_unlock(lock)
    }

    private func noteDropped() {
        waiting += "strata: \(dropped) lines were dropped here: they came faster than they could be written\n".utf8
        dropped = 0
    }

    private func run() {
        var piece: [UInt8] = []
        pthread_mutex_lock(lock)
        while !isBroken {
            while waiting.isEmpty { pthread_cond_wait(changed, lock) }
            swap(&piece, &waiting)
            isWriting = true
            pthread_mutex_unlock(lock)
            let isWritten = writeAll(piece)
            piece.removeAll(keepingCapacity: true)
            pthread_mutex_lock(lock)
            isWriting = false
            if !isWritten {
                isBroken = true
                waiting = []
            }
            pthread_cond_broadcast(changed)
        }
        pthread_mutex_unlock(lock)
    }

    private func writeAll(_ bytes: [UInt8]) -> Bool {
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
                    return false
                }
            }
            return true
        }
    }
}
