internal import Glibc
public import StrataCore

/// Closes descriptors on threads of its own, which end when nothing is left to close. There are
/// several, so that one that blocks doesn't hold up the others.
///
/// After systemd's `asynchronous_close`.
///
/// `@unchecked Sendable` because the lock of `changed` guards all that the threads share.
public final class ThreadCloser: DescriptorCloser, @unchecked Sendable {
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
        if running < Self.mostThreads, DetachedThread.start({ self.run() }) { running += 1 }
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
