public import StrataCore
internal import CUV
internal import Glibc

/// Says when tasks stall for want of memory, processor or disk: watches one of
/// the kernel's pressure files (PSI), or a FIFO into which somebody writes
/// instead, as systemd's memory pressure protocol has both.
public final class PressureWatcher: WatchedDescriptor {
    /// What it is told, on the loop's thread.
    public enum Event: Sendable, Equatable {
        /// What was to be watched for has come about.
        case pressure
        /// The file is gone, as a removed control group's is; nothing comes any
        /// more, and the handle is closed.
        case ended
    }

    private let isFIFO: Bool
    private var onEvent: (Event) -> Void

    /// Begins to watch.
    /// - Parameters:
    ///   - path: a pressure file of `/proc` or of a control group, or a FIFO.
    ///     Any other kind is refused, before anything is written to it.
    ///   - trigger: what is to be watched for, as the kernel reads it, such as
    ///     `some 200000 2000000`; not written to a FIFO.
    public init(_ loop: Loop, path: String, trigger: [UInt8], onEvent: @escaping (Event) -> Void) throws(SystemError) {
        // A FIFO that is open for writing too never comes to its end.
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open \(path)") }
        var status = stat()
        isFIFO = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        self.onEvent = onEvent
        // The kernel refuses to watch files that are none of its own.
        try super.init(loop, descriptor, "watch \(path)")
        // The kernel takes the last byte for the end of a string.
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

    /// What the kernel's file says now; empty of a FIFO.
    public func text() -> String {
        guard !isClosed, !isFIFO else { return "" }
        return String(decoding: read { pread($0, $1, $2, 0) }, as: UTF8.self)
    }

    private func read(_ operation: (Int32, UnsafeMutableRawPointer, Int) -> Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 4_096) { space, count in
            // because a capacity over 0 has an address
            count = max(0, operation(descriptor, UnsafeMutableRawPointer(space.baseAddress!), space.count))
        }
    }

    public override func letGo() {
        super.letGo()
        onEvent = { _ in }
    }
}
