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
