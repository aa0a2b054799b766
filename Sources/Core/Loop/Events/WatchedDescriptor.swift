internal import CUV
internal import Glibc
public import StrataCore

/// A descriptor that a loop watches (`uv_poll_t`), and which is closed with the handle.
public class WatchedDescriptor: Handle {
    public final let descriptor: Int32

    /// Takes over a descriptor, which is closed even if this throws.
    init(_ loop: Loop, _ descriptor: Int32, _ operation: @autoclosure () -> String) throws(SystemError) {
        self.descriptor = descriptor
        do {
            try super.init(UV_POLL, operation()) { memory in
                uv_poll_init(loop.raw, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Sets what to watch for from now on; no events stops watching.
    final func watch(for events: uv_poll_event...) {
        watch(mask: events.reduce(0) { $0 | Int32($1.rawValue) })
    }

    final func watch(mask: Int32) {
        let poll = memory.assumingMemoryBound(to: uv_poll_t.self)
        guard mask != 0 else {
            uv_poll_stop(poll)
            return
        }
        uv_poll_start(poll, mask) { handle, status, events in
            let object = Unmanaged<WatchedDescriptor>.fromOpaque(handle!.pointee.data)
            object._withUnsafeGuaranteedRef { $0.happened(status, events) }
        }
    }

    /// Handles an event that the descriptor is watched for.
    /// - Parameters:
    ///   - status: not 0 if the descriptor has failed.
    ///   - events: bits of `uv_poll_event`.
    func happened(_ status: Int32, _ events: Int32) {}

    public override func close() {
        guard !isClosed else { return }
        letGo()
        // uv_close no longer uses the descriptor, so it can be closed here.
        Glibc.close(descriptor)
    }

    /// Closes the handle but leaves the descriptor open, for a new owner.
    public func letGo() { super.close() }
}

/// Reads a pipe, such as a child's output, in chunks.
public final class OutputReader: WatchedDescriptor {
    private var onBytes: (UnsafeRawBufferPointer) -> Void
    private var onEnd: () -> Void

    /// Takes over the reading end of a pipe.
    public init(
        _ loop: Loop, descriptor: Int32, onBytes: @escaping (UnsafeRawBufferPointer) -> Void,
        onEnd: @escaping () -> Void
    ) throws(SystemError) {
        self.onBytes = onBytes
        self.onEnd = onEnd
        try super.init(loop, descriptor, "poll a pipe")
        watch(for: UV_READABLE, UV_DISCONNECT)
    }

    override func happened(_ status: Int32, _ events: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { space in
            let count = Glibc.read(descriptor, space.baseAddress, space.count)
            if count > 0 {
                onBytes(UnsafeRawBufferPointer(rebasing: space[..<count]))
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                let ended = onEnd
                close()
                ended()
            }
        }
    }

    /// Reads what is already in the pipe, so that a child's last output comes before the report of
    /// its end. It doesn't read what other processes write meanwhile.
    public func drain() {
        var waiting: Int32 = 0
        guard !isClosed, ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { space in
            var drained = 0
            while !isClosed, drained < waiting {
                let count = Glibc.read(descriptor, space.baseAddress, space.count)
                guard count > 0 else { return }
                drained += count
                onBytes(UnsafeRawBufferPointer(rebasing: space[..<count]))
            }
        }
    }

    public override func letGo() {
        super.letGo()
        onBytes = { _ in }
        onEnd = {}
    }
}
