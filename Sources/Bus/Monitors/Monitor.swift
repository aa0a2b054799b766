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
