/// Keeps an app's last lines instead of writing them, until it is known whether they matter.
final class KeptLines: LineSink {
    static let most = 200

    private var lines: [[UInt8]] = []
    /// The place of the oldest line once there are `most`.
    private var oldest = 0

    func write(line: [UInt8]) {
        guard lines.count == Self.most else { return lines.append(line) }
        lines[oldest] = line
        oldest = (oldest + 1) % Self.most
    }

    /// Writes the lines in their order, and forgets them.
    func write(to sink: any LineSink) {
        for line in lines[oldest...] + lines[..<oldest] { sink.write(line: line) }
        (lines, oldest) = ([], 0)
    }
}
