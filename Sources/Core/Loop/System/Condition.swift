internal import StrataCore
internal import Glibc

/// A lock, and a condition that threads wait for while they hold it.
///
/// Timeouts use the monotonic clock, so setting the wall clock back makes no wait longer.
///
/// `@unchecked Sendable` because both are made for threads, and their addresses never change.
public final class Condition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Makes a condition whose lock is open.
    public init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public func lock() { pthread_mutex_lock(mutex) }
    public func unlock() { pthread_mutex_unlock(mutex) }

    /// Wakes all waiting threads.
    public func broadcast() { pthread_cond_broadcast(condition) }

    /// Waits for the next broadcast; the caller holds the lock before and after. It may also return
    /// without a broadcast.
    public func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits until `isOver` returns true; the lock is held before, after, and during each call of
    /// it.
    /// - Returns: false if that took longer than `milliseconds`.
    public func wait(milliseconds: Int, until isOver: () -> Bool) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += milliseconds / 1_000
        end.tv_nsec += milliseconds % 1_000 * 1_000_000
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        while !isOver() {
            if pthread_cond_timedwait(condition, mutex, &end) != 0 { return isOver() }
        }
        return true
    }
}
