import StrataCore

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
