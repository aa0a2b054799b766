internal import StrataCore

/// The caller's end of a stream: partial replies that arrived and haven't been taken. There are
/// never more of them than credit was given.
@ModuleActor
final class ReplyBuffer {
    /// A partial reply.
    struct Part {
        var body: [UInt8]
        /// How many elements the provider left out before it.
        var missed = 0
    }

    /// The credit that the stream starts with.
    private let window: UInt64
    private var elements: [Part] = []
    private var head = 0
    private var ending: BusError??
    private var waiter: UnsafeContinuation<Part?, any Error>?
    private var taken: UInt64 = 0
    /// Makes the call if it could not be made at once.
    private var start: (() async throws -> Void)?
    /// Gives the callee credit; nil once the stream is over.
    private var giveCredit: ((UInt64) -> Void)?
    private var giveUp: (() -> Void)?

    /// Called once, at the end; the error is nil if the stream ended normally.
    var onEnd: ((BusError?) -> Void)?

    init(credit: UInt64) { window = credit }

    /// Postpones the call until the first read, because it has to wait for a connection.
    func postpone(_ start: @escaping () async throws -> Void) { self.start = start }

    func connect(giveCredit: @escaping (UInt64) -> Void, giveUp: @escaping () -> Void) {
        self.giveCredit = giveCredit
        self.giveUp = giveUp
    }

    func received(_ body: [UInt8], missed: Int) {
        guard ending == nil else { return }
        let part = Part(body: body, missed: missed)
        if let waiter {
            self.waiter = nil
            take()
            waiter.resume(returning: part)
        } else {
            elements.append(part)
        }
    }

    /// Ends the stream with its final answer. Elements that arrived before can still be read.
    /// - Parameter error: Nil if the stream ended normally.
    func ended(_ error: BusError?) {
        guard ending == nil else { return }
        ending = .some(error)
        giveCredit = nil
        giveUp = nil
        if let onEnd {
            self.onEnd = nil
            onEnd(error)
        }
        guard let waiter else { return }
        self.waiter = nil
        if let error { waiter.resume(throwing: error) } else { waiter.resume(returning: nil) }
    }

    /// Gives up the stream and drops the unread elements. If the stream had already ended, its
    /// ending becomes an error: the reader must not take it for complete.
    func cancel() {
        giveUp?()
        let error = BusError(.cancelled, "this side gave up on the stream", ran: .maybe)
        if head < elements.count, ending != nil { ending = .some(error) }
        elements = []
        head = 0
        ended(error)
    }

    func next() async throws -> Part? {
        let scope = CallScope.current
        if let start {
            self.start = nil
            do { try await start() } catch {
                ended(error as? BusError ?? BusError(.failed, "\(error)"))
                throw error
            }
        }
        let element = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { wait($0) }
        } onCancel: {
            onModuleActor { self.cancel() }
        }
        scope?.resumed()
        return element
    }

    private func wait(_ continuation: UnsafeContinuation<Part?, any Error>) {
        precondition(waiter == nil, "a stream has one reader at a time")
        if head < elements.count {
            let element = elements[head]
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            }
            take()
            continuation.resume(returning: element)
            return
        }
        switch ending {
        case .none: waiter = continuation
        case .some(.none): continuation.resume(returning: nil)
        case .some(.some(let error)): continuation.resume(throwing: error)
        }
    }

    /// Gives credit for half a window at once, which takes fewer frames than credit for each
    /// element.
    private func take() {
        taken += 1
        guard taken * 2 >= window else { return }
        giveCredit?(taken)
        taken = 0
    }
}
