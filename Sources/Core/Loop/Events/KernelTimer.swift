public import StrataCore
internal import CUV
internal import Glibc

/// A timer that the kernel keeps (timerfd): the loop hears of it as of input.
///
/// While a `LoopTimer` runs, each wait of the loop has a time limit, for which
/// the kernel sets a timer and takes it away again. This one is set once, so it
/// is for a time that many rounds pass before; each `start` is a system call.
public final class KernelTimer: WatchedDescriptor {
    private var onFire: () -> Void

    /// - Throws: where the process has no descriptor left.
    public init(_ loop: Loop, onFire: @escaping () -> Void) throws(SystemError) {
        let descriptor = strata_timer()
        guard descriptor >= 0 else { throw SystemError(errno, "make a timer") }
        self.onFire = onFire
        try super.init(loop, descriptor, "watch a timer")
        watch(for: UV_READABLE)
    }

    override func happened(_ status: Int32, _ events: Int32) {
        var count: UInt64 = 0
        // Nothing is there to be read where it was started anew meanwhile.
        guard Glibc.read(descriptor, &count, 8) == 8 else { return }
        onFire()
    }

    /// Starts it, or starts it anew: it calls back once, after so many
    /// milliseconds from now. 0 is as soon as can be.
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
