/// What was said on the connections of a simulation, and when: what a failure shows of it.
final class SimulationStory {
    /// Messages that are kept: the last ones.
    private static let most = 200

    private struct Line {
        let milliseconds: UInt64
        let text: String
    }

    private var lines: [Line] = []
    private var count = 0
    /// Of virtual time.
    var milliseconds: UInt64 = 0

    func tell(_ text: String) {
        count += 1
        if lines.count == Self.most { lines.removeFirst(Self.most / 2) }
        lines.append(Line(milliseconds: milliseconds, text: text))
    }

    /// The last so many messages, as docs/protocol.md shows them.
    func text(last: Int) -> String {
        let shown = lines.suffix(last)
        let begin = count > shown.count ? "the last \(shown.count) of \(count) messages" : "what was said"
        return shown.reduce("\(begin), with the milliseconds of its time:") { "\($0)\n  \($1.milliseconds) \($1.text)" }
    }
}

/// Tells of what passes over one connection.
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
        // What can't be read is for whoever reads it to say.
        while let frame = try? input.nextFrame() { story.tell("\(label) \(arrow) \(frame)") }
    }
}
