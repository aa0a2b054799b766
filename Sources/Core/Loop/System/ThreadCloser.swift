internal import Glibc
public import StrataCore

/// Closes descriptors on threads of its own, which end when nothing is left to close. There are
/// several, so that one that blocks doesn't hold up the others.
///
/// After systemd's `asynchronous_close`.
public final class ThreadCloser: DescriptorCloser, @unchecked Sendable {
    // The lock of `changed` guards these.
    private let changed = Condition()
    private var waiting: [Int32] = []
    private var count = 0
    private var running = 0

    private static let mostThreads = 8

    public init() {}

    public var pending: Int {
        changed.lock()
        defer { changed.unlock() }
        return count
    }

    public func close(_ numbers: [Int32]) {
        changed.lock()
        defer { changed.unlock() }
        waiting += numbers
        count += numbers.count
        // Another thread for each batch, in case the ones that run are blocked.
        if running < Self.mostThreads, start() { running += 1 }
        if running == 0 { closeAll() }
    }

    /// Returns what no thread has begun to close, and leaves it to the caller.
    public func takeWaiting() -> [Int32] {
        changed.lock()
        defer { changed.unlock() }
        defer {
            count -= waiting.count
            waiting = []
        }
        return waiting
    }

    /// - Returns: false if there can be no further thread now.
    private func start() -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        // Signals are for the loop's thread.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let status = pthread_create(
            &thread, nil,
            { context -> UnsafeMutableRawPointer? in
                // because it is what was passed
                Unmanaged<ThreadCloser>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard status == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private func run() {
        changed.lock()
        closeAll()
        running -= 1
        changed.unlock()
    }

    /// Closes what waits; the caller holds the lock before and after.
    private func closeAll() {
        while let number = waiting.popLast() {
            changed.unlock()
            Glibc.close(number)
            changed.lock()
            count -= 1
        }
    }
}
