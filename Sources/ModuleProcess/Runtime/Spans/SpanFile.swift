internal import Glibc

/// The file that spans are appended to, one line each. A separate thread makes the lines and writes
/// them, so that no handler does that work or waits for it. Several processes may write to one
/// file, because each line is one write.
///
/// The waiting spans are limited: a span beyond the limit is dropped, counted and logged.
/// `@unchecked Sendable` because the descriptor never changes, only the thread uses `isTorn` and
/// `toldAt`, and the rest is locked or thread-safe.
final class SpanFile: @unchecked Sendable {
    /// The most bytes of waiting spans, by `FileSpan.Record.size`.
    static let mostWaiting = 1 << 20
    /// The most bytes of a line.
    static let longestLine = 64 << 10
    /// The seconds between two log messages about dropped spans.
    private static let silence = 10

    /// A span and the resource that it belongs to.
    private struct Waiting {
        let record: FileSpan.Record
        let resource: SpanResource
    }

    private struct State {
        var spans: [Waiting] = []
        var bytes = 0
        /// The flushes that wait until all spans are written.
        var flushes: [Signal] = []
        var dropped: UInt64 = 0
        /// The number of dropped spans that have been logged.
        var told: UInt64 = 0
    }

    let path: String
    private let descriptor: Int32
    private let state = Locked(State())
    private let work = Signal()
    /// Whether the last write stopped in the middle of a line.
    private var isTorn = false
    private var toldAt: Int?

    /// Opens the file, or creates it for its user only.
    /// - Returns: Nil if that fails; errno says why.
    init?(path: String) {
        // A pipe without a reader then fails at once, instead of blocking.
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return nil }
        self.path = path
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
        startThread()
    }

    /// The number of spans that there was no room for, or that could not be written.
    var dropped: UInt64 { state.withLock { $0.dropped } }

    /// Queues an ended span for writing. Never waits.
    func add(_ record: FileSpan.Record, of resource: SpanResource) {
        let size = record.size
        let isFirst = state.withLock { state in
            guard state.bytes + size <= Self.mostWaiting else {
                state.dropped += 1
                return false
            }
            state.spans.append(Waiting(record: record, resource: resource))
            state.bytes += size
            return state.spans.count == 1
        }
        if isFirst { work.raise() }
    }

    /// Waits until everything is written, for up to the given number of milliseconds.
    func flush(within milliseconds: Int) {
        let idle = Signal()
        state.withLock { $0.flushes.append(idle) }
        work.raise()
        idle.wait(milliseconds: milliseconds)
    }

    // MARK: The thread

    private func startThread() {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                // Balances the retain below, which lasts as long as the process.
                Unmanaged<SpanFile>.fromOpaque(argument!).takeRetainedValue().serve()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(status == 0, "a module's process can't have another thread: \(String(cString: strerror(status)))")
        pthread_detach(thread)
    }

    private func serve() {
        // A write to a pipe without a reader then fails with an error, instead of raising a signal.
        var pipeSignal = sigset_t()
        sigemptyset(&pipeSignal)
        sigaddset(&pipeSignal, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipeSignal, nil)
        while true {
            work.wait()
            while let spans = next() {
                var failed: UInt64 = 0
                for span in spans where !write(SpanLine.bytes(of: span.record, span.resource)) { failed += 1 }
                if failed > 0 { state.withLock { [failed] in $0.dropped += failed } }
            }
            tellLosses()
        }
    }

    /// Returns the waiting spans; nil if there are none, which completes each `flush`.
    private func next() -> [Waiting]? {
        let (spans, flushes) = state.withLock { state -> ([Waiting]?, [Signal]) in
            guard !state.spans.isEmpty else {
                defer { state.flushes = [] }
                return (nil, state.flushes)
            }
            defer { (state.spans, state.bytes) = ([], 0) }
            return (state.spans, [])
        }
        for idle in flushes { idle.raise() }
        return spans
    }

    private func write(_ line: [UInt8]) -> Bool {
        guard line.count <= Self.longestLine else { return false }
        // If a full disk cut off a line, end that line before the next.
        let line = isTorn ? [UInt8(ascii: "\n")] + line : line
        let count = line.withUnsafeBytes { bytes in
            while true {
                let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                if count >= 0 || errno != EINTR { return count }
            }
        }
        if count == line.count {
            isTorn = false
            return true
        }
        if count > 0 { isTorn = true }
        return false
    }

    private func tellLosses() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        if let toldAt, now.tv_sec - toldAt < Self.silence { return }
        let lost = state.withLock { state in
            defer { state.told = state.dropped }
            return state.dropped - state.told
        }
        guard lost > 0 else { return }
        toldAt = now.tv_sec
        ModuleLog.logger.warning(
            """
            \(lost) spans were dropped: \(path) can't be written, or not as fast as they come; up to \
            \(Self.mostWaiting) bytes of them wait
            """)
    }
}
