import StrataCore

/// The turn whose frames the bus is handling: whether the next frame may follow, and which queues
/// refer to the bytes of the current frame.
struct CurrentTurn {
    let scanner = HeaderScanner()
    /// Whether the connection has something to do before the next frame.
    private(set) var isInterrupted = false
    /// Whether the current frame is to be handled later.
    private var isPutBack = false
    /// The body of the current frame if it is large, else none.
    private var body = UnsafeRawBufferPointer.none
    /// The queued payload that borrows its bytes from `body`.
    private(set) var lent: Payload?
    /// Keeps the descriptors of the current frame.
    private var ownDescriptors: FrameDescriptors?
    /// The descriptors of the current frame; nil for nearly all frames. Unretained, because each call
    /// looks at it.
    private(set) var descriptors: Unmanaged<FrameDescriptors>?
    /// The peers whose queues contain a payload with borrowed bytes.
    private(set) var borrowers: [Peer] = []

    mutating func begin() { isInterrupted = false }

    /// Notes that the current frame has a large body.
    mutating func hold(_ body: UnsafeRawBufferPointer) { self.body = body }

    mutating func letGo() { body = .none }

    /// Takes the current frame's descriptors. They are closed behind the frame, unless a queue keeps
    /// them or the frame is put back.
    mutating func take(_ descriptors: FrameDescriptors) {
        ownDescriptors = descriptors
        self.descriptors = .passUnretained(descriptors)
        isInterrupted = true
    }

    /// Notes that the current frame goes on with other bytes than those of its body in a file.
    mutating func hasReadBody() {
        if let ownDescriptors, ownDescriptors.bodyCount > 0 { descriptors = nil }
    }

    /// Ends the current frame's hold on its descriptors.
    mutating func releaseDescriptors() -> FrameDescriptors? {
        defer { (ownDescriptors, descriptors) = (nil, nil) }
        return ownDescriptors
    }

    mutating func interrupt() { isInterrupted = true }

    /// Puts the current frame back, to be handled again later.
    mutating func putBack() {
        isPutBack = true
        isInterrupted = true
    }

    /// Stops the turn for an interruption.
    /// - Returns: whether the current frame is put back.
    mutating func takeInterruption() -> Bool {
        defer { isPutBack = false }
        isInterrupted = false
        return isPutBack
    }

    /// Lends a payload's bytes until the next frame, if they are part of the current frame.
    /// - Returns: whether they are.
    mutating func lend(_ payload: Payload) -> Bool {
        // Other borrowed bytes are not in memory of this turn, so the turn cannot keep them.
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

    /// Forgets the borrowers, whose queues were written as far as the connections take them.
    mutating func forgetBorrowers() { borrowers.removeAll(keepingCapacity: true) }
}

/// The event that the bus is handling: when it began, and what the connections must do at its end.
struct CurrentEvent {
    /// The clock as it was when the event began, in nanoseconds.
    private(set) var time: UInt64 = 0
    /// The same time in milliseconds, which deadlines and alarms use.
    private(set) var now: UInt64 = 0
    /// Whether a light peer is connected: if so, long work is done in small batches.
    private(set) var isShared = false
    /// The effects, in the order in which they must be done.
    private(set) var effects: [Effect] = []
    /// The number of modules that the launcher was asked to start.
    private var starts = 0

    /// - Parameters:
    ///   - time: the clock's time, in nanoseconds.
    ///   - isShared: whether a light peer is connected.
    mutating func begin(at time: UInt64, isShared: Bool) {
        self.time = time
        self.isShared = isShared
        now = time / 1_000_000
        starts = 0
    }

    /// - Returns: the number of starts that were asked for, with this one.
    mutating func countStart() -> Int {
        starts += 1
        return starts
    }

    mutating func add(_ effect: Effect) { effects.append(effect) }

    /// Notes that all effects are done.
    mutating func settled() { effects.removeAll(keepingCapacity: true) }
}
