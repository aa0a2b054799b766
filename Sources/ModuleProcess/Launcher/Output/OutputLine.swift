/// A line that a process of a module wrote.
struct OutputLine {
    /// Which of its outputs: standard output, or standard error.
    enum Stream: String { case out, err }

    /// When the launcher read its end, in microseconds since 1970.
    var at: UInt64
    var stream: Stream
    /// Of the process that the launcher started; a descendant of that may have written it.
    var pid: Int32
    /// 1 for the module's first process, 2 for the next.
    var start: Int
    /// Without the line's end; not always UTF-8.
    var bytes: [UInt8]
}

/// Makes lines of the bytes that a process writes, in whatever pieces they come.
/// A line that is longer than the bound comes in several.
struct LineSplitter {
    /// In bytes, without the end of the line.
    static let longest = 8 << 10

    private var rest: [UInt8] = []

    /// - Parameter emit: gets each whole line, without its end.
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

    /// Nothing follows: what was begun is a line.
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

    /// Where a long line may be cut: not inside a character.
    private static func cut(_ bytes: [UInt8]) -> Int {
        for back in 0..<4 where bytes[longest - back] & 0xC0 != 0x80 { return longest - back }
        return longest
    }
}

/// Where lines for a person go.
public protocol LineSink: AnyObject {
    /// Takes a line, without its end. Never waits.
    func write(line: [UInt8])

    /// Takes a line of somebody's.
    /// - Parameters:
    ///   - name: the module that it is about; nil: the app.
    ///   - isOutput: the module wrote it.
    ///   - text: the line without its end.
    ///   - line: the text with the name before it, as a terminal shows it.
    func write(of name: String?, isOutput: Bool, _ text: [UInt8], line: @autoclosure () -> [UInt8])

    /// Waits until all is written, and no longer than that.
    func finish(within milliseconds: Int)
}

extension LineSink {
    public func write(of name: String?, isOutput: Bool, _ text: [UInt8], line: @autoclosure () -> [UInt8]) {
        write(line: line())
    }

    public func finish(within milliseconds: Int) {}
}
