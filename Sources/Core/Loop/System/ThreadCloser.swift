internal import Glibc
public import StrataCore

/// Closes descriptors on a thread of its own, which ends when nothing is left to close.
///
/// After systemd's `asynchronous_close`.
public final class ThreadCloser: DescriptorCloser, @unchecked Sendable {
    // The lock of `changed` guards these.
    private let changed = Condition()
    private var waiting: [Int32] = []
    private var count = 0
    private var isRunning = false

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
        if isRunning { return }
        isRunning = start()
        if !isRunning { closeAll() }
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
        isRunning = false
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
