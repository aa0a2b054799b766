internal import CUV
internal import Glibc

/// Says when a process has ended that isn't this one's child, by a descriptor that
/// stands for it: its number may be another's soon after.
public final class ProcessEndWatcher: Handle {
    private let descriptor: Int32
    private var onEnd: () -> Void

    /// Begins to watch.
    /// - Parameter onEnd: called once, on the loop's thread; the handle is closed then.
    /// - Throws: ESRCH where there is no such process, ENOSYS before Linux 5.3.
    public init(_ loop: Loop, pid: Int32, onEnd: @escaping () -> Void) throws(SystemError) {
        let descriptor = strata_process_descriptor(pid)
        guard descriptor >= 0 else { throw SystemError(errno, "watch process \(pid)") }
        self.descriptor = descriptor
        self.onEnd = onEnd
        do {
            try super.init(UV_POLL, "watch process \(pid)") { memory in
                uv_poll_init(loop.raw, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        let poll = memory.assumingMemoryBound(to: uv_poll_t.self)
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            let object = Unmanaged<ProcessEndWatcher>.fromOpaque(handle!.pointee.data)
            object._withUnsafeGuaranteedRef { $0.ended() }
        }
    }

    private func ended() {
        let ended = onEnd
        close()
        ended()
    }

    public override func close() {
        guard !isClosed else { return }
        super.close()
        onEnd = {}
        Glibc.close(descriptor)
    }
}
