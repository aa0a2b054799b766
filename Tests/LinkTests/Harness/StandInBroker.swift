import StrataCore
import StrataLoop

/// A stand-in for a node's broker: it accepts the link and its nodes, and notes what it is told. After the hello of a
/// node it writes what a test gives it, and keeps what it reads.
final class StandInBroker {
    struct Loss: Equatable {
        var node: String
        var sent: Int64
        var reason: String
    }

    /// A connection in another node's name.
    final class Stream {
        fileprivate let socket: Socket
        /// All that it was to send.
        private var queued: [UInt8] = []
        private(set) var received: [UInt8] = []
        private(set) var isEnded = false
        /// Whether it reads.
        var reads = true {
            didSet { watch() }
        }
        /// How many bytes the link has taken.
        private(set) var written = 0

        fileprivate init(_ socket: Socket) {
            self.socket = socket
            socket.setEventHandler { [unowned self] in self.happened($0) }
            watch()
        }

        /// Whether it has received these bytes. `#expect` itself would show how long arrays differ, for minutes.
        func has(_ bytes: [UInt8]) -> Bool { received == bytes }

        func send(_ bytes: [UInt8]) {
            queued += bytes
            write()
        }

        func close() {
            isEnded = true
            socket.close()
        }

        private func happened(_ event: Socket.Event) {
            if event.contains(.writable) { write() }
            guard event.contains(.readable), reads else { return }
            withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { space in
                switch socket.read(into: space) {
                case .moved(let count): received += space[..<count]
                case .wouldBlock: break
                case .ended, .failed: close()
                }
            }
        }

        private func write() {
            guard !isEnded else { return }
            while written < queued.count {
                let moved = queued.withUnsafeBytes { socket.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
                guard case .moved(let count) = moved else { break }
                written += count
            }
            watch()
        }

        private func watch() {
            guard !isEnded else { return }
            var events: Socket.Event = reads ? .readable : []
            if written < queued.count { events.insert(.writable) }
            socket.watch(events)
        }
    }

    let path: String
    private(set) var losses: [Loss] = []
    /// What the link has said of the nodes.
    private(set) var views: [JSON] = []
    /// Whether it knows `bus/nodeState`, as brokers of earlier builds don't.
    var knowsViews = true
    /// The open stream of each node.
    private(set) var streams: [String: Stream] = [:]
    /// How many streams were opened.
    private(set) var opened = 0
    /// What hellos said.
    private(set) var hellos: [JSON] = []
    /// The code with which hellos are refused; nil to accept them.
    var refusal: String?

    private var listener: Listener?
    private var sockets: [Socket] = []
    private var buffers: [[UInt8]] = []
    private var all: [Stream] = []

    init(_ loop: Loop, path: String) throws {
        self.path = path
        listener = try Listener(loop, path: path) { [unowned self] in self.accept($0) }
    }

    func close() {
        listener?.close()
        for socket in sockets { socket.close() }
        for stream in all where !stream.isEnded { stream.close() }
    }

    private func accept(_ socket: Socket) {
        let index = sockets.count
        sockets.append(socket)
        buffers.append([])
        socket.setEventHandler { [unowned self] _ in self.read(index) }
        socket.watch(.readable)
    }

    private func read(_ index: Int) {
        let socket = sockets[index]
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { space in
            switch socket.read(into: space) {
            case .moved(let count): buffers[index] += space[..<count]
            case .wouldBlock: break
            case .ended, .failed: socket.close()
            }
        }
        while let (header, body) = takeFrame(index) { received(header, body, index) }
    }

    private func takeFrame(_ index: Int) -> (JSON, JSON)? {
        func number(at place: Int) -> Int {
            buffers[index][place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        guard buffers[index].count >= 8 else { return nil }
        let (length, headerLength) = (4 + number(at: 0), number(at: 4))
        guard buffers[index].count >= length else { return nil }
        let header = try? JSON(parsing: Array(buffers[index][8..<8 + headerLength]))
        let body = try? JSON(parsing: Array(buffers[index][8 + headerLength..<length]))
        buffers[index].removeFirst(length)
        return (header ?? .null, body ?? .null)
    }

    private func received(_ header: JSON, _ body: JSON, _ index: Int) {
        let id = header["id"] ?? .null
        switch header["to"]?.string {
        case "bus/hello":
            hellos.append(body)
            if let refusal {
                let error: JSON = ["kind": "error", "id": id, "code": .string(refusal), "message": "no", "ran": "no"]
                write(error, nil, index)
                return
            }
            write(["kind": "reply", "id": id], ["app": "moments"], index)
            guard let node = body["node"]?.string else { return }
            opened += 1
            let stream = Stream(sockets[index])
            streams[node] = stream
            all.append(stream)
        case "bus/nodeLost":
            let node = body["node"]?.string ?? ""
            losses.append(
                Loss(node: node, sent: body["sent"]?.integer ?? -1, reason: body["reason"]?.string ?? ""))
            // As the broker does, before the answer.
            streams.removeValue(forKey: node)?.close()
            write(["kind": "reply", "id": id], [:], index)
        case "bus/nodeState":
            views.append(body)
            write(
                knowsViews
                    ? ["kind": "reply", "id": id]
                    : ["kind": "error", "id": id, "code": "unknown-action", "message": "no", "ran": "no"],
                knowsViews ? [:] : nil, index)
        default: break
        }
    }

    private func write(_ header: JSON, _ body: JSON?, _ index: Int) {
        func number(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        let (header, body) = (header.encoded(), body?.encoded() ?? [])
        let frame = number(4 + header.count + body.count) + number(header.count) + header + body
        _ = frame.withUnsafeBytes { sockets[index].write($0) }
    }
}
