public import StrataCore

/// One connection to a broker, played by a test: it sends whatever it is told
/// to, well formed or not, and waits for frames with a deadline.
///
/// Used on one thread. While it waits, the other peers of its bus are read
/// too: those that answer their life cycle or play a script do so meanwhile.
public final class RawPeer {
    /// How messages name it.
    public var label: String
    /// What hello answered.
    public internal(set) var welcome: JSON = .null
    /// Whether calls to `module/…` are answered with `{}` on their own, and
    /// kept from what is expected; they stand in `lifecycle` then.
    public var answersLifecycle: Bool
    /// The actions of `module/…` that were answered on their own, in order.
    public internal(set) var lifecycle: [String] = []
    /// While true, nothing is read but where this very peer waits: what is sent
    /// to it piles up in the broker.
    public var isPaused = false
    /// Frames that came and that nobody has taken yet.
    public internal(set) var inbox: [ReceivedFrame] = []

    let link: any PeerLink
    let group: PeerGroup
    var script: ModuleScript?
    var scriptFailure: TestFailure?
    private var nextRequest: UInt64 = 1
    /// Far from the numbers that tests choose by hand.
    private var nextSettling: UInt64 = 1 << 50

    init(_ link: any PeerLink, label: String, answersLifecycle: Bool, group: PeerGroup) {
        self.link = link
        self.label = label
        self.answersLifecycle = answersLifecycle
        self.group = group
        group.add(self)
    }

    /// Connects to a broker that the harness did not start.
    public convenience init(path: String, label: String = "the peer", answersLifecycle: Bool = false) throws {
        self.init(
            try PeerSocket(path: path), label: label, answersLifecycle: answersLifecycle, group: PeerGroup())
    }

    /// A number for a request: each comes once.
    public func newID() -> UInt64 {
        defer { nextRequest += 1 }
        return nextRequest
    }

    func newSettlingID() -> UInt64 {
        defer { nextSettling += 1 }
        return nextSettling
    }

    // MARK: sending

    /// Sends bytes as they are. Throws where the broker does not take them all
    /// in time; where it has closed, the rest is dropped in silence, since the
    /// test will read why.
    public func send(
        bytes: [UInt8], within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        let deadline = group.deadline(time)
        let sent = link.send(bytes, until: deadline)
        guard sent == bytes.count || !group.hasPassed(deadline) else {
            throw failure("the broker took \(sent) of \(bytes.count) bytes within \(time)", file, line)
        }
    }

    /// Sends bytes in pieces, one system call each.
    public func send(bytes: [UInt8], inPiecesOf size: Int) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try send(bytes: Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
    }

    /// Sends a frame.
    public func send(_ header: JSON, body: JSON? = nil) throws {
        try send(bytes: FrameBytes.frame(header, body: body))
    }

    /// Sends a frame whose header and body are written as they are.
    public func send(header: String, body: String = "") throws {
        try send(bytes: FrameBytes.frame(Array(header.utf8), body: Array(body.utf8)))
    }

    /// Says that nothing more comes; reading goes on.
    public func endWriting() { link.endWriting() }

    /// Closes the connection.
    public func close() { link.close() }

    /// Whether this side has closed.
    public var isClosed: Bool { link.isClosed }

    // MARK: taking in

    /// Takes in what is there to be read.
    func readAll() throws {
        link.read()
        while let frame = try link.nextFrame() { try take(frame) }
    }

    private static let lifecycleActions: Set<String> = [
        "module/setUp", "module/initialize", "module/didStart", "module/retiring", "module/tearDown", "module/ping",
    ]

    private func take(_ frame: ReceivedFrame) throws {
        if answersLifecycle, frame.kind == "call", Self.lifecycleActions.contains(frame.to) {
            lifecycle.append(String(frame.to.dropFirst("module/".count)))
            try reply(to: frame)
            return
        }
        if let script, try script.take(frame, of: self) { return }
        inbox.append(frame)
    }

    func failure(_ message: String, _ file: StaticString, _ line: UInt) -> TestFailure {
        TestFailure("\(label): \(message)\(group.outputText)", file: file, line: line)
    }

    /// What stands in the inbox, for a failure's message.
    var whatCame: String {
        if inbox.isEmpty { return link.isAtEnd ? "the connection ended" : "nothing came" }
        // What came last says most about what did not come.
        let shown = inbox.suffix(8).map { "\n    \($0)" }.joined()
        let earlier = inbox.count > 8 ? "\n    … \(inbox.count - 8) frames before these" : ""
        return "came\(earlier)\(shown)\(link.isAtEnd ? "\n    and the connection ended" : "")"
    }
}
