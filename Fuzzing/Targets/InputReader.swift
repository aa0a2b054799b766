/// Takes an input apart from its start: numbers for choices, and bytes.
struct InputReader {
    private var left: UnsafeRawBufferPointer.SubSequence

    init(_ input: UnsafeRawBufferPointer) { left = input[...] }

    var isAtEnd: Bool { left.isEmpty }

    /// The next byte; 0 at the end.
    mutating func byte() -> UInt8 { left.popFirst() ?? 0 }

    /// One of so many choices.
    mutating func choice(_ count: Int) -> Int { Int(byte()) % count }

    /// Two bytes.
    mutating func short() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// So many bytes, or as many as there are.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { left = left.dropFirst(count) }
        return Array(left.prefix(count))
    }

    /// All bytes up to the next line feed, which is passed, or to the end.
    mutating func line() -> [UInt8] {
        let line = Array(left.prefix { $0 != UInt8(ascii: "\n") })
        left = left.dropFirst(line.count + 1)
        return line
    }

    /// All that is left.
    mutating func rest() -> [UInt8] { bytes(left.count) }
}
