internal import StrataCore
internal import StrataLoop

/// The connection to the own broker that carries the stream of another node. It says hello in that node's name;
/// after the answer all bytes are the stream.
final class NodeConnection {
    /// What a connection reports. After `nodeEnded` it reports nothing.
    protocol Handler: AnyObject {
        /// The broker has accepted the node.
        func nodeOpened()
        /// There is something to read, or room to write.
        func nodeIsReady()
        func nodeEnded(_ why: String)
    }

    private unowned let handler: any Handler  // because the handler owns the connection
    private let socket: Socket
    /// What is left of the hello.
    private var unsent: [UInt8]
    /// The bytes of hello's answer that have arrived.
    private var answer: [UInt8] = []
    private(set) var isOpen = false
    private var readsNext = true
    private var waitsToWrite = false

    /// The longest answer to hello.
    private static let longestAnswer = 64 << 10

    /// Connects.
    init(_ loop: Loop, path: String, node: String, token: String, handler: any Handler) throws(SystemError) {
        self.handler = handler
        unsent = Self.hello(node, token)
        socket = try Socket.connect(loop, path: path)
        socket.setEventHandler { [unowned self] in self.happened($0) }
        sendHello()
        watch()
    }

    /// Closes the connection; nothing is reported any more.
    func close() { socket.close() }

    /// Reads what has come of the stream.
    /// - Parameter most: at most so many bytes, and at most the space.
    /// - Returns: how many bytes there are now in the space; 0 if no more come at the moment.
    func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        switch socket.read(into: space) {
        case .moved(let count): return count
        case .wouldBlock: return 0
        case .ended: end("it closed the connection")
        case .failed(let code): end("\(SystemError(code, "read from the broker"))")
        }
        return 0
    }

    /// Writes bytes of the stream, as one buffer or as two.
    /// - Returns: how many the socket took.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard !waitsToWrite, !socket.isClosed else { return 0 }
        let written = withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 2) { parts in
            parts.initializeElement(at: 0, to: first)
            parts.initializeElement(at: 1, to: second)
            return socket.write(UnsafeBufferPointer(rebasing: parts[..<(second.isEmpty ? 1 : 2)]))
        }
        switch written {
        case .moved(let count):
            if count < first.count + second.count { waitToWrite() }
            return count
        case .wouldBlock: waitToWrite()
        // Reading reports the end, after the broker's last bytes.
        case .ended, .failed: waitsToWrite = true
        }
        return 0
    }

    /// Sets whether there is room for what the broker writes. Without it only the end is noticed.
    func reads(_ wants: Bool) {
        guard wants != readsNext else { return }
        readsNext = wants
        watch()
    }

    // MARK: - What happens

    private func happened(_ event: Socket.Event) {
        if event.contains(.writable) {
            waitsToWrite = false
            if !isOpen { sendHello() }
            watch()
        }
        if event.contains(.hungUp), !readsNext {
            end("it closed the connection")
            return
        }
        guard isOpen else { return receiveAnswer() }
        handler.nodeIsReady()
    }

    private func waitToWrite() {
        waitsToWrite = true
        watch()
    }

    private func watch() {
        var events: Socket.Event = readsNext ? .readable : .hungUp
        if waitsToWrite { events.insert(.writable) }
        socket.watch(events)
    }

    private func end(_ why: String) {
        guard !socket.isClosed else { return }
        socket.close()
        handler.nodeEnded(why)
    }

    // MARK: - Hello

    private static func hello(_ node: String, _ token: String) -> [UInt8] {
        let body: JSON = ["protocol": 1, "role": "node", "node": .string(node), "token": .string(token)]
        let bytes = body.encoded()
        return [UInt8](unsafeUninitializedCapacity: HeaderWriter.overhead + bytes.count) { memory, count in
            // because the capacity isn't 0
            var writer = HeaderWriter(UnsafeMutableRawPointer(memory.baseAddress!), .call)
            writer.integer("id", 1)
            writer.string("to", "bus/hello")
            count = bytes.withUnsafeBytes { writer.end(body: $0) }
        }
    }

    private func sendHello() {
        guard !unsent.isEmpty else { return }
        if case .moved(let count) = unsent.withUnsafeBytes({ socket.write($0) }) { unsent.removeFirst(count) }
        if !unsent.isEmpty { waitsToWrite = true }
    }

    /// Reads the answer to hello, and not a byte more: the stream follows.
    private func receiveAnswer() {
        while !socket.isClosed {
            var wanted = 4
            if answer.count >= 4 {
                wanted = 4 + answer.withUnsafeBytes { Int(UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self))) }
                guard wanted <= Self.longestAnswer else { return end("it answered hello with \(wanted) bytes") }
                if answer.count == wanted { return takeAnswer() }
            }
            let missing = wanted - answer.count
            let count = withUnsafeTemporaryAllocation(byteCount: missing, alignment: 1) { space in
                let count = read(into: space)
                answer += space[..<count]
                return count
            }
            if count == 0 { return }
        }
    }

    private func takeAnswer() {
        guard answer.count >= 8 else { return end("it answered hello with no frame") }
        let length = answer.withUnsafeBytes {
            Int(UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        }
        guard length <= answer.count - 8, let header = try? JSON(parsing: Array(answer[8..<8 + length])) else {
            return end("it answered hello with no frame")
        }
        answer = []
        guard header["kind"] == "reply" else {
            let code = header["code"]?.string ?? "?"
            return end(Printable.line("\(code): \(header["message"]?.string ?? "")"))
        }
        isOpen = true
        handler.nodeOpened()
    }
}
