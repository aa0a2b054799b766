import StrataBus
import StrataTesting

/// A test's end of a connection to a `MemoryBus`.
final class MemoryLink: PeerLink {
    private weak var bus: MemoryBus?
    private let pipe: MemoryPipe
    private var input = FrameInput()
    private(set) var isAtEnd = false

    init(_ bus: MemoryBus, _ pipe: MemoryPipe) {
        self.bus = bus
        self.pipe = pipe
    }

    var isClosed: Bool { pipe.isClosed }
    var unfinished: Int { input.unfinished }

    /// Whether a `read` brings anything.
    var isReadable: Bool { !isAtEnd && (!pipe.arrived.isEmpty || pipe.isClosedByBroker) }

    func send(_ bytes: [UInt8], until deadline: Deadline) -> Int {
        guard !pipe.isClosed, !pipe.hasEndedWriting, !pipe.isClosedByBroker else { return 0 }
        pipe.send(bytes)
        bus?.work()
        return bytes.count
    }

    func read() {
        if pipe.arrived.isEmpty, pipe.isClosedByBroker { isAtEnd = true }
        pipe.take { input.append($0) }
    }

    func nextFrame() throws -> ReceivedFrame? { try input.nextFrame() }

    func endWriting() {
        pipe.endWriting()
        bus?.work()
    }

    func close() {
        pipe.close()
        isAtEnd = true
        bus?.work()
    }
}
