public import StrataCore
internal import CUV
internal import Glibc

/// Says when a process has ended that isn't this one's child, by a descriptor that
/// stands for it: its number may be another's soon after.
public final class ProcessEndWatcher: WatchedDescriptor {
    private var onEnd: () -> Void

    /// Begins to watch.
    /// - Parameter onEnd: called once, on the loop's thread; the handle is closed then.
    /// - Throws: ESRCH where there is no such process any more, ENOSYS before Linux 5.3.
    public init(_ loop: Loop, _ process: ProcessIdentity, onEnd: @escaping () -> Void) throws(SystemError) {
        let operation = "watch process \(process.pid)"
        let descriptor = strata_process_descriptor(process.pid)
        guard descriptor >= 0 else { throw SystemError(errno, operation) }
        // Where the number is that process's now, the descriptor is.
        guard ProcessIdentity(pid: process.pid) == process else {
            Glibc.close(descriptor)
            throw SystemError(ESRCH, operation)
        }
        self.onEnd = onEnd
        try super.init(loop, descriptor, operation)
        watch(for: UV_READABLE)
    }

    override func happened(_ status: Int32, _ events: Int32) {
        let ended = onEnd
        close()
        ended()
    }

    public override func close() {
        super.close()
        onEnd = {}
    }
}
