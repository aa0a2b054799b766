import StrataCore

/// The turn whose frames the bus handles now: whether the next frame may follow, and which
/// queues refer to the bytes of the one in hand.
struct CurrentTurn {
    let scanner = HeaderScanner()
    /// The connection has something to do before the next frame.
    private(set) var isInterrupted = false
    /// The frame in hand is handled later.
    private var isPutBack = false
    /// The body of the frame in hand, where it is a large one.
    private var body = UnsafeRawBufferPointer.none
    /// The payload that borrows from it, and stands in queues.
    private(set) var lent: Payload?
    /// The peers with a payload in their queues that borrows its bytes.
    private(set) var borrowers: [Peer] = []

    mutating func begin() { isInterrupted = false }

    /// A frame with a large body is in hand.
    mutating func hold(_ body: UnsafeRawBufferPointer) { self.body = body }

    mutating func letGo() { body = .none }

    mutating func interrupt() { isInterrupted = true }

    /// The frame in hand is to be handled again, later.
    mutating func putBack() {
        isPutBack = true
        isInterrupted = true
    }

    /// The turn stops for an interruption.
    /// - Returns: whether the frame in hand is put back.
    mutating func takeInterruption() -> Bool {
        defer { isPutBack = false }
        isInterrupted = false
        return isPutBack
    }

    /// Lends a payload's bytes until the next frame, where they are those of the frame in hand.
    /// - Returns: whether they are.
    mutating func lend(_ payload: Payload) -> Bool {
        guard let start = body.baseAddress, let bytes = payload.bytes.baseAddress, bytes >= start,
            bytes < start + body.count
        else { return false }
        lent = payload
        isInterrupted = true
        return true
    }

    mutating func takeLent() -> Payload? {
        defer { lent = nil }
        return lent
    }

    mutating func borrows(_ peer: Peer) { borrowers.append(peer) }

    /// What borrows was written, as far as the connections take it.
    mutating func forgetBorrowers() { borrowers.removeAll(keepingCapacity: true) }
}

/// The event that the bus handles now: when it began, and what connections are to do at its end.
struct CurrentEvent {
    /// The clock as it was when the event began, in nanoseconds.
    private(set) var time: UInt64 = 0
    /// The same in milliseconds: deadlines and alarms go by it.
    private(set) var now: UInt64 = 0
    /// Whether a light peer is there: work that takes long goes in small pieces.
    private(set) var isShared = false
    /// In the order in which they are to be done.
    private(set) var effects: [Effect] = []

    /// - Parameters:
    ///   - time: the clock's, in nanoseconds.
    ///   - isShared: whether a light peer is there.
    mutating func begin(at time: UInt64, isShared: Bool) {
        self.time = time
        self.isShared = isShared
        now = time / 1_000_000
    }

    mutating func add(_ effect: Effect) { effects.append(effect) }

    /// All effects are done.
    mutating func settled() { effects.removeAll(keepingCapacity: true) }
}
