/// What kind of request one is, and where it is.
///
/// A state machine without I/O. `after` lists each legal pair of state and event; any other is a
/// mistake of the bus's. docs/architecture.md shows its diagram. It is two bytes in a `Call`, and
/// `take` checks in debug builds alone: three events pass for each call.
struct RequestLife: Equatable {
    enum Kind: UInt8, CaseIterable {
        /// A caller's call or open, for an owner of an interface.
        case call
        /// A caller's report, answered when its notices are.
        case report
        /// One observation's part of a report.
        case notice
        /// A call of the bus's own.
        case own
        /// A request that the bus answers itself, later or in parts.
        case served
    }

    enum State: UInt8, CaseIterable {
        case free
        /// Waits for its module to be ready.
        case held
        /// Queued to its callee, or written.
        case sent
        /// Waits on something inside the bus.
        case inside
    }

    enum Event: Equatable {
        case opened(Kind)
        /// Its module isn't ready: it waits, as a copy.
        case held
        /// It waits no more: its module is ready, or it was allowed.
        case released
        /// It stands in its callee's queue.
        case sent
        /// It was answered, or has failed.
        case ended
    }

    private(set) var kind = Kind.call
    private(set) var state = State.free

    /// The state that an event leads to; nil where the event is illegal in this state.
    func after(_ event: Event) -> RequestLife? {
        switch (state, event, kind) {
        case (.free, .opened(let kind), _): RequestLife(kind: kind, state: .inside)
        case (.inside, .held, .call), (.inside, .held, .report): RequestLife(kind: kind, state: .held)
        // A call that is inside and has a copy waits for the authorizer.
        case (.held, .released, _), (.inside, .released, .call): RequestLife(kind: kind, state: .inside)
        case (.inside, .sent, .call), (.inside, .sent, .notice), (.inside, .sent, .own):
            RequestLife(kind: kind, state: .sent)
        case (.sent, .ended, _), (.inside, .ended, _): RequestLife(kind: kind, state: .free)
        case (.free, _, _), (.held, .opened, _), (.held, .held, _), (.held, .sent, _), (.held, .ended, _),
            (.sent, .opened, _),
            (.sent, .held, _), (.sent, .released, _), (.sent, .sent, _), (.inside, .opened, _), (.inside, .held, _),
            (.inside, .released, _), (.inside, .sent, _):
            nil
        }
    }

    /// Goes where an event leads.
    @inline(__always)
    mutating func take(_ event: Event) {
        assert(after(event) != nil, "illegal transition: \(self), \(event)")
        switch event {
        case .opened(let kind): (self.kind, state) = (kind, .inside)
        case .held: state = .held
        case .released: state = .inside
        case .sent: state = .sent
        case .ended: state = .free
        }
    }
}

extension RequestLife: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &kind)
        try file(2, &state)
    }
}
