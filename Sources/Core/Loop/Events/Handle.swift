internal import StrataCore
internal import CUV

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
