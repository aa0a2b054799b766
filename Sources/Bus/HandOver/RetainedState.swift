import StrataCore

/// The state of a `RetainedBroadcast`.
struct RetainedState: StatePart {
    var terms = RetainedBroadcast.Terms()
    /// The number of the first of its notices; the others follow.
    var number: UInt64 = 0
    var names: [[UInt8]] = []
    var from: [UInt8] = []
    var level: [UInt8] = []
    var object: [UInt8]?
    var trace: [UInt8] = []
    var meta: [UInt8] = []
    /// The index of its body among the state's payloads.
    var payload = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &terms)
        try file(2, &number)
        try file(3, &names)
        try file(4, &from)
        try file(5, &level)
        try file(6, &object)
        try file(7, &trace)
        try file(8, &meta)
        try file(9, &payload)
    }
}

/// How far an observation is that is still to get retained notices.
struct RetainedWalkState: StatePart {
    /// The observer's number of the observation.
    var observation: UInt64 = 0
    var next: UInt64 = 0
    var end: UInt64 = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &observation)
        try file(2, &next)
        try file(3, &end)
    }
}

extension BusCore {
    /// Captures what modules have retained. A sample has no bodies, and so none of it.
    func captureRetained(into state: inout BrokerState, _ scope: inout CaptureScope) {
        state.next.retained = retained.next
        guard scope.isWhole else { return }
        let all = modules.all.flatMap(\.retained.all).sorted { $0.notices[0].number < $1.notices[0].number }
        for kept in all {
            let notice = kept.notice
            state.retained.append(
                RetainedState(
                    terms: kept.terms, number: kept.notices[0].number, names: kept.notices.map(\.name),
                    from: notice.from, level: notice.level, object: notice.object, trace: notice.trace,
                    meta: notice.meta, payload: scope.payloads.place(of: notice.body)))
        }
    }
}

extension Resumption {
    /// Continues with what modules have retained, before the peers observe.
    func resumeRetained() throws(StateError) {
        let all = try state.retained.map { (own) throws(StateError) in
            guard payloads.indices.contains(own.payload) else { throw StateError("a retained notice has no body") }
            guard !own.names.isEmpty else { throw StateError("a retained notice has no name") }
            let notice = KeptNotice(
                from: own.from, level: own.level, object: own.object, trace: own.trace, meta: own.meta,
                body: payloads[own.payload])
            let notices = own.names.indices.map { place in
                RetainedNotice(number: own.number + UInt64(place), own.names[...place], notice, own.terms)
            }
            return RetainedBroadcast(terms: own.terms, notices: notices, notice: notice)
        }
        bus.retained.resume(all, next: state.next.retained)
        for kept in all { try module(kept.terms.module).retained.add(kept) }
    }

    /// Continues with what a peer's observations are still to get, after they are there.
    func resumeWalks(_ state: PeerState, of peer: Peer) {
        for walk in state.retainedWalks {
            guard let observation = peer.observations.all.first(where: { $0.terms.id == walk.observation }),
                let list = bus.retained.list(for: observation.terms.target)
            else { continue }
            peer.retainedWalks.add(observation, list, from: walk.next, before: walk.end)
        }
        if !peer.retainedWalks.isEmpty { bus.work.add(retainedFor: peer) }
    }
}
