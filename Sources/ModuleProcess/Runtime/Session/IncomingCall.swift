internal import StrataCore

/// Something that a handler of this module runs for: a request, from its
/// arrival to its answer, or a notice that nobody waits for.
@ModuleActor
final class IncomingCall {
    /// Nil for a notice that isn't answered.
    let id: UInt64?
    let scope: CallScope
    /// Nil once the connection is gone: then the answer goes nowhere.
    private weak var session: Session?
    @exclusivity(unchecked) private var task: Task<Void, Never>?
    @exclusivity(unchecked) private(set) var isOpen = true
    @exclusivity(unchecked) private(set) var isCancelled = false
    /// Partial replies that the caller still takes.
    @exclusivity(unchecked) private var credit: UInt64
    private var creditWaiter: UnsafeContinuation<Void, Never>?
    /// A step of the life cycle ends with the process alone.
    let outlivesConnection: Bool
    /// Called once, when its handler has ended.
    var onClose: () -> Void = {}

    init(id: UInt64?, scope: CallScope, credit: UInt64 = 0, session: Session, outlivesConnection: Bool = false) {
        self.id = id
        self.scope = scope
        self.credit = credit
        self.session = session
        self.outlivesConnection = outlivesConnection
    }

    /// Starts its handler, in this round of the loop.
    ///
    /// Swift 6.3 starts an immediate task with an executor preference as a job
    /// of its own. The preference is worth more than the job saved: without it
    /// the handler's first call of a nonisolated function starts threads.
    func run(_ work: @escaping @ModuleActor (IncomingCall) async throws -> Void) {
        let watch = ModuleExecutor.shared.watch
        watch.begin(scope.name)
        let task = Task.immediate(executorPreference: ModuleExecutor.shared) { @ModuleActor in
            self.scope.resumed()
            await CallScope.$current.withValue(self.scope) {
                do { try await work(self) } catch { self.fail(error) }
            }
        }
        watch.end()
        if isOpen {
            self.task = task
            if isCancelled { task.cancel() }
        }
    }

    /// The caller has gone, or gave up.
    func cancel() {
        guard isOpen, !isCancelled else { return }
        isCancelled = true
        task?.cancel()
        creditWaiter?.resume()
        creditWaiter = nil
    }

    /// The connection that it came on is gone.
    func connectionLost() {
        session = nil
        scope.forgetParent()
        if !outlivesConnection { cancel() }
    }

    // MARK: Answers

    func reply(_ body: UnsafeRawBufferPointer = .none) {
        guard isOpen else { return }
        session?.answer(self, body)
        close()
    }

    func reply(_ body: [UInt8]) { body.withUnsafeBytes { reply($0) } }

    func reply(encoding value: some Encodable) throws {
        try Coding.encode(value).withUnsafeBytes { reply($0) }
    }

    func fail(_ error: any Error) {
        guard isOpen else { return }
        if id == nil, !(error is CancellationError) {
            ModuleLog.logger.error("\(scope.name) failed, and nobody waits to be told: \(error)")
        }
        session?.answer(self, error: BusError(answering: error))
        close()
    }

    private func close() {
        isOpen = false
        task = nil
        scope.close()
        session?.close(self)
        onClose()
        onClose = {}
    }

    // MARK: Streams

    func add(credit more: UInt64) {
        let (sum, overflow) = credit.addingReportingOverflow(more)
        credit = overflow ? .max : sum
        guard credit > 0 else { return }
        creditWaiter?.resume()
        creditWaiter = nil
    }

    /// Sends one partial reply, once the caller takes one.
    func send(partial body: UnsafeRawBufferPointer) throws {
        guard isOpen, let session else { throw CancellationError() }
        try session.answer(partOf: self, body)
        credit -= 1
    }

    /// Waits until the caller takes one more.
    func waitForCredit() async throws {
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
        scope.resumed()
    }
}
