internal import CUV
public import StrataCore

/// A client's connection to a broker: frames in, frames out, on one thread.
/// What frames mean is its owner's affair.
public final class FrameChannel {
    /// Why a channel ended.
    public enum Ending: Error, Sendable, CustomStringConvertible {
        /// The other side closed it.
        case closed
        case failed(SystemError)
        /// The broker sent what is no frame.
        case badFrame(String)

        public var description: String {
            switch self {
            case .closed: "the connection was closed"
            case .failed(let error): "\(error)"
            case .badFrame(let message): "the broker sent bytes that can't be read: \(message)"
            }
        }
    }

    /// Gets each frame: its header, and its body, both valid during the call.
    public var onFrame: (borrowing Header, UnsafeRawBufferPointer) -> Void = { _, _ in }
    /// Called once, after the last frame; not after `close`.
    public var onEnd: (Ending) -> Void = { _ in }
    /// Called when all that was queued has been written.
    public var onDrained: () -> Void = {}

    private let transport: any Transport
    // Unchecked exclusivity: used for each frame, on one thread, and no call
    // holds them while the owner runs.
    @exclusivity(unchecked) private var assembler: FrameAssembler
    @exclusivity(unchecked) private var outbox = Outbox(pool: OutboxPool())
    private let buffer = ReadBuffer()
    private let scanner = HeaderScanner()
    private var hook: RoundHook?
    @exclusivity(unchecked) private var isWaitingToWrite = false
    @exclusivity(unchecked) public private(set) var isClosed = false

    /// Its owner calls `flush` when something was sent.
    /// - Parameter limits: those of the broker; a client takes 1 KiB more.
    public init(_ transport: any Transport, limits: FrameLimits) {
        self.transport = transport
        assembler = FrameAssembler(limits: limits.ofBroker)
        transport.setEventHandler { [unowned self] events in self.handle(events) }
        transport.watch(.readable)
    }

    /// What is sent on a loop's socket is written at the end of its round.
    public convenience init(_ loop: Loop, socket: Socket, limits: FrameLimits) {
        self.init(socket, limits: limits)
        hook = RoundHook(loop) { [unowned self] in self.flush() }
    }

    /// Connects to a broker's socket.
    public convenience init(_ loop: Loop, path: String, limits: FrameLimits) throws(SystemError) {
        self.init(loop, socket: try Socket.connect(loop, path: path), limits: limits)
    }

    deinit { close() }

    /// What the broker takes, once hello has told.
    public func setLimits(_ limits: FrameLimits) { assembler.limits = limits.ofBroker }

    /// Bytes that were sent and that the kernel has not taken yet. The channel
    /// itself sets no bound; its owner does.
    public var unsent: Int { outbox.pending }

    /// The position behind the frame that was queued last: that one is
    /// delivered once `written` has reached it.
    public var queued: UInt64 { outbox.end }
    /// The position up to which the kernel has taken everything; holds after
    /// the channel's end too.
    public var written: UInt64 { outbox.written }

    /// Queues a frame.
    /// - Parameters:
    ///   - room: `HeaderWriter.room` of each text that `write` writes, added up.
    ///   - write: writes the members behind `kind`; `id` first.
    public func send(
        _ kind: Header.Kind, room: Int, body: UnsafeRawBufferPointer = .none,
        _ write: (inout HeaderWriter) -> Void
    ) {
        guard !isClosed else { return }
        let memory = outbox.reserve(HeaderWriter.overhead + room + body.count)
        var writer = HeaderWriter(memory, kind)
        write(&writer)
        outbox.commit(inlineCount: writer.end(body: body), isAnswer: false)
    }

    /// Writes what is queued, as far as the kernel takes it.
    public func flush() {
        guard !isClosed, !isWaitingToWrite, !outbox.isEmpty else { return }
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 16) { parts in
            while true {
                let count = outbox.gather(parts)
                if count == 0 { break }
                switch transport.write(UnsafeBufferPointer(rebasing: parts[..<count])) {
                case .moved(let written): outbox.wrote(written)
                case .wouldBlock:
                    isWaitingToWrite = true
                    transport.watch([.readable, .writable])
                    return
                case .ended, .failed:
                    // Reading tells the end, after what the broker said last.
                    isWaitingToWrite = true
                    return
                }
            }
            onDrained()
        }
    }

    /// Ends the connection at once; `onEnd` is not called.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        transport.close()
        hook?.close()
        hook = nil
        onFrame = { _, _ in }
        onEnd = { _ in }
        onDrained = {}
    }

    private func handle(_ events: Socket.Event) {
        if events.contains(.writable) {
            isWaitingToWrite = false
            transport.watch(.readable)
            flush()
        }
        if events.contains(.readable) && !isClosed { read() }
    }

    private func read() {
        // Frames may let the owner drop its last reference.
        withExtendedLifetime(self) {
            let space = assembler.space(in: buffer)
            switch transport.read(into: space) {
            case .moved(let count):
                assembler.received(count)
                deliver()
                if !isClosed { assembler.keepRest() }
            case .wouldBlock: assembler.keepRest()
            case .ended: finish(.closed)
            case .failed(let code): finish(.failed(SystemError(code, "read from the bus")))
            }
        }
    }

    private func deliver() {
        var header = Header()
        do {
            while !isClosed, let frame = try assembler.next() {
                try scanner.scanFromBroker(frame.header, into: &header)
                onFrame(header, frame.body)
            }
        } catch let error as FrameError {
            finish(.badFrame(error.message))
        } catch let error as HeaderError {
            finish(.badFrame(error.message))
        } catch {
            preconditionFailure("frames fail with FrameError or HeaderError, not with \(error)")
        }
    }

    private func finish(_ ending: Ending) {
        let ended = onEnd
        close()
        ended(ending)
    }
}

/// The way of a connection's bytes: a socket, or one that is made up.
public protocol Transport: AnyObject {
    /// Sets what is called when it is ready for what it is watched for.
    func setEventHandler(_ handler: @escaping (Socket.Event) -> Void)
    /// Says what to watch for from now on.
    func watch(_ events: Socket.Event)
    /// Reads what is there, at most what fits.
    func read(into space: UnsafeMutableRawBufferPointer) -> Socket.Transfer
    /// Writes several pieces as one, as much as is taken now.
    func write(_ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Socket.Transfer
    /// Ends it. Twice is once.
    func close()
}
