internal import Glibc

/// Where spans are written, a line each: a file that is appended to, by a
/// thread of its own, which makes the lines too, so that no handler waits for it or
/// works for it. Several processes may write to one file: a line is one write.
///
/// What waits has a bound; a span beyond it is dropped, counted, and told to
/// the log. `@unchecked Sendable` because the descriptor never changes,
/// `isTorn` is the thread's alone, and the rest is locked or made for threads.
final class SpanFile: @unchecked Sendable {
    /// Bytes of spans that wait, at most, by `FileSpan.Record.size`.
    static let mostWaiting = 1 << 20
    /// A line's bytes, at most.
    static let longestLine = 64 << 10
    /// Seconds between two words on what is dropped.
    private static let silence = 10

    /// A span, and whose it is.
    private struct Waiting {
        let record: FileSpan.Record
        let resource: SpanResource
    }

    private struct State {
        var spans: [Waiting] = []
        var bytes = 0
        /// Who waits until nothing waits.
        var flushes: [Signal] = []
        var dropped: UInt64 = 0
        /// How many of them the log was told.
        var told: UInt64 = 0
    }

    let path: String
    private let descriptor: Int32
    private let state = Locked(State())
    private let work = Signal()
    /// The last write stopped in a line.
    private var isTorn = false
    private var toldAt: Int?

    /// Opens the file, or makes it for its user alone.
    /// - Returns: nil where that can't be; errno says why.
    init?(path: String) {
        // A pipe that nobody reads refuses at once, instead of waiting.
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return nil }
        self.path = path
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
        startThread()
    }

    /// How many spans there was no room for, or that could not be written.
    var dropped: UInt64 { state.withLock { $0.dropped } }

    /// Hands over a span that has ended. Never waits.
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

    /// Waits until all is written, or for so many milliseconds.
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
                // Balances the retain below; it lasts as long as the process.
                Unmanaged<SpanFile>.fromOpaque(argument!).takeRetainedValue().serve()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(status == 0, "a module's process can't have another thread: \(String(cString: strerror(status)))")
        pthread_detach(thread)
    }

    private func serve() {
        // A pipe whose reader is gone is an error of its write, and no signal.
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

    /// What waits; nil where nothing does, which each `flush` is told.
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
        // What a full disk took of a line is ended before the next.
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
            \(lost) spans were dropped: \(path) takes them more slowly than they come, or not at all; up to \
            \(Self.mostWaiting) bytes of them wait
            """)
    }
}
