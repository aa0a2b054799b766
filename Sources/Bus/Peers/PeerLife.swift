/// The stage of a connection's life, and whether it is read.
///
/// A state machine without I/O. `after` lists each legal pair of state and event; any other pair is
/// a bug in the bus. docs/architecture.md shows its diagram.
enum PeerLife: Equatable {
    /// It has not said hello yet.
    case greeting
    /// Its hello has a token that the launcher has not vouched for yet. It isn't read.
    case waitingForVouch
    case open(Reading)
    /// The bus has ended it; its queued bytes still go out.
    case ending
    case closed

    /// Whether an open connection is read, and if not, why.
    enum Reading: UInt8, CaseIterable {
        case read
        /// It isn't read, because it doesn't read its own answers.
        case answersUnread
        /// It isn't read until work in batches is done: its own fan-out or listing, or a fan-out
        /// that its next broadcast must not overtake.
        case idleWork
    }

    enum Event: Equatable {
        /// Its hello now waits for the launcher's vouch.
        case vouchAwaited
        /// The launcher has vouched for the row, or the row was removed: the hello is judged again.
        case vouched
        /// Its hello was accepted.
        case admitted
        /// It isn't read for the time being.
        case paused(Reading)
        case resumed
        /// The bus ends it.
        case ended
        case closed
    }

    /// Returns the state after an event; nil if the event is illegal in this state.
    func after(_ event: Event) -> PeerLife? {
        switch (self, event) {
        case (.greeting, .vouchAwaited): .waitingForVouch
        case (.waitingForVouch, .vouched): .greeting
        case (.greeting, .admitted): .open(.read)
        case (.open(.read), .paused(.answersUnread)), (.open(.idleWork), .paused(.answersUnread)): .open(.answersUnread)
        case (.open(.read), .paused(.idleWork)): .open(.idleWork)
        case (.open(.answersUnread), .resumed), (.open(.idleWork), .resumed): .open(.read)
        case (.greeting, .ended), (.waitingForVouch, .ended), (.open, .ended): .ending
        case (.greeting, .closed), (.waitingForVouch, .closed), (.open, .closed), (.ending, .closed): .closed
        case (.greeting, .vouched), (.greeting, .paused), (.greeting, .resumed), (.waitingForVouch, .vouchAwaited),
            (.waitingForVouch, .admitted), (.waitingForVouch, .paused), (.waitingForVouch, .resumed),
            (.open, .vouchAwaited), (.open, .vouched), (.open, .admitted), (.open, .paused),
            (.open(.read), .resumed), (.ending, .vouchAwaited), (.ending, .vouched), (.ending, .admitted),
            (.ending, .paused), (.ending, .resumed), (.ending, .ended), (.closed, _):
            nil
        }
    }

    /// Moves to the state that an event leads to.
    mutating func take(_ event: Event) {
        guard let next = after(event) else { preconditionFailure("illegal transition: \(self), \(event)") }
        self = next
    }

    /// Whether it has a session: it has said hello and hasn't ended.
    @inline(__always) var isOpen: Bool { if case .open = self { true } else { false } }

    /// Whether its next frame may be handled.
    @inline(__always) var isRead: Bool { self == .open(.read) || self == .greeting }

    /// Whether none of its frames are handled any more.
    var isOver: Bool { self == .ending || self == .closed }
}
