public import StrataCore
internal import CUV
internal import Glibc

/// Reports when tasks stall for lack of memory, processor time or disk.
///
/// It watches one of the kernel's pressure files (PSI), or a FIFO that another program writes to.
/// systemd's memory pressure protocol has both.
public final class PressureWatcher: WatchedDescriptor {
    /// An event that the watcher reports, on the loop's thread.
    public enum Event: Sendable, Equatable {
        /// The pressure that the trigger names has occurred.
        case pressure
        /// The file is gone, as when its control group was removed. The handle is closed, and no
        /// more events come.
        case ended
    }

    private let isFIFO: Bool
    private var onEvent: (Event) -> Void

    /// Begins to watch.
    /// - Parameters:
    ///   - path: a pressure file in `/proc` or in a control group, or a FIFO. Any other kind of
    ///     file is refused before anything is written to it.
    ///   - trigger: the kernel's description of what to watch for, such as `some 200000 2000000`;
    ///     it isn't written to a FIFO.
    public init(_ loop: Loop, path: String, trigger: [UInt8], onEvent: @escaping (Event) -> Void) throws(SystemError) {
        // A FIFO that is also open for writing never reaches its end.
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
        var status = stat()
        isFIFO = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        self.onEvent = onEvent
        // The kernel refuses to poll files of other kinds, so this throws before the write below.
        try super.init(loop, descriptor, "watch \(path)")
        // The kernel overwrites the last byte with a string terminator.
        let string = trigger.last == 0 ? trigger : trigger + [0]
        if !isFIFO, Glibc.write(descriptor, string, string.count) < 0 {
            let code = errno
            close()
            throw SystemError(code, "ask \(path) for \(String(decoding: trigger, as: UTF8.self))")
        }
        watch(for: isFIFO ? UV_READABLE : UV_PRIORITIZED)
    }

    override func happened(_ status: Int32, _ events: Int32) {
        guard status == 0 else {
            let ended = onEvent
            close()
            return ended(.ended)
        }
        if isFIFO { _ = read(Glibc.read) }
        onEvent(.pressure)
    }

    /// The current contents of the kernel's file; empty for a FIFO.
    public func text() -> String {
        guard !isClosed, !isFIFO else { return "" }
        return String(decoding: read { pread($0, $1, $2, 0) }, as: UTF8.self)
    }

    private func read(_ operation: (Int32, UnsafeMutableRawPointer, Int) -> Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 4_096) { space, count in
            // because the capacity is over 0, so there is an address
            count = max(0, operation(descriptor, UnsafeMutableRawPointer(space.baseAddress!), space.count))
        }
    }

    public override func letGo() {
        super.letGo()
        onEvent = { _ in }
    }
}
