internal import StrataCore
internal import StrataLoop

/// One connection to the broker, from hello to its end. It holds this side's open requests and the
/// calls that other modules make here. The runtime handles those calls.
@ModuleActor
final class Session {
    /// The reason why the session ended.
    struct Ending {
        var reason: FrameChannel.Ending
        /// The last error that the broker sent; nil if it sent none.
        var farewell: BusError?
    }

    /// Receives each call; the body is valid during the call only.
    var onCall: (borrowing Header, UnsafeRawBufferPointer) -> Void = { _, _ in }
    var onNotice: (borrowing Header, UnsafeRawBufferPointer) -> Void = { _, _ in }
    /// Called when the broker announces that it will end the connection.
    var onFarewell: (BusError) -> Void = { _ in }
    /// Called once, after all open requests have failed.
    var onEnd: (Ending) -> Void = { _ in }

    /// Called when no unfinished handler is left, and at the end.
    @exclusivity(unchecked) var onHandlersDone: (() -> Void)?  // read at each answer, on one thread

    private(set) var limits = SessionLimits()
    @exclusivity(unchecked) private(set) var isOpen = true
    private let channel: FrameChannel
    @exclusivity(unchecked) private var requests = NumberTable<OpenRequest>()
    @exclusivity(unchecked) private var lastID: UInt64 = 0
    @exclusivity(unchecked) private var incoming = NumberTable<IncomingCall>()
    private var farewell: BusError?

    init(_ channel: FrameChannel) {
        self.channel = channel
        channel.onFrame = { [unowned self] header, body in self.received(header, body) }
        channel.onRefused = { [unowned self] header, error in self.refused(header, error) }
        channel.takesDescriptors = channel.carriesDescriptors
        channel.onEnd = { [unowned self] reason in self.ended(reason) }
        ModuleExecutor.shared.addAfterJobs(self) { [unowned channel] in channel.flush() }
    }

    /// Applies the limits from the broker's answer to hello.
    func greeted(_ limits: SessionLimits) {
        self.limits = limits
        channel.setLimits(limits.ofFrames)
        if channel.carriesDescriptors { channel.longestInFile = limits.body }
    }

    /// Whether this side takes bodies in memory files.
    var takesFiles: Bool { channel.carriesDescriptors }

    /// Takes the descriptors of the frame that is being read.
    func takeDescriptors() -> [Descriptor] { channel.takeDescriptors()?.taken() ?? [] }

    /// Ends the connection from this side.
    func close() {
        guard isOpen else { return }
        channel.flush()
        channel.close()
        ended(.closed, tell: false)
    }

    // MARK: Outgoing requests

    /// Sends a request, and registers the receiver of its answer.
    /// - Returns: The request's id.
    func request(
        _ outgoing: borrowing Outgoing, _ body: UnsafeRawBufferPointer, scope: CallScope?,
        _ receiver: OpenRequest.Receiver
    ) throws(BusError) -> UInt64 {
        let id = takeID()
        try request(outgoing, body, scope: scope, id, receiver)
        return id
    }

    /// Returns an id that no other request of the connection has.
    func takeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Sends a request under an id that `takeID` returned.
    func request(
        _ outgoing: borrowing Outgoing, _ body: UnsafeRawBufferPointer, scope: CallScope?, _ id: UInt64,
        _ receiver: OpenRequest.Receiver
    ) throws(BusError) {
        try checkRequest(outgoing, body, scope)
        let position = try write(outgoing, id: id, body, scope)
        requests.add(OpenRequest(receiver: receiver, position: position, what: outgoing.what), id)
    }

    /// Sends a request, and resumes the continuation with its answer, or with the reason why it can't be
    /// sent.
    func request(
        _ outgoing: borrowing Outgoing, _ body: Body, _ scope: CallScope?, _ id: UInt64,
        _ continuation: UnsafeContinuation<[UInt8], any Error>
    ) {
        do {
            guard !Task.isCancelled else {
                throw BusError(.cancelled, "\(outgoing.what) was cancelled before it was sent")
            }
            let outgoing = copy outgoing
            try body.withUnsafeBytes { body throws(BusError) in
                try request(outgoing, body, scope: scope, id, .once(continuation))
            }
        } catch {
            continuation.resume(throwing: error)
        }
    }

    private func checkRequest(
        _ outgoing: borrowing Outgoing, _ body: UnsafeRawBufferPointer, _ scope: CallScope?
    ) throws(BusError) {
        try check(outgoing, body, scope)
        guard requests.count < limits.calls else {
            throw BusError(
                .overloaded,
                "this module has \(requests.count) requests open, its limit, and \(outgoing.what) would be one more: "
                    + "wait for some to end, or raise limits.calls in the manifest")
        }
    }

    /// Sends a frame that gets no answer.
    func send(_ outgoing: borrowing Outgoing, _ body: UnsafeRawBufferPointer, scope: CallScope?) throws(BusError) {
        try check(outgoing, body, scope)
        _ = try write(outgoing, id: nil, body, scope)
    }

    /// Cancels a request. Its answer still arrives.
    func cancel(_ id: UInt64) {
        guard isOpen, requests[id] != nil else { return }
        channel.send(.cancel, room: 0) { $0.integer("id", id) }
    }

    /// Cancels a request and ignores its answer.
    func abandon(_ id: UInt64) {
        guard requests[id] != nil else { return }
        requests[id]?.receiver = .nobody
        cancel(id)
    }

    func give(credit: UInt64, to id: UInt64) {
        guard isOpen, requests[id] != nil else { return }
        channel.send(.credit, room: 0) {
            $0.integer("id", id)
            $0.integer("credit", credit)
        }
    }

    private func write(
        _ outgoing: borrowing Outgoing, id: UInt64?, _ body: UnsafeRawBufferPointer, _ scope: CallScope?
    ) throws(BusError) -> UInt64 {
        let trace = outgoing.$extras?.trace ?? scope?.trace ?? []
        let parent = scope?.parent
        let outgoing = copy outgoing
        let copies = try FrameDescriptors.copies(of: outgoing.descriptors, for: outgoing.what)
        var file: FrameDescriptors?
        if body.count >= FrameChannel.largeBody {
            if outgoing.mayHaveFile { file = try self.file(of: body, for: outgoing.what) }
            if file == nil { try checkQueue(outgoing, body) }
        }
        channel.send(
            outgoing.kind, room: outgoing.room(trace: trace), body: file == nil ? body : .none,
            descriptors: copies ?? file
        ) { writer in
            outgoing.write(&writer, id: id, parent: parent, trace: trace)
        }
        return channel.queued
    }

    private func check(
        _ outgoing: borrowing Outgoing, _ body: UnsafeRawBufferPointer, _ scope: CallScope?
    ) throws(BusError) {
        if let lease = outgoing.$extras?.lease { try lease.check(for: outgoing.what) }
        guard isOpen else { throw .notConnected(outgoing.what) }
        if let scope, !scope.isOpen {
            throw BusError(
                .cancelled,
                "\(outgoing.what) was requested by a task that outlived \(scope.name): start such work with "
                    + "`bus.background { }`")
        }
        try outgoing.check(trace: outgoing.$extras?.trace ?? scope?.trace ?? [], limit: limits.header)
        if channel.takesFile(of: body.count), outgoing.mayHaveFile { return }
        guard body.count <= Int(limits.frame) - 4 - Int(limits.header) else {
            let longest = outgoing.mayHaveFile ? channel.longestInFile : 0
            let most = longest > 0 ? "the bus takes \(longest)" : "a frame may have \(limits.frame) with its header"
            throw BusError(
                .tooLarge,
                "the body of \(outgoing.what) has \(body.count) bytes, and \(most): send less at once, or raise "
                    + "limits.\(longest > 0 ? "body" : "frame") in the manifest")
        }
        try checkQueue(outgoing, body)
    }

    /// Checks that the bytes of a frame may wait until the bus reads them.
    private func checkQueue(_ outgoing: borrowing Outgoing, _ body: UnsafeRawBufferPointer) throws(BusError) {
        guard channel.unsent == 0 || channel.unsent + body.count <= limits.queue else {
            throw BusError(
                .overloaded,
                "\(channel.unsent) bytes wait to be sent to the bus, and \(outgoing.what) would go beyond this "
                    + "module's limit of \(limits.queue): send more slowly, or raise limits.queue in the manifest")
        }
    }

    /// Writes a large body into a memory file.
    private func file(
        of body: UnsafeRawBufferPointer, for what: @autoclosure () -> String
    ) throws(BusError) -> FrameDescriptors? {
        do throws(SystemError) { return try channel.file(of: body) } catch {
            throw BusError(.overloaded, "the \(body.count) bytes of \(what()) can't go in a memory file: \(error)")
        }
    }

    // MARK: Answers

    /// Registers a request of another module that is being handled.
    func open(_ call: IncomingCall) {
        if let id = call.id { incoming[id] = call }
    }

    func close(_ call: IncomingCall) {
        if let id = call.id { incoming[id] = nil }
        if let onHandlersDone, !hasUnfinished { onHandlersDone() }
    }

    /// Whether a handler is running for a call that has a deadline and isn't the broker's.
    var hasUnfinished: Bool { incoming.values.contains { !$0.isOfBus && $0.deadline != nil } }

    var handlers: Int { incoming.count }

    /// The names of the running calls, as in logs.
    var unfinished: [String] { incoming.values.map(\.name) }

    /// The bytes that the body of a frame may have.
    var longestReply: Int { Int(limits.frame) - 1024 }

    func answer(_ call: IncomingCall, _ body: UnsafeRawBufferPointer, _ descriptors: FrameDescriptors? = nil) {
        guard isOpen, let id = call.id else { return }
        var file: FrameDescriptors?
        if descriptors == nil, !call.isOfBus {
            do throws(BusError) { file = try self.file(of: body, for: "the answer of \(call.name)") } catch {
                return answer(call, error: BusError(.failed, error.message, ran: .yes))
            }
        }
        guard file != nil || body.count <= longestReply else {
            answer(
                call,
                error: BusError(
                    .failed,
                    "\(call.name) answered with \(body.count) bytes, and \(max(longestReply, channel.longestInFile)) "
                        + "may be: answer with less, or in a stream", ran: .yes))
            return
        }
        channel.send(.reply, room: 0, body: file == nil ? body : .none, descriptors: descriptors ?? file) {
            $0.integer("id", id)
        }
    }

    /// Sends a partial reply.
    /// - Parameter missed: How many elements were left out before it, which its `meta` says.
    func answer(partOf call: IncomingCall, _ body: UnsafeRawBufferPointer, missed: Int) throws(ModuleError) {
        guard isOpen, let id = call.id else { return }
        guard body.count <= longestReply else {
            throw ModuleError(
                .failed,
                "an element of \(call.name) has \(body.count) bytes, and a frame may have \(limits.frame)")
        }
        channel.send(.reply, room: 0, body: body) { writer in
            writer.integer("id", id)
            writer.boolean("more", true)
            if missed > 0 {
                let meta = JSON.object([.init("missed", .integer(Int64(missed)))]).encoded()
                meta.withUnsafeBytes { writer.raw("meta", $0) }
            }
        }
    }

    func answer(_ call: IncomingCall, error: BusError) {
        if let id = call.id { answer(id, error: error) }
    }

    func answer(_ id: UInt64, error: BusError) {
        guard isOpen else { return }
        let room = (error.code.rawValue.utf8.count + error.message.utf8.count) * 6 + 64
        let fits = error.body.count <= Int(limits.frame) - Int(limits.header) - 4
        (fits ? error.body : []).withUnsafeBytes { body in
            channel.send(.error, room: room, body: body) { writer in
                writer.integer("id", id)
                writer.string("code", error.code.rawValue)
                writer.string("message", error.message)
                writer.string("ran", error.ran.rawValue)
            }
        }
    }

    func answer(_ id: UInt64) {
        guard isOpen else { return }
        channel.send(.reply, room: 0) { $0.integer("id", id) }
    }

    // MARK: Frames

    private func received(_ header: borrowing Header, _ body: UnsafeRawBufferPointer) {
        let id = header.id
        switch header.kind {
        case .call: onCall(header, body)
        case .notice: onNotice(header, body)
        case .reply where header.more:
            guard case .stream(let buffer)? = requests[id]?.receiver else { return }
            buffer.received(Array(body), missed: header.members.contains(.meta) ? Self.missed(header.meta) : 0)
        case .reply:
            guard let request = requests.take(id) else { return }
            switch request.receiver {
            case .once(let continuation): continuation.resume(returning: Array(body))
            case .callback(let receive): receive(.success(Array(body)))
            case .stream(let buffer): buffer.ended(nil)
            case .nobody: break
            }
        case .error:
            let error = BusError(
                ErrorCode(header.code.text), header.message.text, ran: header.ran, body: Array(body),
                root: BusError.Root(header.root))
            if header.members.contains(.id) {
                if let request = requests.take(id) { fail(request, error) }
            } else {
                farewell = error
                onFarewell(error)
            }
        case .cancel: incoming[id]?.cancel()
        case .credit: incoming[id]?.add(credit: header.credit)
        case .unknown, .open, .broadcast, .report: break
        }
    }

    /// Answers a request, or ends one, whose descriptors or body this process can't take.
    private func refused(_ header: borrowing Header, _ error: BusError) {
        switch header.kind {
        case .reply:
            guard let request = requests.take(header.id) else { return }
            fail(request, BusError(error.code, error.message, ran: .yes))
        default: answer(header.id, error: error)
        }
    }

    /// Returns how many elements a partial reply's `meta` says were left out before it.
    private static func missed(_ meta: UnsafeRawBufferPointer) -> Int {
        max(0, (try? JSON(parsing: Array(meta)))?["missed"]?.integer.map { Int(clamping: $0) } ?? 0)
    }

    private func fail(_ request: OpenRequest, _ error: BusError) {
        switch request.receiver {
        case .once(let continuation): continuation.resume(throwing: error)
        case .callback(let receive): receive(.failure(error))
        case .stream(let buffer): buffer.ended(error)
        case .nobody: break
        }
    }

    private func ended(_ reason: FrameChannel.Ending, tell: Bool = true) {
        guard isOpen else { return }
        isOpen = false
        ModuleExecutor.shared.removeAfterJobs(self)
        let written = channel.written
        let calls = incoming.values
        incoming.removeAll()
        for call in calls { call.connectionLost() }
        onHandlersDone?()
        let failed = requests.values
        requests.removeAll()
        for request in failed {
            let delivered = request.position <= written
            fail(
                request,
                BusError(
                    .died,
                    "the connection to the bus ended before \(request.what) was answered: "
                        + (farewell?.message ?? reason.description),
                    ran: delivered ? .maybe : .no))
        }
        let onEnd = onEnd
        onCall = { _, _ in }
        onNotice = { _, _ in }
        onFarewell = { _ in }
        self.onEnd = { _ in }
        if tell { onEnd(Ending(reason: reason, farewell: farewell)) }
    }
}

extension BusError {
    static func notConnected(_ what: String) -> BusError {
        BusError(
            .unavailable,
            "\(what) was not sent: this module has no connection to the bus at the moment; it is "
                + "connecting again, or ending")
    }
}
