/// The stage of the session between two links.
///
/// A state machine without I/O. `after` lists each legal pair of state and event; any other pair is
/// a bug in the link.
public enum PipeLife: Equatable, Sendable {
    /// There is no session.
    case idle
    /// This link has said hello.
    case greeting
    /// Both links have agreed; the connection to the own broker is being made.
    case opening
    case up
    /// Nothing but signs of life is published, and the broker isn't read.
    case stalled(Stall)
    /// The session is over; the connection to the own broker is being closed.
    case closing

    public enum Stall: Sendable, CaseIterable {
        /// Nothing was heard of the other link for a while.
        case silent
        /// The carrier says that the other link isn't there.
        case noResponders
        /// The carrier itself isn't there.
        case carrierLost
    }

    enum Event: Equatable {
        case greeted
        /// The other link says that the proposed session is over.
        case rejected
        /// The other link has welcomed, or its hello is accepted.
        case accepted
        case opened
        case stalled(Stall)
        case heard
        case ended
        /// The broker's connection is closed.
        case closed
    }

    /// Returns the state after an event; nil if the event is illegal in this state.
    func after(_ event: Event) -> PipeLife? {
        switch (self, event) {
        case (.idle, .greeted): .greeting
        case (.greeting, .rejected): .idle
        case (.idle, .accepted), (.greeting, .accepted): .opening
        case (.opening, .opened): .up
        case (.up, .stalled(let why)), (.stalled, .stalled(let why)): .stalled(why)
        case (.stalled, .heard): .up
        case (.opening, .ended), (.up, .ended), (.stalled, .ended): .closing
        case (.opening, .closed), (.up, .closed), (.stalled, .closed), (.closing, .closed): .idle
        case (.idle, .rejected), (.idle, .opened), (.idle, .stalled), (.idle, .heard), (.idle, .ended),
            (.idle, .closed),
            (.greeting, .greeted), (.greeting, .opened), (.greeting, .stalled), (.greeting, .heard),
            (.greeting, .ended), (.greeting, .closed),
            (.opening, .greeted), (.opening, .rejected), (.opening, .accepted), (.opening, .stalled),
            (.opening, .heard),
            (.up, .greeted), (.up, .rejected), (.up, .accepted), (.up, .opened), (.up, .heard),
            (.stalled, .greeted), (.stalled, .rejected), (.stalled, .accepted), (.stalled, .opened),
            (.closing, .greeted), (.closing, .rejected), (.closing, .accepted), (.closing, .opened),
            (.closing, .stalled), (.closing, .heard), (.closing, .ended):
            nil
        }
    }

    /// Moves to the state that an event leads to.
    mutating func take(_ event: Event) {
        guard let next = after(event) else { preconditionFailure("illegal transition: \(self), \(event)") }
        self = next
    }

    /// Whether pieces of the session are taken.
    var hasSession: Bool {
        switch self {
        case .opening, .up, .stalled: true
        case .idle, .greeting, .closing: false
        }
    }

    /// Whether the broker's connection is open, and the session goes on.
    public var isOpen: Bool {
        switch self {
        case .up, .stalled: true
        case .idle, .greeting, .opening, .closing: false
        }
    }
}
