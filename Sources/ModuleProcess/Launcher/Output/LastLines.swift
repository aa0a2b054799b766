import StrataCore

/// The last lines that a process wrote, for whoever asks why it ended. A line that says
/// what it died of stays, however long a backtrace follows.
struct LastLines {
    static let most = 20
    /// So many that say what it died of stay.
    private static let mostCauses = 4
    /// Of one line, in bytes.
    static let longest = 512
    /// What of them fits into a message: so many lines, of so many characters.
    private static let mostInBrief = 4
    private static let longestInBrief = 200

    private var entries: [(text: String, isCause: Bool)] = []
    private var cause = CrashCause()

    var lines: [String] { entries.map(\.text) }

    /// Those that say what it died of, else the very last ones; each cut to what a
    /// message may hold.
    var brief: [String] {
        (saysCause ? entries.filter(\.isCause) : entries).suffix(Self.mostInBrief).map {
            String($0.text.prefix(Self.longestInBrief))
        }
    }

    /// Whether some line says what it died of.
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

    /// They are shown on other terminals: nothing in them may steer those. What
    /// only colours is left out, anything else that steers becomes a space.
    private static func clean(_ line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line, as: UTF8.self).withoutColours
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.steersTerminal ? " " : $0 }))
    }
}

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
