internal import StrataCore
internal import CUV
internal import Glibc

/// A descriptor that a loop watches (`uv_poll_t`), and that is closed with the handle.
public class WatchedDescriptor: Handle {
    public final let descriptor: Int32

    /// Takes a descriptor over; it is closed where this throws, too.
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

    /// Says what to watch for from now on; nothing stops it.
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

    /// Something that it is watched for has come about.
    /// - Parameters:
    ///   - status: not 0 where the descriptor has failed.
    ///   - events: bits of `uv_poll_event`.
    func happened(_ status: Int32, _ events: Int32) {}

    public override func close() {
        guard !isClosed else { return }
        letGo()
        // libuv has let go of the descriptor in uv_close.
        Glibc.close(descriptor)
    }

    /// Ends the handle; the descriptor stays open, for somebody else.
    public func letGo() { super.close() }
}
