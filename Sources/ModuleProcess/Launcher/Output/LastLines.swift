/// The last lines that a process wrote, for the message about its end.
struct LastLines {
    static let most = 4
    /// Of one line, in bytes.
    static let longest = 200

    private(set) var lines: [String] = []

    mutating func add(_ line: [UInt8]) {
        guard line.contains(where: { $0 > 0x20 }) else { return }
        if lines.count == Self.most { lines.removeFirst() }
        // The reason goes to other terminals: nothing in it may steer them.
        let clean = line.prefix(Self.longest).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
        lines.append(String(decoding: clean, as: UTF8.self))
    }

    mutating func clear() { lines = [] }
}
