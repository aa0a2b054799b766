internal import StrataCore
internal import StrataLoop
internal import StrataPipe

/// The link's own connection to the broker, on which it reports lost nodes.
final class BrokerControl {
    /// Called once the broker has accepted the link.
    var onAccepted: () -> Void = {}
    /// Called once, with the reason, when the broker has refused the link or the connection has ended.
    var onEnd: (String) -> Void = { _ in }

    private let channel: FrameChannel
    private var lastID: UInt64 = 0
    private var waiting: [UInt64: (String?) -> Void] = [:]
    private var farewell: String?

    /// The bounds of a frame on connections of the link, except of the streams.
    static let limits = FrameLimits(frame: 64 << 10, header: 16 << 10)

    /// Connects, and says hello.
    init(_ loop: Loop, path: String, token: String) throws(SystemError) {
        channel = try FrameChannel(loop, path: path, limits: Self.limits)
        channel.onFrame = { [unowned self] header, body in self.received(header) }
        channel.onEnd = { [unowned self] ending in
            let ended = self.onEnd
            ended(self.farewell ?? "\(ending)")
        }
        call("bus/hello", ["protocol": 1, "role": "link", "token": .string(token)]) { [unowned self] error in
            guard let error else {
                self.takesViews = true
                return self.onAccepted()
            }
            self.farewell = error
            self.channel.close()
            self.onEnd(error)
        }
    }

    /// Reports a lost node.
    /// - Parameter onReported: called when the broker knows, or has refused it.
    func report(_ loss: NodeLoss, of node: String, _ details: String, onReported: @escaping () -> Void) {
        let body: JSON = [
            "node": .string(node), "sent": .integer(Int64(clamping: loss.sent)),
            "reason": .string("\(loss.ending)\(details)"),
        ]
        call("bus/nodeLost", body) { _ in onReported() }
    }

    /// Whether the broker has accepted the link and answered the last report, so that the next may be sent. A broker of an
    /// earlier build doesn't know these reports, and gets no further one.
    private(set) var takesViews = false

    /// Tells the broker what this link knows of other nodes, or why it connects none.
    func report(views body: JSON) {
        takesViews = false
        call("bus/nodeState", body) { [unowned self] error in self.takesViews = error == nil }
    }

    func flush() { channel.flush() }

    func close() {
        waiting = [:]
        channel.close()
    }

    private func call(_ action: StaticString, _ body: JSON, onAnswer: @escaping (String?) -> Void) {
        lastID += 1
        waiting[lastID] = onAnswer
        let id = lastID
        body.encoded().withUnsafeBytes { body in
            channel.send(.call, room: 64, body: body) { writer in
                writer.integer("id", id)
                writer.string("to", action)
            }
        }
    }

    /// Takes an answer: nil, or the error's text.
    private func received(_ header: borrowing Header) {
        switch header.kind {
        case .reply: waiting.removeValue(forKey: header.id)?(nil)
        case .error:
            let text = Printable.line(
                "\(String(decoding: header.code, as: UTF8.self)): "
                    + String(decoding: header.message, as: UTF8.self))
            // An error without an id is the broker's last word.
            if let answered = waiting.removeValue(forKey: header.id) { answered(text) } else { farewell = text }
        default: break
        }
    }
}
