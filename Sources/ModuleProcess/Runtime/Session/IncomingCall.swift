internal import StrataCore
internal import StrataLoop
internal import Tracing

/// A request from its arrival to its answer, or a notice that expects no answer. A handler of this
/// module runs for it, and it is the scope of that handler's own requests.
@ModuleActor
final class IncomingCall: CallScope {
    /// The request's id; nil for a notice that expects no answer.
    let id: UInt64?
    /// The connection that it arrived on; nil once that has ended, and then the answer is dropped.
    @exclusivity(unchecked) private var session: Session?
    @exclusivity(unchecked) private var task: Task<Void, Never>?
    @exclusivity(unchecked) private(set) var isCancelled = false
    /// The number of partial replies that the caller still accepts.
    @exclusivity(unchecked) private var credit: UInt64
    private var creditWaiter: UnsafeContinuation<Void, Never>?
    /// Whether it is the broker's own call, `module/…`. Such a step of the life cycle survives the
    /// connection; only the end of the process ends it.
    let isOfBus: Bool
    /// The call's metrics and span; nil if nothing is measured.
    @exclusivity(unchecked) private var measurement: Measurement?
    /// Called once, when the handler has ended.
    var onClose: (() -> Void)?

    init(
        id: UInt64?, name: String, parent: UInt64?, deadline: UInt64?, trace: [UInt8], credit: UInt64 = 0,
        session: Session, isOfBus: Bool = false, in surroundings: any Surroundings
    ) {
        self.id = id
        self.credit = credit
        self.session = session
        self.isOfBus = isOfBus
        super.init(name: name, parent: parent, deadline: deadline, trace: trace, in: surroundings)
    }

    /// Sets the measurement that is ended with the call.
    func begin(_ measurement: Measurement) { self.measurement = measurement }

    /// Registers the call with its session, so that it can be cancelled until it ends.
    func open() { session?.open(self) }

    /// Starts the handler in this round of the loop.
    ///
    /// Swift 6.3 starts an immediate task that has an executor preference as a separate job. The
    /// preference is worth that job: without it, the handler's first call of a nonisolated function
    /// starts threads.
    func run(_ work: @escaping @ModuleActor (IncomingCall) async throws -> Void) {
        open()
        // Not with `map`: its generic result would wrap each handler once more.
        let work = if let context { Self.inside(context, work) } else { work }
        let watch = ModuleExecutor.shared.watch
        watch.begin(name)
        let task = Task.immediate(executorPreference: ModuleExecutor.shared) { @ModuleActor in
            self.begin()
            await CallScope.$current.withValue(self) {
                do { try await work(self) } catch { self.fail(error) }
            }
        }
        watch.end()
        if isOpen {
            self.task = task
            if isCancelled { task.cancel() }
        }
    }

    /// Runs a handler that never waits. It runs at once and without a task, unless the handlers of
    /// earlier frames haven't started yet; then it runs after them.
    func run<Request, Reply>(
        _ request: Request, atOnce perform: @escaping @ModuleActor (Request) throws -> Reply,
        _ reply: @escaping @ModuleActor (IncomingCall, Reply) throws -> Void
    ) {
        guard !ModuleExecutor.shared.hasJobs else {
            run { call in try reply(call, try perform(request)) }
            return
        }
        let watch = ModuleExecutor.shared.watch
        watch.begin(name)
        if let context {
            ServiceContext.$current.bind(context) { handle(request, perform, reply) }
        } else {
            handle(request, perform, reply)
        }
        watch.end()
    }

    @inline(__always)
    private func handle<Request, Reply>(
        _ request: Request, _ perform: @ModuleActor (Request) throws -> Reply,
        _ reply: @ModuleActor (IncomingCall, Reply) throws -> Void
    ) {
        CallScope.$current.bind(self) {
            do { try reply(self, try perform(request)) } catch { fail(error) }
        }
    }

    /// Wraps the work so that its spans and requests are children of the call's span.
    private static func inside(
        _ context: ServiceContext, _ work: @escaping @ModuleActor (IncomingCall) async throws -> Void
    ) -> @ModuleActor (IncomingCall) async throws -> Void {
        { call in try await ServiceContext.$current.withValue(context) { try await work(call) } }
    }

    /// Cancels the handler, because the caller gave up or its connection ended.
    func cancel() {
        guard isOpen, !isCancelled else { return }
        isCancelled = true
        task?.cancel()
        cancelAwaited()
        creditWaiter?.resume()
        creditWaiter = nil
    }

    /// Handles the end of the connection that the call arrived on.
    func connectionLost() {
        session = nil
        forgetParent()
        if !isOfBus { cancel() }
    }

    // MARK: Answers

    func reply(_ body: UnsafeRawBufferPointer = .none) {
        guard isOpen else { return }
        session?.answer(self, body)
        end(nil)
    }

    /// Replies with copies of these descriptors.
    func reply(_ body: [UInt8], with descriptors: [Descriptor]) throws(ModuleError) {
        guard isOpen else { return }
        let copies: FrameDescriptors?
        do throws(BusError) {
            copies = try FrameDescriptors.copies(of: descriptors, for: "the answer of \(name)")
        } catch {
            throw ModuleError(.failed, error.message)
        }
        body.withUnsafeBytes { session?.answer(self, $0, copies) }
        end(nil)
    }

    /// Takes the descriptors that came with the call, while it is read.
    func takeDescriptors() -> [Descriptor] { session?.takeDescriptors() ?? [] }

    func reply(_ body: [UInt8]) { Body.bytes(body).withUnsafeBytes { reply($0) } }

    /// The bytes that a reply may have.
    var longestReply: Int { session?.longestReply ?? 0 }

    func reply(encoding value: some Encodable) throws {
        try Coding.withEncoded(value) { reply($0) }
    }

    func fail(_ error: any Error) {
        guard isOpen else { return }
        if id == nil, !(error is CancellationError) {
            ModuleLog.logger.error("\(name) failed, and no caller waits for the error: \(error)")
        }
        let answer = BusError(answering: error, of: isOfBus ? "" : name)
        session?.answer(self, error: answer)
        end(answer.code)
    }

    private func end(_ code: ErrorCode?) {
        close()
        task = nil
        session?.close(self)
        session = nil
        if let measurement {
            self.measurement = nil
            measurement.ended(code)
        }
        if let onClose {
            self.onClose = nil
            onClose()
        }
    }

    // MARK: Streams

    func add(credit more: UInt64) {
        let (sum, overflow) = credit.addingReportingOverflow(more)
        credit = overflow ? .max : sum
        guard credit > 0 else { return }
        creditWaiter?.resume()
        creditWaiter = nil
    }

    /// Sends one partial reply. The caller must have credit left.
    /// - Parameter missed: How many elements were left out before it.
    func send(partial body: UnsafeRawBufferPointer, missed: Int = 0) throws {
        guard isOpen, let session else { throw CancellationError() }
        try session.answer(partOf: self, body, missed: missed)
        credit -= 1
    }

    /// Answers with an error while the handler still runs, and cancels the handler.
    func stop(_ error: any Error) {
        guard isOpen else { return }
        let task = task
        fail(error)
        task?.cancel()
        cancelAwaited()
        creditWaiter?.resume()
        creditWaiter = nil
    }

    /// Waits until the caller accepts another partial reply.
    func waitForCredit() async throws {
        let start = credit == 0 && measurement != nil ? Loop.nanoseconds : nil
        defer { if let start { measurement?.waitedForCredit(since: start) } }
        while credit == 0 && isOpen && !isCancelled {
            await withUnsafeContinuation { continuation in
                if credit > 0 || isCancelled {
                    continuation.resume()
                } else {
                    creditWaiter = continuation
                }
            }
        }
        if isCancelled { throw CancellationError() }
        resumed()
    }
}
