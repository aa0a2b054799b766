import StrataCore
import StrataTesting

/// What a socket and its buffers are elsewhere: the bytes between a test's peer and a `MemoryBus`.
final class MemoryLink: PeerLink {
    /// So many bytes are taken of the bus's before the test has read some, as a socket's
    /// buffer takes them.
    private static let capacity = 208 << 10

    private weak var bus: MemoryBus?
    private var input = FrameInput()
    /// For the bus, which has not read them.
    private var sent: [UInt8] = []
    /// For the test, which has not read them.
    private var arrived: [UInt8] = []
    private var hasEndedWriting = false
    private var isClosedByBus = false
    private(set) var isClosed = false
    private(set) var isAtEnd = false

    init(_ bus: MemoryBus) { self.bus = bus }

    // MARK: The test's end

    var unfinished: Int { input.unfinished }

    /// Whether a `read` brings anything.
    var isReadable: Bool { !isAtEnd && (!arrived.isEmpty || isClosedByBus) }

    func send(_ bytes: [UInt8], until deadline: Deadline) -> Int {
        guard !isClosed, !hasEndedWriting, !isClosedByBus else { return 0 }
        sent += bytes
        bus?.work()
        return bytes.count
    }

    func read() {
        if arrived.isEmpty, isClosedByBus { isAtEnd = true }
        arrived.withUnsafeBytes { input.append($0) }
        arrived.removeAll(keepingCapacity: true)
    }

    func nextFrame() throws -> ReceivedFrame? { try input.nextFrame() }

    func endWriting() {
        hasEndedWriting = true
        bus?.work()
    }

    func close() {
        isClosed = true
        isAtEnd = true
        arrived = []
        bus?.work()
    }

    // MARK: The bus's end

    /// Whether the bus has something to read: bytes, or the end.
    var hasInput: Bool { !sent.isEmpty || hasHungUp }

    /// The test's end says nothing more.
    var hasHungUp: Bool { isClosed || hasEndedWriting }

    /// Whether it takes bytes; or has closed, which is to be seen.
    var isWritable: Bool { isClosed || arrived.count < Self.capacity }

    /// Moves as many bytes as there is space for.
    /// - Returns: how many.
    func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(space.count, sent.count)
        space.copyBytes(from: sent[..<count])
        sent.removeFirst(count)
        return count
    }

    /// - Returns: how many bytes it took.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, Self.capacity - arrived.count)
        arrived.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        return count
    }

    func closeByBus() {
        isClosedByBus = true
        sent = []
    }
}
