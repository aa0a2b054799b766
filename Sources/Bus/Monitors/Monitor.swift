import StrataCore

/// One open `bus/monitor`: which frames its caller wants to see, and how many
/// of them it didn't get since the last one that it got.
final class Monitor {
    /// How many may be open at once, over all operators: each costs every frame
    /// a little.
    static let most = 16

    /// Unretained, because a peer's monitors go before it does.
    let peer: Unmanaged<Peer>
    let call: CallPointer
    let wanted: Wanted
    /// Its place among the open ones, one bit: notes name the monitors that are sent them.
    let bit: UInt16
    /// The one that was opened after it; unretained, because the bus holds them all.
    @exclusivity(unchecked)  // because it is followed for each frame, on one thread
    var next: Unmanaged<Monitor>?
    /// Every frame is wanted.
    let isUnfiltered: Bool
    /// Notes in the ring that it is sent. Its credit covers them.
    @exclusivity(unchecked)  // the same
    var promised: UInt64 = 0
    /// Frames that it misses since the last note that it is sent.
    @exclusivity(unchecked)  // the same
    var missed: UInt64 = 0
    /// Frames that it missed before the next note of the ring that it is sent.
    @exclusivity(unchecked)  // the same
    var missedBefore: UInt64 = 0

    /// What the caller asked for.
    struct Wanted: StatePart {
        /// Only frames from or to this peer.
        var module: [UInt8]?
        /// Only frames with this `name`.
        var name: [UInt8]?
        var bodies = false

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &module)
            try file(2, &name)
            try file(3, &bodies)
        }
    }

    init(peer: Peer, call: CallPointer, wanted: Wanted, bit: UInt16) {
        self.peer = .passUnretained(peer)
        self.call = call
        self.wanted = wanted
        isUnfiltered = wanted.module == nil && wanted.name == nil
        self.bit = bit
    }

    @inline(__always)
    func wants(_ frame: borrowing MonitoredFrame) -> Bool {
        if let module = wanted.module {
            guard Self.equal(module, frame.from) || Self.equal(module, frame.target) else { return false }
        }
        if let name = wanted.name {
            guard let other = frame.name, Self.equal(name, other) else { return false }
        }
        return true
    }

    @inline(__always)
    var isOpen: Bool { peer._withUnsafeGuaranteedRef { $0.isOpen } }

    /// Whether it has credit for one more frame than wait in the ring.
    @inline(__always)
    var hasCredit: Bool { call.pointee.stream.credit > promised }

    private static func equal(_ name: [UInt8], _ text: Header.Text) -> Bool {
        name.count == text.count && name.withUnsafeBytes { $0.elementsEqual(text) }
    }
}

/// When notes are formatted, and how many of them: a monitor is heavy work, and has a
/// bounded share of the broker's time.
///
/// A turn begins `period` after the end of the one before it, or at once where that is
/// long ago. It has `mostWork`, done in pieces, one a round of the loop. Knows no notes and no clock:
/// times are milliseconds that it is given.
struct NoteTurns {
    /// From one turn's end to the next one's begin, in milliseconds.
    static let period: UInt64 = 10
    /// The work of one turn: a frame without body is 1.
    static let mostWork = 512
    /// The work of one batch while somebody light is there (`TurnShares`).
    static let sharedBatch = 12
    /// The same where nobody is.
    static let batch = 128

    /// The work of a frame with a body: as long as formatting that many frames takes.
    static func work(bodyBytes: Int, values: Int) -> Int { 1 + bodyBytes / 512 + values / 4 }

    enum State: Equatable {
        /// There is nothing to format.
        case idle
        /// The next turn begins at a time.
        case planned
        case underWay
    }

    /// What is to be done now.
    enum Action: Equatable {
        case nothing
        /// Work a batch in each round.
        case start
        /// Call `timePassed` in so many milliseconds.
        case wait(UInt64)
    }

    private(set) var state = State.idle
    private var nextTurn: UInt64 = 0
    private var done = 0

    @inline(__always) var isPlanned: Bool { state != .idle }
    var isUnderWay: Bool { state == .underWay }

    /// A frame was kept.
    @inline(__always)
    mutating func added(now: UInt64) -> Action { state == .idle ? plan(now) : .nothing }

    /// The time of the next turn has come.
    mutating func timePassed() -> Action { state == .planned ? begin() : .nothing }

    /// A batch was worked.
    /// - Parameter isEmpty: whether nothing is left to format.
    mutating func worked(_ work: Int, isEmpty: Bool, now: UInt64) -> Action {
        guard state == .underWay else { return .nothing }
        done += work
        guard isEmpty || done >= Self.mostWork else { return .nothing }
        // One large body may take more than a turn has: the next turn comes that much later.
        let periods = UInt64(max(1, (done + Self.mostWork - 1) / Self.mostWork))
        nextTurn = now + Self.period * periods
        state = .idle
        return isEmpty ? .nothing : plan(now)
    }

    /// Nothing is left: the last monitor has ended.
    mutating func emptied() { state = .idle }

    private mutating func plan(_ now: UInt64) -> Action {
        guard now < nextTurn else { return begin() }
        state = .planned
        return .wait(nextTurn - now)
    }

    private mutating func begin() -> Action {
        state = .underWay
        done = 0
        return .start
    }
}
