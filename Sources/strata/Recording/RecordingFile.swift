import Glibc
import StrataReplay

/// The file that is recorded into.
final class RecordingFile {
    private let path: String
    private var shown: String { path == "-" ? "standard output" : path }
    private var descriptor: Int32
    private let most: Int
    private var size = 0
    private var frames = 0
    private var failure: Int32 = 0
    private var isFull = false
    /// The frames that came too fast to be recorded.
    var missed: Int64 = 0

    /// - Throws: `usage` if the file exists, or can't be written.
    init(_ path: String, most: Int) throws(Failure) {
        (self.path, self.most) = (path, most)
        guard path != "-" else {
            guard isatty(STDOUT_FILENO) == 0 else {
                throw Failure(.usage, "a recording isn't text for a terminal: name a file, or a pipe after |")
            }
            descriptor = STDOUT_FILENO
            return
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno == EEXIST ? "it exists already, and isn't replaced" : String(cString: strerror(errno))
            throw Failure(.usage, "\(path) can't be recorded into: \(reason)")
        }
    }

    func begin(app: String) throws(Failure) {
        write(CaptureBlock.beginning(program: "strata \(RootCommand.version)", bus: app))
        if failure != 0 { throw unwritten }
    }

    /// Adds a packet.
    /// - Returns: false if the file takes no more.
    func add(_ packet: [UInt8], at microseconds: Int64) -> Bool {
        guard failure == 0, !isFull else { return false }
        let block = CaptureBlock.packet(packet, at: UInt64(max(0, microseconds)))
        isFull = size + block.count > most
        guard !isFull else { return false }
        frames += 1
        write(block)
        return failure == 0
    }

    private func write(_ bytes: [UInt8]) {
        failure = Descriptor.write(bytes, to: descriptor)
        size += bytes.count
    }

    private var unwritten: Failure {
        Failure(.usage, "\(shown) can't be written: \(String(cString: strerror(failure)))")
    }

    /// Says what the file has.
    func finish() throws(Failure) {
        // Whoever reads the pipe has what it wants.
        guard failure == 0 || failure == EPIPE else { throw unwritten }
        let lost = missed == 0 ? "" : "; \(missed) came too fast, and are missing"
        let end = isFull ? "; --most \(most >> 20) MiB are reached" : ""
        StandardError.write("\(shown): \(frames) packets, \(LoadView.size(UInt64(size)))\(lost)\(end)")
    }

    /// Ends a recording that failed: an empty one is removed.
    func abandon() {
        if frames <= 1, path != "-" {
            unlink(path)
        } else {
            try? finish()
        }
    }

    func close() {
        if descriptor != STDOUT_FILENO { Glibc.close(descriptor) }
    }
}
