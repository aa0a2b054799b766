public import StrataOperator

/// A line that a process of a module wrote.
struct OutputLine {
    /// The output it was written to: standard output or standard error.
    enum Stream: String { case out, err }

    /// When the launcher read the end of the line, in microseconds since 1970.
    var at: UInt64
    var stream: Stream
    /// The process that the launcher started; a descendant of it may have written the line.
    var pid: Int32
    /// 1 for the module's first process, 2 for the next.
    var start: Int
    /// What the line's mark said; nil without one.
    var severity: Severity?
    /// The bytes without the line's mark and end; not always UTF-8.
    var bytes: [UInt8]
}

/// Splits the bytes that a process writes into lines, in whatever chunks they arrive. A line beyond
/// the limit is emitted in several parts.
struct LineSplitter {
    /// The most bytes of a line, without its end.
    static let longest = 8 << 10

    private var rest: [UInt8] = []

    /// Takes the next bytes.
    /// - Parameter emit: Receives each whole line, without its end.
    mutating func take(_ bytes: UnsafeRawBufferPointer, _ emit: ([UInt8]) -> Void) {
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
            let piece = bytes[start..<(end ?? bytes.endIndex)]
            append(piece, emit)
            guard let end else { return }
            if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
            emit(rest)
            rest.removeAll(keepingCapacity: true)
            start = end + 1
        }
    }

    /// Emits the last line, even if its end is missing.
    mutating func finish(_ emit: ([UInt8]) -> Void) {
        guard !rest.isEmpty else { return }
        emit(rest)
        rest = []
    }

    private mutating func append(_ piece: Slice<UnsafeRawBufferPointer>, _ emit: ([UInt8]) -> Void) {
        rest += piece
        while rest.count > Self.longest {
            let cut = Self.cut(rest)
            emit(Array(rest[..<cut]))
            rest.removeFirst(cut)
        }
    }

    /// Returns the position where a long line may be cut, outside of a character.
    private static func cut(_ bytes: [UInt8]) -> Int {
        for back in 0..<4 where bytes[longest - back] & 0xC0 != 0x80 { return longest - back }
        return longest
    }
}

/// A destination of lines for people.
public protocol LineSink: AnyObject {
    /// Writes a line, given without its end. Never waits.
    func write(line: [UInt8])

    /// Writes a line about a module or about the app.
    /// - Parameters:
    ///   - name: The module that the line is about; nil for the app.
    ///   - isOutput: Whether the module wrote the line.
    ///   - severity: How serious it is.
    ///   - text: The line without its end.
    ///   - line: The text with the name before it, as a terminal shows it.
    func write(
        of name: String?, isOutput: Bool, _ severity: Severity, _ text: [UInt8], line: @autoclosure () -> [UInt8])

    /// Waits until everything is written, for up to the given number of milliseconds.
    func finish(within milliseconds: Int)
}

extension LineSink {
    public func write(
        of name: String?, isOutput: Bool, _ severity: Severity, _ text: [UInt8], line: @autoclosure () -> [UInt8]
    ) {
        write(line: line())
    }

    public func finish(within milliseconds: Int) {}
}
