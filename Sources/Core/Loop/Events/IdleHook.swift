internal import StrataCore
internal import CUV

/// Calls back once in each round of the loop while it is started, before the
/// loop looks for input; the loop doesn't wait for any meanwhile. For work that
/// is done in pieces, so that input has its turn between them.
public final class IdleHook: Handle {
    private var onRound: () -> Void
    /// Whether it is started.
    public private(set) var isActive = false

    public init(_ loop: Loop, onRound: @escaping () -> Void) {
        self.onRound = onRound
        do {
            try super.init(UV_IDLE, "make an idle hook") { memory in
                uv_idle_init(loop.raw, memory.assumingMemoryBound(to: uv_idle_t.self))
            }
        } catch {
            preconditionFailure("uv_idle_init never fails, and did: \(error)")
        }
        keepsLoopRunning(false)
    }

    /// Lets it call back from the next round on.
    public func start() {
        guard !isActive, !isClosed else { return }
        isActive = true
        uv_idle_start(memory.assumingMemoryBound(to: uv_idle_t.self)) { handle in
            let object = Unmanaged<IdleHook>.fromOpaque(handle!.pointee.data)
            object._withUnsafeGuaranteedRef { $0.onRound() }
        }
    }

    /// Lets the loop wait again.
    public func stop() {
        guard isActive else { return }
        isActive = false
        uv_idle_stop(memory.assumingMemoryBound(to: uv_idle_t.self))
    }

    public override func close() {
        isActive = false
        super.close()
        onRound = {}
    }
}
