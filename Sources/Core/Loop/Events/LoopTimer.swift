internal import StrataCore
internal import CUV

/// Calls back after a time, once or again and again.
public final class LoopTimer: Handle {
    private unowned let loop: Loop  // because what lives on a loop fires while the loop runs
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

    /// Starts it, or starts it anew.
    /// - Parameters:
    ///   - delay: milliseconds from the round's time.
    ///   - interval: milliseconds between further calls; 0 for none.
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

    /// In how many milliseconds it calls back; nil where it isn't started.
    public var dueIn: UInt64? { isActive ? uv_timer_get_due_in(timer) : nil }

    public var isActive: Bool { !isClosed && uv_is_active(raw) != 0 }

    public override func close() {
        super.close()
        onFire = {}
    }
}
