public import StrataCore
internal import CUV
internal import Glibc

/// An event loop of libuv. It runs on the thread that calls `run()`, and all
/// that belongs to it is touched on that thread alone; `WakeUp` is the one way
/// in from elsewhere.
public final class Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    private var thread: pthread_t?
    /// Whether this is a single round, which waits.
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
        // Handles that are closing still need their callbacks; one that nobody
        // closed would keep the loop's memory, which is a leak and no crash.
        uv_run(raw, UV_RUN_NOWAIT)
        if uv_loop_close(raw) == 0 { raw.deallocate() }
    }

    /// Runs until `stop()`, or until nothing is left to wait for.
    public func run() {
        thread = pthread_self()
        uv_run(raw, UV_RUN_DEFAULT)
    }

    /// Runs what is due.
    /// - Parameter waiting: where nothing is due, waits until a timer is, or until input comes.
    public func runOnce(waiting: Bool = false) {
        thread = pthread_self()
        isWaitingOnce = waiting
        defer { isWaitingOnce = false }
        uv_run(raw, waiting ? UV_RUN_ONCE : UV_RUN_NOWAIT)
    }

    /// A timer's time has come. libuv runs timers that are due before it waits: without this it
    /// would then wait for input, which may never come.
    func timerRan() {
        if isWaitingOnce { uv_stop(raw) }
    }

    /// Ends `run()` after this round.
    public func stop() { uv_stop(raw) }

    /// Milliseconds of a clock that only goes forward, read once a round.
    public var now: UInt64 { uv_now(raw) }

    /// Reads the clock again: after work that took a while.
    public func updateTime() { uv_update_time(raw) }

    /// Nanoseconds of a clock that only goes forward, read now.
    public static var nanoseconds: UInt64 { uv_hrtime() }

    /// Microseconds since 1970, read now.
    public static var wallMicroseconds: UInt64 {
        var time = uv_timeval64_t()
        uv_gettimeofday(&time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_usec)
    }

    /// Whether the caller is on the thread that this loop runs on. True too
    /// where it has not run yet.
    public var isCurrent: Bool {
        guard let thread else { return true }
        return pthread_equal(thread, pthread_self()) != 0
    }
}
