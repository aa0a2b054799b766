internal import CUV
internal import Glibc
public import StrataCore

/// The owner of one libuv handle's memory, and the base class of everything on a loop.
///
/// libuv owns the memory from the start until the close callback, so the object keeps itself alive
/// until then. Whoever makes a handle must `close()` it.
public class Handle {
    /// A `uv_handle_t` of the kind that the subclass wants.
    let memory: UnsafeMutableRawPointer
    public private(set) var isClosed = false

    /// Allocates the memory and lets `start` make the handle in it. If `start` fails, it must not
    /// have registered anything with the loop.
    init(
        _ type: uv_handle_type, _ operation: @autoclosure () -> String,
        start: (UnsafeMutableRawPointer) -> Int32
    ) throws(SystemError) {
        memory = .allocate(byteCount: uv_handle_size(type), alignment: 16)
        let status = start(memory)
        guard status == 0 else {
            memory.deallocate()
            throw SystemError(status, operation())
        }
        raw.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    deinit {}

    final var raw: UnsafeMutablePointer<uv_handle_t> {
        memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Closes the handle, which ends its callbacks. A second call does nothing.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        uv_close(raw) { handle in
            let handle = handle!
            // Balances the retain in init; libuv doesn't refer to the memory any more.
            let object = Unmanaged<Handle>.fromOpaque(handle.pointee.data)
            UnsafeMutableRawPointer(handle).deallocate()
            object.release()
        }
    }

    /// Sets whether this handle keeps `Loop.run` from returning. True at first.
    public final func keepsLoopRunning(_ yes: Bool) {
        if yes { uv_ref(raw) } else { uv_unref(raw) }
    }
}

/// Calls back once in each round of the loop while it is started, before the loop polls for input.
/// The poll then doesn't wait. For work that is done in batches, so that input is handled in
/// between.
public final class IdleHook: Handle {
    private var onRound: () -> Void
    /// Whether the hook is started.
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

    /// Starts calling back, from the next round on.
    public func start() {
        guard !isActive, !isClosed else { return }
        isActive = true
        uv_idle_start(memory.assumingMemoryBound(to: uv_idle_t.self)) { handle in
            let object = Unmanaged<IdleHook>.fromOpaque(handle!.pointee.data)
            object._withUnsafeGuaranteedRef { $0.onRound() }
        }
    }

    /// Stops calling back, so that the loop waits again.
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

/// Calls back once in each round of the loop, after its input was handled and before it waits
/// again. What a round has produced is written out here.
public final class RoundHook: Handle {
    private var onRound: () -> Void

    public init(_ loop: Loop, onRound: @escaping () -> Void) {
        self.onRound = onRound
        do {
            try super.init(UV_PREPARE, "make a round hook") { memory in
                uv_prepare_init(loop.raw, memory.assumingMemoryBound(to: uv_prepare_t.self))
            }
        } catch {
            preconditionFailure("uv_prepare_init never fails, and did: \(error)")
        }
        // libuv runs prepare callbacks right before it polls, after timers, pending callbacks and
        // the last poll's input. So this comes after any callback that queued something in this
        // round.
        uv_prepare_start(memory.assumingMemoryBound(to: uv_prepare_t.self)) { handle in
            let object = Unmanaged<RoundHook>.fromOpaque(handle!.pointee.data)
            object._withUnsafeGuaranteedRef { $0.onRound() }
        }
        keepsLoopRunning(false)
    }

    public override func close() {
        super.close()
        onRound = {}
    }
}

/// Wakes a loop from another thread. Several calls of `send()` may lead to a single callback.
///
/// `@unchecked Sendable` because `uv_async_send` may be called on any thread, and the lock protects
/// the flag that keeps it off a closed handle.
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

    /// Wakes the loop; may be called on any thread. Does nothing once the handle is closed.
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

/// Calls back on the loop's thread each time that a signal arrives.
public final class SignalWatcher: Handle {
    private var onSignal: () -> Void

    public init(_ loop: Loop, signal: Int32, onSignal: @escaping () -> Void) throws(SystemError) {
        self.onSignal = onSignal
        try super.init(UV_SIGNAL, "watch a signal") { memory in
            uv_signal_init(loop.raw, memory.assumingMemoryBound(to: uv_signal_t.self))
        }
        let status = uv_signal_start(
            memory.assumingMemoryBound(to: uv_signal_t.self),
            { handle, _ in
                let object = Unmanaged<SignalWatcher>.fromOpaque(handle!.pointee.data)
                object._withUnsafeGuaranteedRef { $0.onSignal() }
            }, signal)
        guard status == 0 else {
            close()
            throw SystemError(status, "watch signal \(signal)")
        }
    }

    public override func close() {
        super.close()
        onSignal = {}
    }
}
