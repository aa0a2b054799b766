public import StrataCore

/// One connection to a broker, which a test plays. It sends whatever the test wants, well formed
/// or not, and waits for frames with a deadline.
///
/// Use it on one thread. While it waits, the other peers of its bus are read too. Peers that
/// answer their life cycle or play a script do so in that time.
public final class RawPeer {
    /// The name that failures use.
    public var label: String
    /// The body of hello's answer.
    public internal(set) var welcome: JSON = .null
    /// Whether the peer answers calls of `module/…` with `{}` by itself. Such calls are recorded
    /// in `lifecycle`, and expectations don't see them.
    public var answersLifecycle: Bool
    /// The actions of `module/…` that the peer answered by itself, in order.
    public internal(set) var lifecycle: [String] = []
    /// Whether to read only while the test waits for this very peer. Meanwhile the frames for it
    /// pile up in the broker.
    public var isPaused = false
    /// The frames that have arrived and that the test has not taken yet.
    public internal(set) var inbox: [ReceivedFrame] = []

    let link: any PeerLink
    let group: PeerGroup
    var script: ModuleScript?
    var scriptFailure: TestFailure?
    /// The connection to which everything that arrives is sent on, instead of being kept.
    var relay: RawPeer?
    /// The number of bytes that were sent on.
    var relayedBytes = 0
    private var nextRequest: UInt64 = 1
    /// Far from the ids that tests choose by hand.
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

    /// Returns an id for a request, a new one each time.
    public func newID() -> UInt64 {
        defer { nextRequest += 1 }
        return nextRequest
    }

    func newSettlingID() -> UInt64 {
        defer { nextSettling += 1 }
        return nextSettling
    }

    // MARK: sending

    /// Sends bytes as they are. Throws if the broker doesn't take all of them in time. If the
    /// broker has closed, the rest is dropped silently, because the test will read the reason.
    public func send(
        bytes: [UInt8], within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        let deadline = group.deadline(time)
        let sent = link.send(bytes, until: deadline)
        guard sent == bytes.count || !group.hasPassed(deadline) else {
            throw failure("the broker took \(sent) of \(bytes.count) bytes within \(time)", file, line)
        }
    }

    /// Sends the bytes that the kernel takes first, and descriptors with the first one.
    /// - Returns: the number of bytes that were sent, or a negative errno.
    public func send(bytes: [UInt8], with descriptors: [Int32], within time: Duration = TestBus.patience) -> Int {
        link.send(bytes, with: descriptors, until: group.deadline(time))
    }

    /// Sends bytes in chunks, with one system call each.
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

    /// Sends a frame with this exact header and body.
    public func send(header: String, body: String = "") throws {
        try send(bytes: FrameBytes.frame(Array(header.utf8), body: Array(body.utf8)))
    }

    /// Ends this side's writing; reading continues.
    public func endWriting() { link.endWriting() }

    /// Closes the connection.
    public func close() { link.close() }

    /// Whether this side has closed.
    public var isClosed: Bool { link.isClosed }

    // MARK: taking in

    /// Takes in what can be read.
    func readAll() throws {
        link.read()
        while let frame = try link.nextFrame() { try take(frame) }
    }

    private static let lifecycleActions: Set<String> = [
        "module/setUp", "module/initialize", "module/didStart", "module/retiring", "module/tearDown", "module/ping",
        "module/create",
    ]

    /// Sends a frame on to another connection.
    func pass(_ frame: ReceivedFrame, to other: RawPeer) throws {
        let bytes = FrameBytes.frame(frame.headerBytes, body: frame.body)
        relayedBytes += bytes.count
        try other.send(bytes: bytes)
    }

    private func take(_ frame: ReceivedFrame) throws {
        if let relay { return try pass(frame, to: relay) }
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

    /// The content of the inbox, for a failure's message.
    var whatCame: String {
        if inbox.isEmpty { return link.isAtEnd ? "the connection ended" : "nothing was received" }
        // The last frames say most about what did not come.
        let shown = inbox.suffix(8).map { "\n    \($0)" }.joined()
        let earlier = inbox.count > 8 ? "\n    … \(inbox.count - 8) frames before these" : ""
        return "received\(earlier)\(shown)\(link.isAtEnd ? "\n    and the connection ended" : "")"
    }
}
