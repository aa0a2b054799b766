import StrataCore

/// The last lines that a process wrote, to explain its end. A line that names the cause of a crash
/// is kept, however long a backtrace follows.
struct LastLines {
    static let most = 20
    /// The most lines with a cause that are kept.
    private static let mostCauses = 4
    /// The most bytes of a line.
    static let longest = 512
    /// The most lines, and the most characters of a line, that fit into a message.
    private static let mostInBrief = 4
    private static let longestInBrief = 200

    private var entries: [(text: String, isCause: Bool)] = []
    private var cause = CrashCause()

    var lines: [String] { entries.map(\.text) }

    /// The lines that name the cause of a crash, or else the last lines, cut to fit into a message.
    var brief: [String] {
        (saysCause ? entries.filter(\.isCause) : entries).suffix(Self.mostInBrief).map {
            String($0.text.prefix(Self.longestInBrief))
        }
    }

    /// Whether a line names the cause of a crash.
    var saysCause: Bool { entries.contains(where: \.isCause) }

    mutating func add(_ line: [UInt8]) {
        guard line.contains(where: { $0 > 0x20 }) else { return }
        let start = line.prefix(Self.longest)
        if entries.count == Self.most { dropOldest() }
        entries.append((Self.clean(start), cause.isIn(start)))
    }

    mutating func clear() { self = LastLines() }

    private mutating func dropOldest() {
        let hasTooManyCauses = entries.count(where: \.isCause) > Self.mostCauses
        if let index = entries.firstIndex(where: { $0.isCause == hasTooManyCauses }) { entries.remove(at: index) }
    }

    /// Makes a line safe for other terminals. Colours are removed, and other control sequences
    /// become spaces.
    private static func clean(_ line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line, as: UTF8.self).withoutColours
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.steersTerminal ? " " : $0 }))
    }
}

/// Recognizes the lines of a program's output that name the cause of a crash.
struct CrashCause {
    /// The words of Swift's, Go's, Rust's and C++'s runtimes and of sanitizers before the end.
    private static let marks = [
        "Fatal error", "Precondition failed", "Assertion failed", "panic: ", "panicked at ", "terminate called after",
        "ERROR: AddressSanitizer", "ERROR: ThreadSanitizer",
    ].map { Array($0.utf8) }
    /// The words of Swift's backtrace for any crash: the cause if no message came before.
    private static let crashed = [Array("Program crashed: ".utf8)]
    private static let traceback = Array("Traceback (most recent call last):".utf8)

    private var isInTraceback = false
    private var wasFound = false

    /// Returns whether the program's next line names a cause.
    mutating func isIn(_ line: ArraySlice<UInt8>) -> Bool {
        let isFound =
            endsTraceback(line) || Self.has(Self.marks, line) || (!wasFound && Self.has(Self.crashed, line))
        wasFound = wasFound || isFound
        return isFound
    }

    /// Python's traceback ends with the first line that isn't indented: the exception.
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
