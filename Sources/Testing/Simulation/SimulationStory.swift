/// The messages of a simulation and their times, which a failure shows.
final class SimulationStory {
    /// The most lines that are kept. When they are full, the older half is dropped.
    private static let most = 200

    private struct Line {
        let milliseconds: UInt64
        let text: String
    }

    private var lines: [Line] = []
    private var count = 0
    /// The current virtual time, in milliseconds.
    var milliseconds: UInt64 = 0

    func tell(_ text: String) {
        count += 1
        if lines.count == Self.most { lines.removeFirst(Self.most / 2) }
        lines.append(Line(milliseconds: milliseconds, text: text))
    }

    /// Returns the last messages, as docs/protocol.md shows them.
    func text(last: Int) -> String {
        let shown = lines.suffix(last)
        let begin = count > shown.count ? "the last \(shown.count) of \(count) messages" : "the messages"
        return shown.reduce("\(begin), each with its time in ms:") { "\($0)\n  \($1.milliseconds) \($1.text)" }
    }
}

/// Writes the messages of one connection into the story.
struct StoryTeller {
    private let story: SimulationStory
    private let label: String
    private var sent = FrameInput()
    private var received = FrameInput()

    init(_ story: SimulationStory, _ label: String) {
        self.story = story
        self.label = label
    }

    mutating func sent(_ bytes: UnsafeRawBufferPointer) { tell(bytes, &sent, ">") }

    mutating func received(_ bytes: UnsafeRawBufferPointer) { tell(bytes, &received, "<") }

    private func tell(_ bytes: UnsafeRawBufferPointer, _ input: inout FrameInput, _ arrow: String) {
        input.append(bytes)
        // The receiver reports bytes that it can't read.
        while let frame = try? input.nextFrame() { story.tell("\(label) \(arrow) \(frame)") }
    }
}
