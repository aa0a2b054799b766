import StrataCore

/// One open `bus/traffic`.
struct TrafficStream {
    /// The most streams over all operators.
    static let most = 4

    /// Unretained, because a peer's streams end before it is freed.
    let peer: Unmanaged<Peer>
    let call: CallPointer
    /// Its own bit among the open streams.
    let bit: UInt8
}

/// The open `bus/traffic` streams, and what is counted for them.
struct TrafficTable {
    private(set) var streams: [TrafficStream] = []
    /// What is counted; nil while no stream is open. Memory of its own, because it is used for each
    /// frame.
    private(set) var edges: UnsafeMutablePointer<EdgeTable>?
    private var lastNumber: UInt32 = 0
    private var lastEpoch: UInt32 = 0
    var turn = TrafficTurn()

    /// Whether frames are counted.
    @inline(__always) var isOn: Bool { edges != nil }

    /// - Parameter time: microseconds since 1970.
    mutating func add(of peer: Peer, _ call: CallPointer, time: UInt64) {
        if edges == nil {
            lastNumber = EdgeReference.next(after: lastNumber)
            let table = UnsafeMutablePointer<EdgeTable>.allocate(capacity: 1)
            lastEpoch += 1
            table.initialize(to: EdgeTable(number: lastNumber, epoch: lastEpoch, since: time))
            edges = table
        }
        // The lowest free bit.
        let taken = streams.reduce(0) { $0 | $1.bit }
        let bit = ~taken & (taken &+ 1)
        streams.append(TrafficStream(peer: .passUnretained(peer), call: call, bit: bit))
        edges?.pointee.add(stream: bit)
    }

    /// Makes what peers keep of the table void.
    mutating func forgetRecent() {
        lastEpoch += 1
        edges?.pointee.epoch = lastEpoch
    }

    func hasStreams(of peer: Peer) -> Bool {
        streams.contains { $0.peer.toOpaque() == Unmanaged.passUnretained(peer).toOpaque() }
    }

    func isOpen(_ call: CallPointer) -> Bool { streams.contains { $0.call == call } }

    /// Ends the stream that belongs to a call, if there is one. With the last stream, everything
    /// that was counted is forgotten.
    mutating func remove(_ call: CallPointer) {
        guard let index = streams.firstIndex(where: { $0.call == call }) else { return }
        let ended = streams.remove(at: index)
        edges?.pointee.remove(stream: ended.bit)
        turn.streamEnded(ended.bit)
        guard streams.isEmpty else { return }
        edges?.deinitialize(count: 1)
        edges?.deallocate()
        edges = nil
        turn.emptied()
    }

    // MARK: Turns

    mutating func plan(now: UInt64) -> TrafficTurn.Action {
        edges?.pointee.isPlanned = true
        return turn.plan(now: now)
    }

    mutating func timePassed() { turn.timePassed() }

    mutating func ended(now: UInt64) {
        edges?.pointee.isPlanned = false
        turn.ended(now: now)
    }
}

/// When streams are told what has changed. A turn begins `period` after the end of the one before,
/// or at once if that was longer ago. It goes through the streams, and through each one's changed
/// edges, in batches.
///
/// This type knows no clock; times are milliseconds that it is given.
struct TrafficTurn {
    /// The time from the end of a turn to the start of the next, in milliseconds.
    static let period: UInt64 = 100
    /// The most edges that one partial reply tells of.
    static let mostTold = 256
    /// The most bytes of a partial reply that is then sent, but for one edge more.
    static let mostBytes = 24 << 10
    /// The edges that are told in a batch.
    static let batch = 256
    /// The same while a light peer is connected: some ten microseconds of work.
    static let sharedBatch = 24

    enum State: Equatable { case idle, planned, underWay }

    /// The caller's next action.
    enum Action: Equatable {
        /// Do a batch in each round.
        case start
        /// Call `timePassed` after this many milliseconds.
        case wait(UInt64)
    }

    private(set) var state = State.idle
    private var next: UInt64 = 0
    /// The bits of the streams that are still to be told.
    private(set) var left: UInt8 = 0
    /// The edge from which the first of them continues.
    var place = 0
    /// The reply that is being made, and the edges that it tells of.
    var bytes: [UInt8] = []
    var told: [Int] = []

    var isUnderWay: Bool { state == .underWay }

    mutating func plan(now: UInt64) -> Action {
        guard state == .idle else { return .start }
        guard now < next else {
            begin()
            return .start
        }
        state = .planned
        return .wait(next - now)
    }

    mutating func timePassed() { if state == .planned { begin() } }

    /// The stream that is told now; 0 if the turn is done.
    var stream: UInt8 { left & (0 &- left) }

    /// Goes on to the next stream.
    mutating func streamDone() {
        left &= ~stream
        place = 0
        startReply()
    }

    /// Forgets what the last reply told, and keeps its memory.
    mutating func startReply() {
        told.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func streamEnded(_ bit: UInt8) { if bit == stream { streamDone() } else { left &= ~bit } }

    mutating func ended(now: UInt64) {
        state = .idle
        next = now + Self.period
    }

    mutating func emptied() { self = TrafficTurn(next: next) }

    init() {}

    private init(next: UInt64) { self.next = next }

    private mutating func begin() {
        state = .underWay
        (left, place) = (.max, 0)
        startReply()
    }
}
