public import StrataCore
internal import CUV
internal import Glibc

/// Reads a pipe, such as a child's output, in pieces.
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

    /// Reads now what is in the pipe already, so that a child's last words come
    /// before the news of its end; not what somebody else writes meanwhile.
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
