internal import CUV
internal import Glibc

/// A descriptor that the kernel makes readable when something has happened, watched by
/// a loop, and closed with the handle.
public class WatchedDescriptor: Handle {
    final let descriptor: Int32

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
        uv_poll_start(memory.assumingMemoryBound(to: uv_poll_t.self), Int32(UV_READABLE.rawValue)) { handle, _, _ in
            let object = Unmanaged<WatchedDescriptor>.fromOpaque(handle!.pointee.data)
            object._withUnsafeGuaranteedRef { $0.becameReadable() }
        }
    }

    /// It can be read, or the kernel says that it has failed.
    func becameReadable() {}

    public override func close() {
        guard !isClosed else { return }
        super.close()
        // libuv has let go of the descriptor in uv_close.
        Glibc.close(descriptor)
    }
}
