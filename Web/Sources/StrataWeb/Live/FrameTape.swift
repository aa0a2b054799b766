import StrataOperator

/// The last frames that the bus's monitor has shown.
struct FrameTape {
    /// The most frames that are kept, and their bytes.
    static let most = 512
    static let mostBytes = 2 << 20

    /// The frames' JSON texts.
    private var frames: [[UInt8]] = []
    private var bytes = 0
    /// The number of the next frame; the first one is 1.
    private(set) var next: UInt64 = 1
    /// How many frames were left out so far, by the bus or here.
    private(set) var left: UInt64 = 0

    mutating func add(_ frame: [JSON.Member]) {
        let members: [JSON.Member] = [JSON.Member("seq", .integer(Int64(clamping: next)))] + frame
        let text = JSON.object(members).encoded()
        frames.append(text)
        bytes += text.count
        next += 1
        guard frames.count > Self.most || bytes > Self.mostBytes else { return }
        // Half of them at once, because removing the first one moves all others.
        bytes -= frames.prefix(frames.count / 2).reduce(0) { $0 + $1.count }
        frames.removeFirst(frames.count / 2)
    }

    mutating func leaveOut(_ count: UInt64) { left += count }

    /// Returns the newest frames after a number that fit, and how many of the older ones don't.
    func frames(from number: UInt64, room: Int) -> (texts: [[UInt8]], skipped: UInt64) {
        guard number < next else { return ([], 0) }
        let first = next - UInt64(frames.count)
        var texts: [[UInt8]] = []
        var left = room
        for text in frames.suffix(Int(next - max(number, first))).reversed() {
            left -= text.count + 1
            guard left >= 0 || texts.isEmpty else { break }
            texts.append(text)
        }
        return (texts.reversed(), next - number - UInt64(texts.count))
    }
}
