import StrataCore

/// One open `bus/monitor`: which frames its caller wants to see, and how many it has missed.
final class Monitor {
    /// The most monitors over all operators, because each costs every frame a little.
    static let most = 16

    /// Unretained, because a peer's monitors end before it is freed.
    let peer: Unmanaged<Peer>
    let call: CallPointer
    let wanted: Wanted
    /// Its own bit among the open monitors. A note has the bits of the monitors that it is sent to.
    let bit: UInt16
    /// The next monitor. Unretained, because the table holds all of them.
    @exclusivity(unchecked)  // because it is followed for each frame, on one thread
    var next: Unmanaged<Monitor>?
    /// Whether it wants every frame.
    let isUnfiltered: Bool
    /// How `most` is shared among edges; nil without `most`.
    let shares: FrameShares?
    /// The notes in the ring for it, which are covered by its credit.
    @exclusivity(unchecked)  // the same
    var promised: UInt64 = 0
    /// The frames that it has missed since its last note in the ring.
    @exclusivity(unchecked)  // the same
    var missed: UInt64 = 0
    /// The frames that it missed before the next note that it is sent.
    @exclusivity(unchecked)  // the same
    var missedBefore: UInt64 = 0
    /// The frames of the next note's edge that were left out before it.
    @exclusivity(unchecked)  // the same
    var leftBefore: UInt64 = 0
    /// Whether its caller has cancelled it. It is still sent what was noted before that.
    @exclusivity(unchecked)  // the same
    var isCancelled = false

    /// The frames that the caller asked for.
    struct Wanted: StatePart {
        /// Its frames are from or to this peer; nil for any.
        var module: [UInt8]?
        /// Its frames have this `name`; nil for any.
        var name: [UInt8]?
        var bodies = false
        /// The bits of the kinds that it wants; 0 for all.
        var kinds: UInt32 = 0
        /// Whether it wants only frames with a code.
        var errors = false
        /// The most frames that it is shown in a second; 0 for any number.
        var most: UInt32 = 0

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &module)
            try file(2, &name)
            try file(3, &bodies)
            try file(4, &kinds)
            try file(5, &errors)
            try file(6, &most)
        }

        /// The kinds that a frame can be shown with.
        static let kindsShown: [Header.Kind] = [.call, .open, .reply, .error, .broadcast, .report, .notice]

        static func bit(of kind: Header.Kind) -> UInt32 { 1 << UInt32(kind.rawValue) }
    }

    init(peer: Peer, call: CallPointer, wanted: Wanted, bit: UInt16) {
        self.peer = .passUnretained(peer)
        self.call = call
        self.wanted = wanted
        isUnfiltered = wanted.module == nil && wanted.name == nil && wanted.kinds == 0 && !wanted.errors
        shares = wanted.most == 0 ? nil : FrameShares(most: Int(wanted.most))
        self.bit = bit
    }

    @inline(__always)
    func wants(_ frame: borrowing MonitoredFrame) -> Bool {
        if wanted.kinds != 0, wanted.kinds & Wanted.bit(of: frame.kind) == 0 { return false }
        if wanted.errors, frame.code == nil { return false }
        if let module = wanted.module {
            guard Self.equal(module, frame.from) || Self.equal(module, frame.target) else { return false }
        }
        if let name = wanted.name {
            guard let other = frame.name, Self.equal(name, other) else { return false }
        }
        return true
    }

    /// Whether it is shown further frames.
    @inline(__always)
    var isOpen: Bool { !isCancelled && peer._withUnsafeGuaranteedRef { $0.isOpen } }

    /// Whether it has credit beyond the notes that wait in the ring.
    @inline(__always)
    var hasCredit: Bool { call.pointee.stream.credit > promised }

    /// Adds up everything that it wasn't shown and hasn't been told of.
    var untold: UInt64 { missedBefore + missed + (shares?.left ?? 0) }

    private static func equal(_ name: [UInt8], _ text: Header.Text) -> Bool {
        name.count == text.count && name.withUnsafeBytes { $0.elementsEqual(text) }
    }
}

/// When notes are formatted, and how many: monitoring is heavy work, and gets a bounded share of
/// the broker's time.
///
/// A turn begins `period` after the end of the previous one, or at once if that was longer ago. It
/// does up to `mostWork` in batches, one in each round of the loop. This type knows no notes and no
/// clock; times are milliseconds that it is given.
struct NoteTurns {
    /// The time from the end of a turn to the start of the next, in milliseconds.
    static let period: UInt64 = 10
    /// The work of one turn. A frame without body counts as 1.
    static let mostWork = 512
    /// The work of one batch while a light peer is connected (`TurnShares`).
    static let sharedBatch = 12
    /// The work of one batch while no light peer is connected.
    static let batch = 128

    /// Returns the work of a frame with a body, as the number of frames without body that take as
    /// long.
    static func work(bodyBytes: Int, values: Int) -> Int { 1 + bodyBytes / 512 + values / 4 }

    enum State: Equatable {
        /// There is nothing to format.
        case idle
        /// The next turn begins at a later time.
        case planned
        case underWay
    }

    /// The caller's next action.
    enum Action: Equatable {
        case nothing
        /// Do a batch in each round.
        case start
        /// Call `timePassed` after this many milliseconds.
        case wait(UInt64)
    }

    private(set) var state = State.idle
    private var nextTurn: UInt64 = 0
    private var done = 0

    @inline(__always) var isPlanned: Bool { state != .idle }
    var isUnderWay: Bool { state == .underWay }

    /// Notes that a frame was kept.
    @inline(__always)
    mutating func added(now: UInt64) -> Action { state == .idle ? plan(now) : .nothing }

    /// Begins the next turn, because its time has come.
    mutating func timePassed() -> Action { state == .planned ? begin() : .nothing }

    /// Counts the work of a batch.
    /// - Parameter isEmpty: whether nothing is left to format.
    mutating func worked(_ work: Int, isEmpty: Bool, now: UInt64) -> Action {
        guard state == .underWay else { return .nothing }
        done += work
        guard isEmpty || done >= Self.mostWork else { return .nothing }
        // A large body may take more than a whole turn, and the next turn is delayed accordingly.
        let periods = UInt64(max(1, (done + Self.mostWork - 1) / Self.mostWork))
        nextTurn = now + Self.period * periods
        state = .idle
        return isEmpty ? .nothing : plan(now)
    }

    /// Notes that nothing is left, because the last monitor has ended.
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
