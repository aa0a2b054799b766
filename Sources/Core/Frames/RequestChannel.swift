/// A client's connection with requests matched to their answers: what a tool
/// or a launcher needs. A module's runtime has its own, with tasks.
///
/// All on the loop's thread.
public final class RequestChannel {
    /// A final answer, or what ended the connection before one came.
    public typealias Answer = Result<[UInt8], BusError>

    /// A request of somebody else's that this side must answer.
    public struct Incoming {
        public var id: UInt64
        /// `Interface/action`.
        public var to: String
        public var from: String
        /// JSON; empty for null.
        public var body: [UInt8]
        /// So many partial replies may be sent, until `onCredit` tells of more.
        public var credit: UInt64
    }

    /// Gets each call; it must be answered with `reply` or `fail`, now or later.
    public var onCall: (Incoming) -> Void = { _ in }
    /// The caller gave up on a call: its id.
    public var onCancel: (UInt64) -> Void = { _ in }
    /// The caller takes more partial replies of a call: its id, and how many.
    public var onCredit: (UInt64, UInt64) -> Void = { _, _ in }
    /// Called once at the end, after every open request was answered.
    /// The second value is the error that the broker said last, if it did.
    public var onEnd: (FrameChannel.Ending, BusError?) -> Void = { _, _ in }

    private struct Pending {
        var onPartial: (([UInt8]) -> Void)?
        /// How many partial replies are taken before credit for them goes back.
        var batch: UInt64
        /// Those that were taken since.
        var owed: UInt64 = 0
        var onAnswer: (Answer) -> Void
    }

    private let channel: FrameChannel
    private var pending: [UInt64: Pending] = [:]
    private var nextID: UInt64 = 1
    private var farewell: BusError?

    public init(_ channel: FrameChannel) {
        self.channel = channel
        channel.onFrame = { [unowned self] header, body in self.received(header, body) }
        channel.onEnd = { [unowned self] ending in self.ended(ending) }
    }

    public var isClosed: Bool { channel.isClosed }
    public var unsent: Int { channel.unsent }
    public func setLimits(_ limits: FrameLimits) { channel.setLimits(limits) }

    /// Sends a call, or an open where `to` is a URL.
    /// - Parameters:
    ///   - deadline: milliseconds; nil is the bus's default.
    ///   - credit: how many partial replies may come; nil is the default.
    ///   - onPartial: gets each partial reply. Credit for them goes back when a fourth
    ///     of what was given is used.
    /// - Returns: the request's id, for `cancel`.
    @discardableResult
    public func request(
        _ kind: Header.Kind = .call, to: String, body: [UInt8] = [], deadline: UInt64? = nil,
        credit: UInt64? = nil, members: [(StaticString, String)] = [], meta: [UInt8] = [],
        onPartial: (([UInt8]) -> Void)? = nil, onAnswer: @escaping (Answer) -> Void
    ) -> UInt64 {
        let id = nextID
        nextID += 1
        pending[id] = Pending(onPartial: onPartial, batch: max(1, (credit ?? 16) / 4), onAnswer: onAnswer)
        let texts = members.reduce(0) { $0 + $1.1.utf8.count * 6 + 64 }
        body.withUnsafeBytes { body in
            channel.send(kind, room: to.utf8.count * 6 + 64 + texts + meta.count, body: body) { writer in
                writer.integer("id", id)
                if kind == .open {
                    writer.string("url", to)
                } else if !to.isEmpty {
                    writer.string("to", to)
                }
                if let deadline { writer.integer("deadline", deadline) }
                if let credit { writer.integer("credit", credit) }
                for (name, value) in members { writer.string(name, value) }
                if !meta.isEmpty { meta.withUnsafeBytes { writer.raw("meta", $0) } }
            }
        }
        return id
    }

    /// Gives up on a request; its answer, `cancelled`, still comes.
    public func cancel(_ id: UInt64) {
        channel.send(.cancel, room: 0) { $0.integer("id", id) }
    }

    /// Answers a call.
    public func reply(_ id: UInt64, _ body: [UInt8] = Array("{}".utf8)) {
        body.withUnsafeBytes { body in
            channel.send(.reply, room: 0, body: body) { $0.integer("id", id) }
        }
    }

    /// Sends a part of a call's answer; each takes one of the caller's credits.
    public func replyPartially(_ id: UInt64, _ body: [UInt8]) {
        body.withUnsafeBytes { body in
            channel.send(.reply, room: 0, body: body) { writer in
                writer.integer("id", id)
                writer.boolean("more", true)
            }
        }
    }

    /// Answers a call with an error.
    public func fail(_ id: UInt64, _ error: BusError) {
        let room = (error.code.rawValue.utf8.count + error.message.utf8.count) * 6 + 64
        error.body.withUnsafeBytes { body in
            channel.send(.error, room: room, body: body) { writer in
                writer.integer("id", id)
                writer.string("code", error.code.rawValue)
                writer.string("message", error.message)
                writer.string("ran", error.ran.rawValue)
            }
        }
    }

    public func flush() { channel.flush() }

    /// Ends the connection. Open requests are answered with `died`.
    public func close() {
        channel.close()
        failPending("this side closed the connection")
    }

    private func received(_ header: borrowing Header, _ body: UnsafeRawBufferPointer) {
        let id = header.id
        switch header.kind {
        case .reply where header.more:
            guard let onPartial = pending[id]?.onPartial else { return }
            giveCredit(id)
            onPartial(Array(body))
        case .reply:
            pending.removeValue(forKey: id)?.onAnswer(.success(Array(body)))
        case .error:
            let error = BusError(
                ErrorCode(header.code.text), header.message.text, ran: header.ran, body: Array(body))
            if header.members.contains(.id) {
                pending.removeValue(forKey: id)?.onAnswer(.failure(error))
            } else {
                farewell = error
            }
        case .call:
            onCall(
                Incoming(
                    id: id, to: header.to.text, from: header.from.text, body: Array(body), credit: header.credit))
        case .cancel:
            onCancel(id)
        case .credit:
            onCredit(id, header.credit)
        case .unknown, .open, .broadcast, .report, .notice:
            break
        }
    }

    private func giveCredit(_ id: UInt64) {
        guard var request = pending[id] else { return }
        request.owed += 1
        if request.owed >= request.batch {
            let owed = request.owed
            channel.send(.credit, room: 0) {
                $0.integer("id", id)
                $0.integer("credit", owed)
            }
            request.owed = 0
        }
        pending[id] = request
    }

    private func ended(_ ending: FrameChannel.Ending) {
        failPending(farewell?.message ?? "\(ending)")
        onEnd(ending, farewell)
    }

    private func failPending(_ reason: String) {
        let open = pending.sorted { $0.key < $1.key }
        pending = [:]
        for (_, request) in open {
            request.onAnswer(
                .failure(BusError(.died, "the connection to the bus ended: \(reason)", ran: .maybe)))
        }
    }
}
