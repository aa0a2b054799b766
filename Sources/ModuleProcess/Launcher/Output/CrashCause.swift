/// Tells among the lines that a program writes those that say what it died of.
struct CrashCause {
    /// What Swift's runtime, Go's, Rust's, C++'s and sanitizers write before the end.
    private static let marks = [
        "Fatal error", "Precondition failed", "Assertion failed", "panic: ", "panicked at ", "terminate called after",
        "ERROR: AddressSanitizer", "ERROR: ThreadSanitizer",
    ].map { Array($0.utf8) }
    /// What Swift's backtrace says of any crash: the cause where no message came before.
    private static let crashed = [Array("Program crashed: ".utf8)]
    private static let traceback = Array("Traceback (most recent call last):".utf8)

    private var isInTraceback = false
    private var wasFound = false

    /// Looks at the next line that the program wrote.
    mutating func isIn(_ line: ArraySlice<UInt8>) -> Bool {
        let isFound =
            endsTraceback(line) || Self.has(Self.marks, line) || (!wasFound && Self.has(Self.crashed, line))
        wasFound = wasFound || isFound
        return isFound
    }

    /// Python's last line of a traceback is the first one that isn't indented: the exception.
    private mutating func endsTraceback(_ line: ArraySlice<UInt8>) -> Bool {
        if line.starts(with: Self.traceback) {
            isInTraceback = true
            return false
        }
        guard isInTraceback, let first = line.first, first > UInt8(ascii: " ") else { return false }
        isInTraceback = false
        return true
    }

    private static func has(_ marks: [[UInt8]], _ line: ArraySlice<UInt8>) -> Bool {
        line.indices.contains { index in
            marks.contains { $0[0] == line[index] && line[index...].starts(with: $0) }
        }
    }
}
