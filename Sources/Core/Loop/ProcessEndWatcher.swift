internal import CUV
internal import Glibc

/// Says when a process has ended that isn't this one's child, by a descriptor that
/// stands for it: its number may be another's soon after.
public final class ProcessEndWatcher: WatchedDescriptor {
    private var onEnd: () -> Void

    /// Begins to watch.
    /// - Parameter onEnd: called once, on the loop's thread; the handle is closed then.
    /// - Throws: ESRCH where there is no such process, ENOSYS before Linux 5.3.
    public init(_ loop: Loop, pid: Int32, onEnd: @escaping () -> Void) throws(SystemError) {
        let descriptor = strata_process_descriptor(pid)
        guard descriptor >= 0 else { throw SystemError(errno, "watch process \(pid)") }
        self.onEnd = onEnd
        try super.init(loop, descriptor, "watch process \(pid)")
    }

    override func becameReadable() {
        let ended = onEnd
        close()
        ended()
    }

    public override func close() {
        super.close()
        onEnd = {}
    }
}
