/// Reads an input from its start: numbers for choices, and bytes.
struct InputReader {
    private var left: UnsafeRawBufferPointer.SubSequence

    init(_ input: UnsafeRawBufferPointer) { left = input[...] }

    var isAtEnd: Bool { left.isEmpty }

    /// Returns the next byte; 0 at the end.
    mutating func byte() -> UInt8 { left.popFirst() ?? 0 }

    /// Returns a number from 0 up to, but not including, `count`.
    mutating func choice(_ count: Int) -> Int { Int(byte()) % count }

    /// Returns the next two bytes as a number.
    mutating func short() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// Returns this many bytes, or all that are left if there are fewer.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { left = left.dropFirst(count) }
        return Array(left.prefix(count))
    }

    /// Returns the bytes up to the next line feed, which is skipped, or up to the end.
    mutating func line() -> [UInt8] {
        let line = Array(left.prefix { $0 != UInt8(ascii: "\n") })
        left = left.dropFirst(line.count + 1)
        return line
    }

    /// Returns all bytes that are left.
    mutating func rest() -> [UInt8] { bytes(left.count) }
}
