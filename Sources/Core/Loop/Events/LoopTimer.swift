internal import CUV
internal import Glibc
public import StrataCore

/// A timer that fires once, or repeatedly.
public final class LoopTimer: Handle {
    private unowned let loop: Loop  // because what lives on a loop only fires while the loop runs
    private var onFire: () -> Void

    public init(_ loop: Loop, onFire: @escaping () -> Void) {
        self.loop = loop
        self.onFire = onFire
        do {
            try super.init(UV_TIMER, "make a timer") { memory in
                uv_timer_init(loop.raw, memory.assumingMemoryBound(to: uv_timer_t.self))
            }
        } catch {
            preconditionFailure("uv_timer_init never fails, and did: \(error)")
        }
    }

    private var timer: UnsafeMutablePointer<uv_timer_t> {
        memory.assumingMemoryBound(to: uv_timer_t.self)
    }

    /// Starts or restarts the timer.
    /// - Parameters:
    ///   - delay: milliseconds from the time of the current round.
    ///   - interval: milliseconds between further calls; 0 for a single call.
    public func start(after delay: UInt64, every interval: UInt64 = 0) {
        guard !isClosed else { return }
        uv_timer_start(
            timer,
            { handle in
                let object = Unmanaged<LoopTimer>.fromOpaque(handle!.pointee.data)
                object._withUnsafeGuaranteedRef { $0.fire() }
            }, delay, interval)
    }

    private func fire() {
        loop.timerRan()
        onFire()
    }

    public func stop() {
        guard !isClosed else { return }
        uv_timer_stop(timer)
    }

    /// The milliseconds until the timer fires; nil if it isn't running.
    public var dueIn: UInt64? { isActive ? uv_timer_get_due_in(timer) : nil }

    public var isActive: Bool { !isClosed && uv_is_active(raw) != 0 }

    public override func close() {
        super.close()
        onFire = {}
    }
}

/// A timer in the kernel (timerfd), which the loop sees as input.
///
/// While a `LoopTimer` runs, each wait of the loop has a timeout, so the kernel sets and removes a
/// timer for every wait. A `KernelTimer` is set only once, but each `start` is a system call. It
/// suits delays that span many rounds.
public final class KernelTimer: WatchedDescriptor {
    private var onFire: () -> Void

    /// - Throws: if the process has no descriptor left.
    public init(_ loop: Loop, onFire: @escaping () -> Void) throws(SystemError) {
        let descriptor = strata_timer()
        guard descriptor >= 0 else { throw SystemError(errno, "make a timer") }
        self.onFire = onFire
        try super.init(loop, descriptor, "watch a timer")
        watch(for: UV_READABLE)
    }

    override func happened(_ status: Int32, _ events: Int32) {
        var count: UInt64 = 0
        // There is nothing to read if the timer was restarted after it expired.
        guard Glibc.read(descriptor, &count, 8) == 8 else { return }
        onFire()
    }

    /// Starts or restarts the timer, which fires once.
    /// - Parameter delay: milliseconds from now; 0 means as soon as possible.
    public func start(after delay: UInt64) {
        guard !isClosed else { return }
        let status = strata_timer_start(descriptor, delay)
        precondition(status == 0, "timerfd_settime refuses no time that fits, and did: \(status)")
    }

    public override func close() {
        super.close()
        onFire = {}
    }
}
