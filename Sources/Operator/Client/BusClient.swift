public import StrataCore
public import StrataLoop

/// A connection of an operator or a launcher to a bus. It matches each request to its answer, and
/// receives the calls that the bus makes to a launcher.
///
/// A client lives on a loop and is used only on the loop's thread. Requests are written at the end
/// of the loop's round, and answers come as callbacks. A program that does one thing after another
/// lets the client run the loop until an answer arrives (``open(within:)``, ``send(_:onTaken:)``). After
/// its connection ends, it can connect again.
public final class BusClient {
    /// The client's role on the bus.
    public enum Role: String, Sendable { case `operator`, launcher }

    /// A final answer, or the error in its place.
    public typealias Answer = Result<[UInt8], BusError>

    /// A request that the client must answer.
    public struct Incoming {
        /// The id to answer with.
        public var id: UInt64
        /// The action, `Interface/action`.
        public var to: String
        /// The sender: a module's name, `operator` or `bus`.
        public var from: String
        /// The params as JSON; empty for null.
        public var body: [UInt8]
        /// The number of partial replies that may be sent, until `onCredit` adds more.
        public var credit: UInt64
    }

    /// Called with each call, which must be answered with `reply` or `fail`, now or later. Without
    /// it, calls are refused.
    public var onCall: ((Incoming) -> Void)?
    /// Called when the caller cancels a call, with the call's id.
    public var onCancel: (UInt64) -> Void = { _ in }
    /// Called when the caller accepts more partial replies of a call, with the call's id and their
    /// number.
    public var onCredit: (UInt64, UInt64) -> Void = { _, _ in }
    /// Called once for each connection that ends, after every open request was answered; not called
    /// after `close`. Gets the bus's last message, or the reason for the end.
    public var onEnd: (String) -> Void = { _ in }

    /// The loop; the client is used only on its thread.
    public let loop: Loop
    /// The socket's path.
    public let path: String
    /// The node whose bus answers the requests, in an app with several; nil for the bus's own. Its name
    /// goes into the header of each request but hello and broadcasts, if the bus has the feature `node`.
    public var node: String?
    /// The last answer to hello; nil until the first one.
    public private(set) var welcome: Welcome?
    /// The reason why the last connection ended; nil while there is one.
    public private(set) var ending: String?

    private struct Pending {
        var onPartial: ([UInt8]) -> Void
        /// The number of partial replies after which credit for them is returned.
        var batch: UInt64
        /// The number of partial replies received since the last credit.
        var owed: UInt64 = 0
        var onAnswer: (Answer) -> Void
    }

    private static let hello = "bus/hello"
    private let hello: [UInt8]
    /// Whether it sends and takes bodies in memory files: the bus has them for operators.
    private let takesFiles: Bool
    private var channel: FrameChannel?
    private var pending: [UInt64: Pending] = [:]
    private var lastID: UInt64 = 0
    private var farewell: BusError?
    var waiting = Waiting()

    /// Makes a client without connecting it.
    /// - Parameters:
    ///   - loop: the loop on whose thread the client is used.
    ///   - path: the path of the bus's socket.
    ///   - role: the client's role; a bus has at most one launcher.
    ///   - runtime: the program's name and version, which the bus shows; nil for none.
    public init(_ loop: Loop, path: String, as role: Role = .operator, runtime: String? = nil) {
        (self.loop, self.path) = (loop, path)
        var hello: [JSON.Member] = [.init("protocol", 1), .init("role", .string(role.rawValue))]
        takesFiles = role == .operator
        if takesFiles { hello.append(.init("memory", true)) }
        self.hello = JSON.object(hello + (runtime.map { [.init("runtime", .string($0))] } ?? [])).encoded()
    }

    deinit {
        waiting.timer?.close()
        channel?.close()
    }

    // MARK: The connection

    /// Whether there is a connection; hello may not be answered yet.
    public var isConnected: Bool { channel != nil }
    /// The longest frame and header that the bus accepts.
    public var limits: FrameLimits { welcome?.limits ?? .beforeHello }
    /// The number of queued bytes that the kernel has not taken yet.
    public var unsent: Int { channel?.unsent ?? 0 }

    /// Connects, or reconnects, and sends hello. Requests that are sent before its answer are
    /// queued after it.
    /// - Parameter onWelcome: called once, with the answer to hello.
    /// - Throws: the reason why the connection failed; `onWelcome` isn't called then.
    public func connect(_ onWelcome: @escaping (Result<Welcome, ClientError>) -> Void = { _ in }) throws(SystemError) {
        close()
        let channel = try FrameChannel(loop, path: path, limits: .beforeHello)
        (self.channel, farewell, ending) = (channel, nil, nil)
        channel.onFrame = { [unowned self] header, body in self.received(header, body) }
        channel.onRefused = { [unowned self] header, error in
            pending.removeValue(forKey: header.id)?.onAnswer(
                .failure(BusError(error.code, error.message, ran: .yes)))
        }
        channel.takesDescriptors = true
        channel.onEnd = { [unowned self] in self.ended($0) }
        send(Request(to: Self.hello, body: hello)) { [unowned self] answer in
            onWelcome(
                result(answer).flatMap { body in
                    guard let welcome = Welcome(body) else {
                        let text = "what listens at \(path) did not answer hello as a bus does"
                        return .failure(.noBus(text))
                    }
                    self.welcome = welcome
                    channel.setLimits(welcome.limits)
                    if takesFiles { channel.longestInFile = welcome.longestInFile }
                    return .success(welcome)
                })
        }
    }

    /// Closes the connection; `onEnd` is not called. Open requests are answered with `died`.
    public func close() {
        channel?.close()
        channel = nil
        failPending("this side closed the connection")
    }

    /// Writes queued bytes until the kernel takes no more. The end of the loop's round does this
    /// too.
    public func flush() { channel?.flush() }

    private func ended(_ reason: FrameChannel.Ending) {
        let last = farewell.map { "\($0)" } ?? "\(reason)"
        (channel, ending) = (nil, last)
        failPending(farewell?.message ?? "\(reason)")
        onEnd(farewell?.message ?? "\(reason)")
    }

    /// The error for a missing connection.
    var loss: ClientError {
        .noBus("the connection to the bus at \(path) ended: \(Printable.indented(ending ?? "it was closed here"))")
    }

    /// Returns an answer with its error as a `ClientError`.
    func result(_ answer: Answer) -> Result<[UInt8], ClientError> {
        answer.mapError { isConnected ? .refused($0) : loss }
    }

    // MARK: Requests

    /// Sends a request. Without a connection, it is answered with `died` at once. The client
    /// doesn't limit the bytes that the bus has not taken; see `unsent`.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - onAnswer: called once, with the final answer.
    /// - Returns: the request's id, for `cancel`.
    @discardableResult
    public func send(_ request: Request, onAnswer: @escaping (Answer) -> Void) -> UInt64 {
        lastID += 1
        let id = lastID
        guard let channel else {
            onAnswer(.failure(BusError(.died, "there is no connection to the bus")))
            return id
        }
        let file: FrameDescriptors?
        do throws(SystemError) {
            file = goesInFile(request) ? try channel.file(of: request.body) : nil
        } catch {
            onAnswer(
                .failure(BusError(.overloaded, "\(request.body.count) bytes can't go in a memory file: \(error)")))
            return id
        }
        pending[id] = Pending(
            onPartial: request.onPartial, batch: max(1, (request.credit ?? 16) / 4), onAnswer: onAnswer)
        var request = request
        if let node, request.to != Self.hello, request.kind != .broadcast { request.members.append(("node", node)) }
        let texts = request.members.reduce(request.meta.count) { $0 + $1.1.utf8.count * 6 + 64 }
        request.body.withUnsafeBytes { body in
            channel.send(
                request.kind, room: request.to.utf8.count * 6 + 64 + texts, body: file == nil ? body : .none,
                descriptors: file
            ) { writer in
                writer.integer("id", id)
                if request.kind == .open {
                    writer.string("url", request.to)
                } else if !request.to.isEmpty {
                    writer.string("to", request.to)
                }
                if let deadline = request.deadline { writer.integer("deadline", deadline) }
                if let credit = request.credit { writer.integer("credit", credit) }
                for (name, value) in request.members { writer.string(name, value) }
                if !request.meta.isEmpty { request.meta.withUnsafeBytes { writer.raw("meta", $0) } }
            }
        }
        return id
    }

    /// Whether a request's body goes in a memory file.
    func goesInFile(_ request: Request) -> Bool {
        node == nil && request.mayHaveFile && channel?.takesFile(of: request.body.count) == true
    }

    /// Calls an action whose answer is JSON.
    /// - Parameters:
    ///   - to: the action, `Interface/action`.
    ///   - params: nil for none.
    ///   - deadline: milliseconds; nil is the bus's default.
    ///   - onAnswer: called once, with the answer.
    public func ask(
        _ to: String, _ params: JSON? = nil, deadline: UInt64? = nil,
        onAnswer: @escaping (Result<JSON, ClientError>) -> Void
    ) {
        send(Request(to: to, params, deadline: deadline)) { [unowned self] answer in
            onAnswer(result(answer).flatMap { json($0, of: to) })
        }
    }

    func json(_ body: [UInt8], of to: String) -> Result<JSON, ClientError> {
        guard let json = try? JSON(parsing: body) else {
            return .failure(.unreadable("the bus's answer to \(to) is not JSON"))
        }
        return .success(json)
    }

    /// Cancels a request; its answer, `cancelled`, still comes.
    public func cancel(_ id: UInt64) { channel?.send(.cancel, room: 0) { $0.integer("id", id) } }

    /// Cancels every open request.
    public func cancelAll() {
        for id in pending.keys.sorted() { cancel(id) }
    }

    // MARK: Calls of the other side

    /// Answers a call.
    public func reply(_ id: UInt64, _ body: [UInt8] = Array("{}".utf8)) {
        body.withUnsafeBytes { body in
            channel?.send(.reply, room: 0, body: body) { $0.integer("id", id) }
        }
    }

    /// Sends a part of a call's answer, which takes one of the caller's credits.
    public func replyPartially(_ id: UInt64, _ body: [UInt8]) {
        body.withUnsafeBytes { body in
            channel?.send(.reply, room: 0, body: body) { writer in
                writer.integer("id", id)
                writer.boolean("more", true)
            }
        }
    }

    /// Answers a call with an error.
    public func fail(_ id: UInt64, _ error: BusError) {
        let room = (error.code.rawValue.utf8.count + error.message.utf8.count) * 6 + 64
        error.body.withUnsafeBytes { body in
            channel?.send(.error, room: room, body: body) { writer in
                writer.integer("id", id)
                writer.string("code", error.code.rawValue)
                writer.string("message", error.message)
                writer.string("ran", error.ran.rawValue)
            }
        }
    }

    // MARK: What comes

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
                ErrorCode(header.code.text), header.message.text, ran: header.ran, body: Array(body),
                root: BusError.Root(header.root))
            if header.members.contains(.id) {
                pending.removeValue(forKey: id)?.onAnswer(.failure(error))
            } else {
                farewell = error
            }
        case .call:
            guard let onCall else { return fail(id, BusError(.unknownAction, "an operator has no actions")) }
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
            channel?.send(.credit, room: 0) {
                $0.integer("id", id)
                $0.integer("credit", owed)
            }
            request.owed = 0
        }
        pending[id] = request
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
