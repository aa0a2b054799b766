import StrataOperator

/// A question to the bus. While it is open, others who ask it wait for the same answer. It fails if the
/// bus doesn't answer within 2 s.
final class SharedQuestion<Value: Sendable> {
    /// How long the bus may take, in milliseconds.
    static var patience: UInt64 { 2_000 }

    private let loop: Loop
    private let send: (@escaping (Value?) -> Void) -> Void
    private var waiting: [@Sendable (Value?) -> Void] = []
    private var timer: LoopTimer?
    /// Whether the bus owes an answer. A bus that hangs is asked once, however many ask here.
    private var isSent = false

    /// - Parameter send: asks the bus, and gives the answer; nil for an error.
    init(_ loop: Loop, send: @escaping (@escaping (Value?) -> Void) -> Void) {
        (self.loop, self.send) = (loop, send)
        timer = LoopTimer(loop) { [unowned self] in answer(nil) }
    }

    /// Asks, or waits for the answer to a question that is open.
    /// - Parameters:
    ///   - isConnected: whether there is a bus now; if not, `connected` asks it.
    ///   - onAnswer: called once; gets nil if the bus doesn't answer in time.
    func ask(isConnected: Bool, _ onAnswer: @escaping @Sendable (Value?) -> Void) {
        waiting.append(onAnswer)
        if waiting.count == 1 {
            loop.updateTime()
            timer?.start(after: Self.patience)
        }
        if isConnected { connected() }
    }

    /// Asks the bus if somebody waits.
    func connected() {
        guard !waiting.isEmpty, !isSent else { return }
        isSent = true
        send { [unowned self] value in
            isSent = false
            answer(value)
        }
    }

    private func answer(_ value: Value?) {
        timer?.stop()
        let waiting = waiting
        self.waiting = []
        for onAnswer in waiting { onAnswer(value) }
    }
}
