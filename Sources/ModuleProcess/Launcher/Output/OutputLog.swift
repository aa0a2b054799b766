import StrataCore
import StrataLoop

/// The last lines that a module wrote, across all of its processes. The number of lines and of
/// bytes is limited; the oldest lines are dropped.
struct OutputLog {
    static let mostLines = 1_000
    /// The most bytes of the lines themselves.
    static let mostBytes = 256 << 10

    /// A line, and its position among the lines of all modules.
    struct Entry {
        var place: UInt64
        var line: OutputLine
    }

    /// The number of lines that were written, including dropped ones: the number of the next line.
    private(set) var written: UInt64 = 0
    /// The bytes of the lines that are kept.
    private(set) var bytes = 0
    /// The number of the oldest line that is kept.
    private(set) var oldest: UInt64 = 0
    /// The entries by line number, modulo `mostLines`.
    private var slots: [Entry] = []

    /// The number of lines that are kept.
    var count: Int { Int(written - oldest) }

    /// Returns a line.
    /// - Parameter number: At least `oldest`, and less than `written`.
    subscript(number: UInt64) -> Entry {
        precondition((oldest..<written).contains(number), "line \(number) of \(oldest)..<\(written)")
        return slots[Self.slot(number)]
    }

    mutating func add(_ entry: Entry) {
        if count == Self.mostLines { dropOldest() }
        if slots.count < Self.mostLines {
            slots.append(entry)
        } else {
            slots[Self.slot(written)] = entry
        }
        written += 1
        bytes += entry.line.bytes.count
        while bytes > Self.mostBytes { dropOldest() }
    }

    private mutating func dropOldest() {
        let slot = Self.slot(oldest)
        bytes -= slots[slot].line.bytes.count
        slots[slot].line.bytes = []
        oldest += 1
    }

    private static func slot(_ number: UInt64) -> Int { Int(number % UInt64(mostLines)) }
}

/// The last lines of all modules.
struct OutputLogs {
    /// When the count of lines began, in microseconds since 1970.
    let since = Loop.wallMicroseconds
    private(set) var byModule: [String: OutputLog] = [:]
    private var lines: UInt64 = 0

    mutating func add(_ line: OutputLine, of module: String) {
        byModule[module, default: OutputLog()].add(OutputLog.Entry(place: lines, line: line))
        lines += 1
    }

    /// Forgets a module whose row was removed.
    mutating func forget(_ module: String) { byModule[module] = nil }
}

/// One of a process's outputs, split into lines as it arrives.
final class ProcessOutput {
    private var splitter = LineSplitter()
    private var reader: OutputReader?
    private let emit: ([UInt8]) -> Void

    /// Takes over the reading end of a pipe.
    init(_ loop: Loop, descriptor: Int32, emit: @escaping ([UInt8]) -> Void) throws(SystemError) {
        self.emit = emit
        // The reader holds this object until the pipe's end, and a descendant of the process may
        // keep the pipe open.
        reader = try OutputReader(
            loop, descriptor: descriptor,
            onBytes: { self.splitter.take($0, emit) },
            onEnd: { self.splitter.finish(emit) })
    }

    /// Reads the remaining bytes, because the process has ended.
    func processEnded() {
        reader?.drain()
        splitter.finish(emit)
    }

    func close() { reader?.close() }
    var isClosed: Bool { reader?.isClosed ?? true }
}
