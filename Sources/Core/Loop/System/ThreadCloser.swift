internal import Glibc
public import StrataCore

/// Closes descriptors on threads of its own, which end when nothing is left to close. A user's
/// descriptors have some of the threads at most, so closings of one user that block don't hold up
/// those of another.
///
/// After systemd's `asynchronous_close`.
///
/// `@unchecked Sendable` because the lock of `changed` guards all that the threads share.
public final class ThreadCloser: DescriptorCloser, @unchecked Sendable {
    private struct Queue {
        var waiting: [Int32] = []
        /// The number of threads that close one of them now.
        var busy = 0
        var count: Int { waiting.count + busy }
    }

    private let changed = Condition()
    /// What is left to close, by user.
    private var queues: [UInt32: Queue] = [:]
    private var count = 0
    private var running = 0

    private static let (mostThreads, mostOfUser) = (32, 8)

    public init() {}

    public var pending: Int {
        changed.lock()
        defer { changed.unlock() }
        return count
    }

    public func pending(of user: UInt32) -> Int {
        changed.lock()
        defer { changed.unlock() }
        return queues[user]?.count ?? 0
    }

    public func close(_ numbers: [Int32], of user: UInt32) {
        changed.lock()
        defer { changed.unlock() }
        queues[user, default: Queue()].waiting += numbers
        count += numbers.count
        // Another thread for each batch, in case the ones that run are blocked.
        guard running < Self.mostThreads, nextUser() != nil else { return }
        if DetachedThread.start({ self.run() }) { running += 1 }
        if running == 0 { closeAll() }
    }

    /// Returns what no thread has begun to close, and leaves it to the caller.
    public func takeWaiting() -> [Int32] {
        changed.lock()
        defer { changed.unlock() }
        var waiting: [Int32] = []
        for user in queues.keys {
            waiting += queues[user]?.waiting ?? []
            queues[user]?.waiting = []
        }
        count -= waiting.count
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
        while let user = nextUser(), let number = queues[user]?.waiting.popLast() {
            queues[user]?.busy += 1
            changed.unlock()
            Glibc.close(number)
            changed.lock()
            count -= 1
            queues[user]?.busy -= 1
            if queues[user]?.count == 0 { queues[user] = nil }
        }
    }

    /// Returns the user whose descriptors are closed next: one for whom the fewest threads work.
    private func nextUser() -> UInt32? {
        let ready = queues.lazy.filter { !$0.value.waiting.isEmpty && $0.value.busy < Self.mostOfUser }
        return ready.min { $0.value.busy < $1.value.busy }?.key
    }
}
