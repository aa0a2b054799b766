/// The stage of the test of a carrier's connection.
///
/// A state machine without I/O. `after` lists each legal pair of state and event; any other pair is a bug in the link.
enum FenceLife: Equatable {
    /// There is no connection.
    case away
    /// Messages of this link are on their way to itself.
    case trying
    /// The server guards the names. Another holder of this node's name still has time to say so.
    case waiting(until: UInt64)
    case open
    /// The link may not use the carrier, now or later.
    case refused

    enum Event: Equatable {
        case connected
        case disconnected
        /// This link's own claim has come back.
        case echoed(waitUntil: UInt64)
        /// Nobody else has the name.
        case admitted
        case refused
    }

    /// Returns the state after an event; nil if the event is illegal in this state.
    func after(_ event: Event) -> FenceLife? {
        switch (self, event) {
        case (.away, .connected): .trying
        case (.trying, .disconnected), (.waiting, .disconnected), (.open, .disconnected): .away
        case (.trying, .echoed(let until)): .waiting(until: until)
        case (.waiting, .admitted): .open
        case (.trying, .refused), (.waiting, .refused), (.open, .refused): .refused
        case (.refused, .connected), (.refused, .disconnected): .refused
        case (.away, .disconnected), (.away, .echoed), (.away, .admitted), (.away, .refused),
            (.trying, .connected), (.trying, .admitted),
            (.waiting, .connected), (.waiting, .echoed),
            (.open, .connected), (.open, .echoed), (.open, .admitted),
            (.refused, .echoed), (.refused, .admitted), (.refused, .refused):
            nil
        }
    }

    /// Moves to the state that an event leads to.
    mutating func take(_ event: Event) {
        guard let next = after(event) else { preconditionFailure("illegal transition: \(self), \(event)") }
        self = next
    }
}
