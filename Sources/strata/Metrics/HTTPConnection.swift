import StrataCore
import StrataLoop
import StrataOperator

/// An HTTP connection that takes one request, sends one answer, and then ends.
final class HTTPConnection {
    /// The milliseconds for a request to arrive. The answer, and the other side's closing, get
    /// the same time again.
    static let patience: UInt64 = 5_000
    /// The most bytes that are read and dropped after the request. More of them end the
    /// connection.
    static let mostDropped = 1 << 20

    /// An HTTP answer.
    struct Response {
        var status: String
        var headers: [(String, String)] = []
        var body: [UInt8]

        init(_ status: String, _ text: String, headers: [(String, String)] = []) {
            self.status = status
            self.headers = headers + [("Content-Type", "text/plain; charset=utf-8")]
            body = Array("\(text)\n".utf8)
        }

        init(metrics: String) {
            status = "200 OK"
            headers = [("Content-Type", OpenMetrics.contentType)]
            body = Array(metrics.utf8)
        }
    }

    private enum State { case reading, waiting, writing, closing, closed }

    private let socket: Socket
    private var timer: LoopTimer?
    private var state = State.reading
    private var received: [UInt8] = []
    private var unsent: ArraySlice<UInt8> = []
    private var dropped = 0
    private var wantsBody = true
    private let isMeant: (String) -> Bool
    private let onRequest: (HTTPConnection) -> Void
    private let onEnd: (HTTPConnection) -> Void

    /// - Parameters:
    ///   - isMeant: whether a request that names this host is meant for this server.
    ///   - onRequest: called when the request asks for the metrics; `answer` sends them.
    ///   - onEnd: called once, at the end.
    init(
        _ loop: Loop, _ socket: Socket, isMeant: @escaping (String) -> Bool,
        onRequest: @escaping (HTTPConnection) -> Void,
        onEnd: @escaping (HTTPConnection) -> Void
    ) {
        self.socket = socket
        self.isMeant = isMeant
        self.onRequest = onRequest
        self.onEnd = onEnd
        timer = LoopTimer(loop) { [unowned self] in timePassed() }
        timer?.start(after: Self.patience)
        socket.setEventHandler { [unowned self] _ in ready() }
        socket.watch(.readable)
    }

    /// Whether the connection waits for its other side: for a request, or until the answer is
    /// taken. Reads what is there first.
    func isIdle() -> Bool {
        if state == .reading { read() }
        return state != .waiting
    }

    /// Answers that there are too many connections.
    func refuse() {
        answer(
            Response("503 Service Unavailable", "too many connections: try again", headers: [("Retry-After", "1")]))
    }

    /// Sends the answer.
    func answer(_ response: Response) {
        guard state == .reading || state == .waiting else { return }
        state = .writing
        unsent = Self.bytes(of: response, withBody: wantsBody)[...]
        timer?.start(after: Self.patience)
        write()
    }

    func close() {
        guard state != .closed else { return }
        state = .closed
        timer?.close()
        timer = nil
        socket.close()
        onEnd(self)
    }

    private func timePassed() {
        if state == .reading {
            answer(Response("408 Request Timeout", "no request came within \(Self.patience / 1_000) s"))
        } else {
            close()
        }
    }

    private func ready() {
        switch state {
        case .reading, .waiting, .closing: read()
        case .writing: write()
        case .closed: break
        }
    }

    private func read() {
        let transfer = withUnsafeTemporaryAllocation(byteCount: HTTPRequest.longest, alignment: 1) { space in
            let transfer = socket.read(into: space)
            if case .moved(let count) = transfer, state == .reading {
                received.append(contentsOf: space[..<count])
            }
            return transfer
        }
        switch transfer {
        case .wouldBlock: return
        // A client that has finished sending may still read.
        case .ended where state == .waiting: socket.watch([])
        case .ended, .failed: close()
        case .moved where state == .reading: judge()
        // Bytes after the request are dropped.
        case .moved(let count):
            dropped += count
            if dropped > Self.mostDropped { close() }
        }
    }

    private func judge() {
        switch HTTPRequest.read(received) {
        case .unfinished: break
        case .malformed: answer(Response("400 Bad Request", "this is not an HTTP/1.1 request"))
        case .tooLong:
            answer(
                Response(
                    "431 Request Header Fields Too Large",
                    "a request's head may have at most \(HTTPRequest.longest) "
                        + "bytes"))
        case .request(let request):
            received = []
            wantsBody = request.method != "HEAD"
            guard request.hosts.allSatisfy(isMeant) else {
                return answer(
                    Response(
                        "421 Misdirected Request",
                        "this host isn't served: name localhost, 127.0.0.1, [::1], or the address of --listen"))
            }
            guard request.path == "/metrics" else {
                return answer(Response("404 Not Found", "there is only /metrics"))
            }
            guard request.method == "GET" || request.method == "HEAD" else {
                return answer(
                    Response("405 Method Not Allowed", "/metrics is read-only", headers: [("Allow", "GET, HEAD")]))
            }
            state = .waiting
            onRequest(self)
        }
    }

    private func write() {
        while !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ socket.write($0) }) {
            case .moved(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock: return socket.watch(.writable)
            case .ended, .failed: return close()
            }
        }
        // Read and drop what the other side still sends. If unread bytes were left at the close,
        // the kernel would discard the answer.
        state = .closing
        socket.endWriting()
        socket.watch(.readable)
    }

    private static func bytes(of response: Response, withBody: Bool) -> [UInt8] {
        var head = "HTTP/1.1 \(response.status)\r\n"
        for (name, value) in response.headers { head += "\(name): \(value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + (withBody ? response.body : [])
    }
}
