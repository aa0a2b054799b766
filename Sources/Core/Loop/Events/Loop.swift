public import StrataCore
internal import CUV
internal import Glibc

/// A libuv event loop. It runs on the thread that calls `run()`. Only that thread may touch the
/// loop and what belongs to it; another thread gets in only through `WakeUp`.
public final class Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    private var thread: pthread_t?
    /// Whether a single round is running that may wait (`runOnce(waiting: true)`).
    private var isWaitingOnce = false

    public init() throws(SystemError) {
        raw = .allocate(capacity: 1)
        let status = uv_loop_init(raw)
        guard status == 0 else {
            raw.deallocate()
            throw SystemError(status, "make an event loop")
        }
    }

    deinit {
        // Handles that are closing still need their callbacks. A handle that was never closed keeps
        // the loop's memory, which leaks but doesn't crash.
        uv_run(raw, UV_RUN_NOWAIT)
        if uv_loop_close(raw) == 0 { raw.deallocate() }
    }

    /// Runs until `stop()` is called, or until nothing is left to wait for.
    public func run() {
        thread = pthread_self()
        uv_run(raw, UV_RUN_DEFAULT)
    }

    /// Runs one round.
    /// - Parameter waiting: if nothing is due, waits for the next timer or for input.
    public func runOnce(waiting: Bool = false) {
        thread = pthread_self()
        isWaitingOnce = waiting
        defer { isWaitingOnce = false }
        uv_run(raw, waiting ? UV_RUN_ONCE : UV_RUN_NOWAIT)
    }

    /// Records that a timer fired, which ends a waiting round. libuv runs due timers before it
    /// waits; without this, the round would then wait for input, which may never come.
    func timerRan() {
        if isWaitingOnce { uv_stop(raw) }
    }

    /// Makes `run()` return after the current round.
    public func stop() { uv_stop(raw) }

    /// The time in milliseconds on a monotonic clock, read once a round.
    public var now: UInt64 { uv_now(raw) }

    /// Reads the clock again, after work that took a while.
    public func updateTime() { uv_update_time(raw) }

    /// The time in nanoseconds on a monotonic clock, read now.
    public static var nanoseconds: UInt64 { uv_hrtime() }

    /// The time in microseconds since 1970, read now.
    public static var wallMicroseconds: UInt64 {
        var time = uv_timeval64_t()
        uv_gettimeofday(&time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_usec)
    }

    /// Whether the caller is on the loop's thread; also true if the loop has not run yet.
    public var isCurrent: Bool {
        guard let thread else { return true }
        return pthread_equal(thread, pthread_self()) != 0
    }
}
