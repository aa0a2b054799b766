internal import CNATS
internal import Glibc
internal import StrataLoop
internal import Synchronization

/// Ends a connection whose server reads nothing for seconds.
///
/// With TLS, libnats 3.4.1 waits without a bound until the socket takes what is written, on the loop's thread and with
/// its connection locked. Then neither the loop nor libnats's own timer can end the connection. A thread of this watch
/// does so.
final class WriteWatch {
    /// A write that takes so many seconds, or up to a second more, ends the connection.
    private static let mostSeconds = 2

    private let shared: Shared
    /// Closed to end the thread.
    private let lifeline: Int32

    /// What the thread uses too. It is odd while something is written.
    private final class Shared: Sendable {
        let writes = Atomic<UInt64>(0)
        let descriptor: Int32
        let lifeline: Int32

        init(_ descriptor: Int32, _ lifeline: Int32) { (self.descriptor, self.lifeline) = (descriptor, lifeline) }

        /// Looks once a second whether the same write still goes on.
        func run() {
            var (last, seconds) = (UInt64(0), 0)
            var end = pollfd(fd: lifeline, events: Int16(POLLIN), revents: 0)
            while poll(&end, 1, 1_000) == 0 {
                let now = writes.load(ordering: .relaxed)
                seconds = now % 2 == 1 && now == last ? seconds + 1 : 0
                last = now
                if seconds == WriteWatch.mostSeconds { shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
            close(lifeline)
            close(descriptor)
        }
    }

    /// Watches a connection; nil if the system has no thread or descriptor left.
    init?(_ socket: Int32) {
        let descriptor = strata_duplicate(socket)
        guard descriptor >= 0, let pipe = try? Pipe() else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        shared = Shared(descriptor, pipe.reading)
        lifeline = pipe.writing
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(shared)
        let status = pthread_create(
            &thread, nil,
            { shared in
                // Balances the retain above.
                Unmanaged<Shared>.fromOpaque(shared!).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        guard status == 0 else {
            retained.release()
            for descriptor in [descriptor, pipe.reading, pipe.writing] { close(descriptor) }
            return nil
        }
        pthread_detach(thread)
    }

    deinit { close(lifeline) }

    /// Calls `write`, which may block.
    func during(_ write: () -> Void) {
        shared.writes.add(1, ordering: .relaxed)
        write()
        shared.writes.add(1, ordering: .relaxed)
    }
}
