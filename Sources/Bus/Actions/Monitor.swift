import StrataCore

/// One open `bus/monitor`: which frames its caller wants to see, and how many
/// of them it didn't get since the last one that it got.
final class Monitor {
    /// How many may be open at once, over all operators: each costs every frame
    /// a little.
    static let most = 16

    unowned(unsafe) let peer: Peer  // because a peer's monitors go before it does
    let call: CallPointer
    let wanted: Wanted
    var missed: UInt64 = 0

    /// What the caller asked for.
    struct Wanted {
        /// Only frames from or to this peer.
        var module: String?
        /// Only frames with this `name`.
        var name: String?
        var bodies = false
    }

    init(peer: Peer, call: CallPointer, wanted: Wanted) {
        self.peer = peer
        self.call = call
        self.wanted = wanted
    }

    func wants(_ frame: MonitoredFrame) -> Bool {
        if let module = wanted.module, module != frame.from, module != frame.target { return false }
        if let name = wanted.name, name != frame.name { return false }
        return true
    }
}
