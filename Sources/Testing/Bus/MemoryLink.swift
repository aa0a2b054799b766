internal import StrataBus

/// A played peer's end of a connection to a `MemoryBus`.
final class MemoryLink: PeerLink {
    private weak var bus: MemoryBus?
    private let pipe: MemoryPipe
    private var input = FrameInput()
    private var story: StoryTeller?
    private(set) var isAtEnd = false

    init(_ bus: MemoryBus, _ pipe: MemoryPipe, telling story: StoryTeller? = nil) {
        self.bus = bus
        self.pipe = pipe
        self.story = story
    }

    var isClosed: Bool { pipe.isClosed }
    var unfinished: Int { input.unfinished }

    /// Whether a `read` brings anything.
    var isReadable: Bool { !isAtEnd && (!pipe.arrived.isEmpty || pipe.isClosedByBroker) }

    func send(_ bytes: [UInt8], until deadline: Deadline) -> Int {
        guard !pipe.isClosed, !pipe.hasEndedWriting, !pipe.isClosedByBroker else { return 0 }
        bytes.withUnsafeBytes { story?.sent($0) }
        pipe.send(bytes)
        bus?.peerActed()
        return bytes.count
    }

    func read() {
        if pipe.arrived.isEmpty, pipe.isClosedByBroker { isAtEnd = true }
        pipe.take {
            story?.received($0)
            input.append($0)
        }
    }

    func nextFrame() throws -> ReceivedFrame? { try input.nextFrame() }

    func endWriting() {
        pipe.endWriting()
        bus?.peerActed()
    }

    func close() {
        pipe.close()
        isAtEnd = true
        bus?.peerActed()
    }
}
