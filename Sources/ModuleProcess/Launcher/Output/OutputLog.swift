import StrataCore
import StrataLoop

/// The last lines that a module wrote, over all of its processes. It keeps so many
/// lines and so many bytes at most; the oldest give way.
struct OutputLog {
    static let mostLines = 1_000
    /// Of the lines' own.
    static let mostBytes = 256 << 10

    /// A line, and its place among the lines of all modules.
    struct Entry {
        var place: UInt64
        var line: OutputLine
    }

    /// How many were written, those included that gave way: the number of the next one.
    private(set) var written: UInt64 = 0
    /// Bytes of those that are kept.
    private(set) var bytes = 0
    /// The number of the oldest line that is kept.
    private(set) var oldest: UInt64 = 0
    /// By number, modulo `mostLines`.
    private var slots: [Entry] = []

    /// How many are kept.
    var count: Int { Int(written - oldest) }

    /// - Parameter number: from `oldest` until `written`.
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

/// What all modules wrote last.
struct OutputLogs {
    /// When lines began to be counted, in microseconds since 1970.
    let since = Loop.wallMicroseconds
    private(set) var byModule: [String: OutputLog] = [:]
    private var lines: UInt64 = 0

    mutating func add(_ line: OutputLine, of module: String) {
        byModule[module, default: OutputLog()].add(OutputLog.Entry(place: lines, line: line))
        lines += 1
    }

    /// Its row is gone.
    mutating func forget(_ module: String) { byModule[module] = nil }
}

/// What one process writes to one of its outputs, made into lines as it comes.
final class ProcessOutput {
    private var splitter = LineSplitter()
    private var reader: OutputReader?
    private let emit: ([UInt8]) -> Void

    /// Takes over the reading end of a pipe.
    init(_ loop: Loop, descriptor: Int32, emit: @escaping ([UInt8]) -> Void) throws(SystemError) {
        self.emit = emit
        // The reader holds the object until the pipe's end, and a descendant of
        // the process may hold that open.
        reader = try OutputReader(
            loop, descriptor: descriptor,
            onBytes: { self.splitter.take($0, emit) },
            onEnd: { self.splitter.finish(emit) })
    }

    /// The process has ended: what it wrote is read to the last byte.
    func processEnded() {
        reader?.drain()
        splitter.finish(emit)
    }

    func close() { reader?.close() }
    var isClosed: Bool { reader?.isClosed ?? true }
}
