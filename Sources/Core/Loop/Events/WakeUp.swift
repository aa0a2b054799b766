public import StrataCore
internal import CUV
internal import Glibc

/// Wakes a loop from another thread. Several `send()`s may become one call.
///
/// `@unchecked Sendable` because `uv_async_send` may be called on any thread,
/// and the flag that guards it against a closed handle is under the lock.
public final class WakeUp: Handle, @unchecked Sendable {
    private var onWake: () -> Void
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var open = true

    public init(_ loop: Loop, onWake: @escaping () -> Void) throws(SystemError) {
        self.onWake = onWake
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        try super.init(UV_ASYNC, "make a wake-up") { memory in
            uv_async_init(loop.raw, memory.assumingMemoryBound(to: uv_async_t.self)) { handle in
                let object = Unmanaged<WakeUp>.fromOpaque(handle!.pointee.data)
                object._withUnsafeGuaranteedRef { $0.onWake() }
            }
        }
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Any thread. Does nothing once the handle is closed.
    public func send() {
        pthread_mutex_lock(lock)
        if open { uv_async_send(memory.assumingMemoryBound(to: uv_async_t.self)) }
        pthread_mutex_unlock(lock)
    }

    public override func close() {
        pthread_mutex_lock(lock)
        open = false
        pthread_mutex_unlock(lock)
        super.close()
        onWake = {}
    }
}
