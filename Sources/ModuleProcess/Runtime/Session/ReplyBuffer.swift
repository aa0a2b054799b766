internal import StrataCore

/// The caller's end of a stream: partial replies that came and weren't taken.
/// There are never more of them than credit was given.
@ModuleActor
final class ReplyBuffer {
    /// The credit that a stream begins with.
    nonisolated static let window = 16

    private var elements: [[UInt8]] = []
    private var head = 0
    private var ending: BusError??
    private var waiter: UnsafeContinuation<[UInt8]?, any Error>?
    private var taken: UInt64 = 0
    /// Makes the call where that could not be done at once.
    private var start: (() async throws -> Void)?
    /// Gives the callee credit; nil once the stream is over.
    private var giveCredit: ((UInt64) -> Void)?
    private var giveUp: (() -> Void)?

    /// Called once, at the end; nil where it is no error.
    var onEnd: ((BusError?) -> Void)?

    init() {}

    /// The call waits for a connection: it is made when it is first read.
    func postpone(_ start: @escaping () async throws -> Void) { self.start = start }

    func connect(giveCredit: @escaping (UInt64) -> Void, giveUp: @escaping () -> Void) {
        self.giveCredit = giveCredit
        self.giveUp = giveUp
    }

    func received(_ body: [UInt8]) {
        guard ending == nil else { return }
        if let waiter {
            self.waiter = nil
            take()
            waiter.resume(returning: body)
        } else {
            elements.append(body)
        }
    }

    /// The final answer; nil where it is no error. What came before is still
    /// given.
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

    /// Nobody wants the rest. A stream that has come to its end, and of which
    /// something is thrown away here, must not look whole to its reader.
    func cancel() {
        giveUp?()
        let error = BusError(.cancelled, "this side gave up on the stream", ran: .maybe)
        if head < elements.count, ending != nil { ending = .some(error) }
        elements = []
        head = 0
        ended(error)
    }

    func next() async throws -> [UInt8]? {
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

    private func wait(_ continuation: UnsafeContinuation<[UInt8]?, any Error>) {
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

    /// Half a window at a time: fewer frames than one for each element.
    private func take() {
        taken += 1
        guard taken >= Self.window / 2 else { return }
        giveCredit?(taken)
        taken = 0
    }
}
