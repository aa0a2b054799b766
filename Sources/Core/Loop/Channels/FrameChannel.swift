internal import CUV
internal import Glibc
public import StrataCore

/// A client's connection to a broker, which sends and receives frames on one thread. The owner
/// gives the frames their meaning.
public final class FrameChannel {
    /// Why a channel ended.
    public enum Ending: Error, Sendable, CustomStringConvertible {
        /// The other side closed it.
        case closed
        case failed(SystemError)
        /// The broker sent something that isn't a frame.
        case badFrame(String)

        public var description: String {
            switch self {
            case .closed: "the connection was closed"
            case .failed(let error): "\(error)"
            case .badFrame(let message): "the broker sent bytes that can't be read: \(message)"
            }
        }
    }

    /// Called with each frame's header and body, which are valid only during the call.
    public var onFrame: (borrowing Header, UnsafeRawBufferPointer) -> Void = { _, _ in }
    /// Called instead with a frame whose descriptors, or whose body in a memory file, this process can't
    /// take.
    public var onRefused: (borrowing Header, BusError) -> Void = { _, _ in }
    /// Whether frames may bring descriptors, or bodies in memory files. Set it before hello.
    public var takesDescriptors = false
    /// The longest body in a memory file that the broker takes, in bytes; 0 if it takes none.
    public var longestInFile = 0
    /// The longest body that a frame has, whatever its header, in bytes.
    private var longestInFrame = 0
    /// Called once, after the last frame; not called after `close`.
    public var onEnd: (Ending) -> Void = { _ in }
    /// Called when everything queued has been written.
    public var onDrained: () -> Void = {}

    private let transport: any Transport
    // Exclusivity is unchecked because these are used for each frame. They are used on one thread,
    // and no access to them is open while the owner's code runs.
    @exclusivity(unchecked) private var assembler: FrameAssembler
    @exclusivity(unchecked) private var outbox = Outbox(pool: OutboxPool())
    private let buffer = ReadBuffer()
    private let scanner = HeaderScanner()
    private var hook: RoundHook?
    /// The descriptors that have come, for each frame that names some.
    private var received: [FrameDescriptors] = []
    /// Those of the frame that is being delivered.
    private var descriptors: FrameDescriptors?
    @exclusivity(unchecked) private var isWaitingToWrite = false
    @exclusivity(unchecked) public private(set) var isClosed = false

    /// Makes a channel over a transport; the owner calls `flush` after sending.
    /// - Parameter limits: the broker's limits; a client accepts 1 KiB more.
    public init(_ transport: any Transport, limits: FrameLimits) {
        self.transport = transport
        assembler = FrameAssembler(limits: limits.ofBroker)
        transport.setEventHandler { [unowned self] events in self.handle(events) }
        transport.watch(.readable)
    }

    /// Makes a channel over a loop's socket, which flushes at the end of each round.
    public convenience init(_ loop: Loop, socket: Socket, limits: FrameLimits) {
        self.init(socket, limits: limits)
        hook = RoundHook(loop) { [unowned self] in self.flush() }
    }

    /// Connects to a broker's socket.
    public convenience init(_ loop: Loop, path: String, limits: FrameLimits) throws(SystemError) {
        self.init(loop, socket: try Socket.connect(loop, path: path), limits: limits)
    }

    deinit { close() }

    /// Sets the broker's limits, once the answer to hello has named them.
    public func setLimits(_ limits: FrameLimits) {
        assembler.limits = limits.ofBroker
        longestInFrame = Int(limits.frame) - Int(limits.header) - 4
    }

    /// The number of queued bytes that the kernel has not taken yet. The channel sets no limit; its
    /// owner does.
    public var unsent: Int { outbox.pending }

    /// The position after the frame that was queued last. That frame is delivered once `written`
    /// reaches this position.
    public var queued: UInt64 { outbox.end }
    /// The position up to which the kernel has taken everything; still valid after the channel's
    /// end.
    public var written: UInt64 { outbox.written }

    /// Queues a frame.
    /// - Parameters:
    ///   - room: the sum of `HeaderWriter.room` for each text that `write` writes.
    ///   - descriptors: go with the frame, and are closed once it is written, or the channel ends. If they
    ///     are the file of a body, `body` is empty.
    ///   - write: writes the members after `kind`, starting with `id`.
    public func send(
        _ kind: Header.Kind, room: Int, body: UnsafeRawBufferPointer = .none, descriptors: FrameDescriptors? = nil,
        _ write: (inout HeaderWriter) -> Void
    ) {
        guard !isClosed else { return }
        if let descriptors {
            var writer = HeaderWriter(outbox.reserve(HeaderWriter.overhead + room), kind)
            write(&writer)
            if descriptors.bodyCount > 0 {
                writer.integer("memory", UInt64(descriptors.bodyCount))
            } else {
                writer.integer("descriptors", UInt64(descriptors.numbers.count))
            }
            let payload = Payload(copying: body)
            payload.descriptors = descriptors
            outbox.commit(
                inlineCount: writer.endHeader(bodyCount: body.count), payload: payload, isAnswer: false)
            return
        }
        let memory = outbox.reserve(HeaderWriter.overhead + room + body.count)
        var writer = HeaderWriter(memory, kind)
        write(&writer)
        outbox.commit(inlineCount: writer.end(body: body), isAnswer: false)
    }

    /// From this size on, in bytes, a body goes in a memory file. Below it, copying costs less.
    public static let largeBody = 256 << 10

    /// The most files that wait to be sent; all of them together have no more bytes than one may have.
    private static let mostFiles = 64
    /// Those that wait.
    private let files = DescriptorCount()

    /// Whether frames can bring descriptors.
    public var carriesDescriptors: Bool { transport.carriesDescriptors }

    /// Whether a body of this size goes in a memory file.
    public func takesFile(of count: Int) -> Bool { count >= Self.largeBody && count <= longestInFile }

    /// Writes a large body into a memory file, if the broker takes those.
    /// - Returns: what to send in place of the body; nil if it goes in the frame, also because there can be
    ///   no file now.
    public func file(of body: UnsafeRawBufferPointer) throws(SystemError) -> FrameDescriptors? {
        guard takesFile(of: body.count) else { return nil }
        do throws(SystemError) {
            guard files.count < Self.mostFiles, files.bodyBytes + body.count <= longestInFile else {
                throw SystemError(ENOBUFS, "send a file beside \(files.count) that the bus has not read")
            }
            return FrameDescriptors(body: try MemoryFile.make("strata-body", holding: body), count: body.count, files)
        } catch {
            guard body.count > longestInFrame else { return nil }
            throw error
        }
    }

    /// Does the same with bytes in an array.
    public func file(of body: [UInt8]) throws(SystemError) -> FrameDescriptors? {
        try body.withUnsafeBytes { body in Result { () throws(SystemError) in try file(of: body) } }.get()
    }

    /// Returns the descriptors of the frame that is being delivered, once. If nobody asks, they are
    /// closed. The file that holds its body isn't one of them.
    public func takeDescriptors() -> FrameDescriptors? {
        guard let came = descriptors, came.bodyCount == 0 else { return nil }
        descriptors = nil
        return came
    }

    /// Writes queued bytes until the kernel takes no more.
    public func flush() {
        guard !isClosed, !isWaitingToWrite, !outbox.isEmpty else { return }
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 16) { parts in
            while true {
                let count = outbox.gather(parts)
                if count == 0 { break }
                let parts = UnsafeBufferPointer(rebasing: parts[..<count])
                let descriptors = outbox.descriptors?.takeUnretainedValue()
                switch descriptors.map({ transport.write(parts, with: $0) }) ?? transport.write(parts) {
                case .moved(let written): outbox.wrote(written)
                case .wouldBlock:
                    isWaitingToWrite = true
                    transport.watch([.readable, .writable])
                    return
                case .failed(let code) where code != EPIPE && code != ECONNRESET:
                    // Such as too many descriptors that the bus hasn't read.
                    return finish(.failed(SystemError(code, "write to the bus")))
                case .ended, .failed:
                    // Reading reports the end, after the broker's last frames.
                    isWaitingToWrite = true
                    return
                }
            }
            onDrained()
        }
    }

    /// Closes the connection at once; `onEnd` is not called.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        transport.close()
        hook?.close()
        hook = nil
        onFrame = { _, _ in }
        onRefused = { _, _ in }
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
        // The frame handlers may drop the owner's last reference to this channel.
        withExtendedLifetime(self) {
            let space = assembler.space(in: buffer)
            switch takesDescriptors ? readWithDescriptors(into: space) : transport.read(into: space) {
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

    private func readWithDescriptors(into space: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        transport.read(into: space) { numbers, isWhole in
            received.append(
                isWhole
                    ? FrameDescriptors(numbers)
                    : FrameDescriptors(refused: "this process can't open so many descriptors (RLIMIT_NOFILE)"))
            if !isWhole { DescriptorCount.closeHere(numbers) }
        }
    }

    /// Finds the descriptors that a frame names: the first that have come.
    /// - Returns: the frame's body; nil if this process can't take them.
    private func take(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer
    ) throws(FrameChannel.Ending) -> UnsafeRawBufferPointer? {
        let isInFile = header.members.contains(.memory)
        let count = isInFile ? 1 : Int(header.descriptors)
        let came = received.isEmpty ? nil : received.removeFirst()
        guard let came, came.refusal != nil || came.numbers.count == count else {
            throw .badFrame("a frame named \(count) descriptors, and \(came?.numbers.count ?? 0) came with it")
        }
        if isInFile { came.holdBody(of: Int(header.memory), most: .max) }
        do throws(BusError) {
            if let refusal = came.refusal { throw refusal }
            let body = isInFile ? try came.mappedBody().bytes : body
            descriptors = came
            return body
        } catch {
            onRefused(header, error)
            return nil
        }
    }

    private func deliver() {
        var header = Header()
        do {
            while !isClosed, let frame = try assembler.next() {
                try scanner.scanFromBroker(frame.header, into: &header)
                guard takesDescriptors, !header.members.isDisjoint(with: [.descriptors, .memory]) else {
                    onFrame(header, frame.body)
                    continue
                }
                if let body = try take(header, frame.body) { onFrame(header, body) }
                descriptors = nil
            }
        } catch let ending as Ending {
            finish(ending)
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

/// The carrier of a connection's bytes: a socket, or a simulated one.
public protocol Transport: AnyObject {
    /// Whether it carries descriptors.
    var carriesDescriptors: Bool { get }
    /// Sets the handler to call when something happens that the transport is watched for.
    func setEventHandler(_ handler: @escaping (Socket.Event) -> Void)
    /// Sets what to watch for from now on.
    func watch(_ events: Socket.Event)
    /// Reads what has arrived, up to the size of `space`.
    func read(into space: UnsafeMutableRawBufferPointer) -> Socket.Transfer
    /// Reads what has arrived, and the descriptors of one frame.
    func read(
        into space: UnsafeMutableRawBufferPointer, _ received: (_ numbers: [Int32], _ isWhole: Bool) -> Void
    ) -> Socket.Transfer
    /// Writes several buffers in one call, as many bytes as are taken now.
    func write(_ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Socket.Transfer
    /// Writes several buffers in one call, and hands descriptors over with the first byte.
    func write(
        _ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>, with descriptors: FrameDescriptors
    ) -> Socket.Transfer
    /// Closes the transport. A second call does nothing.
    func close()
}

extension Transport {
    public var carriesDescriptors: Bool { false }

    /// A transport without a socket brings none.
    public func read(
        into space: UnsafeMutableRawBufferPointer, _ received: (_ numbers: [Int32], _ isWhole: Bool) -> Void
    ) -> Socket.Transfer { read(into: space) }

    /// A transport without a socket can't carry descriptors, and the receiver of the frame says so.
    public func write(
        _ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>, with descriptors: FrameDescriptors
    ) -> Socket.Transfer { write(parts) }
}
