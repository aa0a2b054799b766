/// The kind of a request, and the stage of its life.
///
/// A state machine without I/O. `after` lists each legal pair of state and event; any other pair is
/// a bug in the bus. docs/architecture.md shows its diagram. It takes two bytes in a `Call`. `take`
/// checks only in debug builds, because each call goes through three events.
struct RequestLife: Equatable {
    enum Kind: UInt8, CaseIterable {
        /// A caller's call or open, for an interface's owner.
        case call
        /// A caller's report, which is answered when its notices are.
        case report
        /// The part of a report that goes to one observation.
        case notice
        /// One of the bus's own calls.
        case own
        /// A request that the bus itself answers, later or in parts.
        case served
    }

    enum State: UInt8, CaseIterable {
        case free
        /// It waits for its module to be ready.
        case held
        /// It is in its callee's queue, or was written.
        case sent
        /// It waits for something inside the bus.
        case inside
    }

    enum Event: Equatable {
        case opened(Kind)
        /// Its module isn't ready, so it waits as a copy.
        case held
        /// It waits no longer: its module is ready, or it was authorized.
        case released
        /// It is in its callee's queue.
        case sent
        /// It was answered, or it failed.
        case ended
    }

    private(set) var kind = Kind.call
    private(set) var state = State.free

    /// Returns the state after an event; nil if the event is illegal in this state.
    func after(_ event: Event) -> RequestLife? {
        switch (state, event, kind) {
        case (.free, .opened(let kind), _): RequestLife(kind: kind, state: .inside)
        case (.inside, .held, .call), (.inside, .held, .report): RequestLife(kind: kind, state: .held)
        // A call that is `inside` and has a copy is waiting for the authorizer.
        // A `create` that has a copy is waiting for its owner.
        case (.held, .released, _), (.inside, .released, .call), (.inside, .released, .served):
            RequestLife(kind: kind, state: .inside)
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

    /// Moves to the state that an event leads to.
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
