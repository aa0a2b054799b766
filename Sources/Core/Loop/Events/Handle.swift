internal import CUV
internal import Glibc
public import StrataCore

/// What lives on a loop: the memory of one libuv handle, and the rule for its
/// end. libuv owns that memory from the start until its close callback, so the
/// object keeps itself alive until then; who made a handle must `close()` it.
public class Handle {
    /// A `uv_handle_t` of the subclass's kind.
    let memory: UnsafeMutableRawPointer
    public private(set) var isClosed = false

    /// Lets `start` make the handle in fresh memory. A `start` that fails
    /// hasn't registered anything with the loop.
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

    /// Ends the handle; its callbacks don't come any more. Twice is once.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        uv_close(raw) { handle in
            let handle = handle!
            // Balances the retain of init; nothing of libuv's refers to the
            // memory from here on.
            let object = Unmanaged<Handle>.fromOpaque(handle.pointee.data)
            UnsafeMutableRawPointer(handle).deallocate()
            object.release()
        }
    }

    /// Whether this handle keeps `Loop.run` from returning. True at first.
    public final func keepsLoopRunning(_ yes: Bool) {
        if yes { uv_ref(raw) } else { uv_unref(raw) }
    }
}

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

/// Calls back once in each round of the loop, after its input was handled and
/// before it waits again: the place where what a round produced is written out.
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
        // Prepare runs right before the loop polls, after timers, pending
        // callbacks and the last poll's input: whatever queued something this
        // round, and whichever callback did, comes before it.
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

/// Calls back, on the loop's thread, for each time that a signal came.
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
