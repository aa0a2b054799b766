import StrataCore

/// The state of a `Mailbox`. Which observations it takes follows from the row and its session.
struct MailboxState: StatePart {
    var missed: UInt64 = 0
    var gaps: [GapState] = []
    var held: [HeldNoticeState] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &missed)
        try file(2, &gaps)
        try file(3, &held)
    }
}

/// How many notices of an observation were lost.
struct GapState: StatePart {
    var target = Observation.Target()
    var gap = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &target)
        try file(2, &gap)
    }
}

/// The state of a `HeldNotice`.
struct HeldNoticeState: StatePart {
    var target = Observation.Target()
    var from: [UInt8] = []
    var level: [UInt8] = []
    var object: [UInt8]?
    var trace: [UInt8] = []
    var meta: [UInt8] = []
    /// The index of its body among the state's payloads.
    var payload = 0
    var rank = 0
    var textCost = 0
    var missed = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &target)
        try file(2, &from)
        try file(3, &level)
        try file(4, &object)
        try file(5, &trace)
        try file(6, &meta)
        try file(7, &payload)
        try file(8, &rank)
        try file(9, &textCost)
        try file(10, &missed)
    }
}

extension Mailbox {
    /// - Parameter isWhole: false for a sample, which has no bodies and so no notices.
    func capture(_ payloads: inout PayloadList, isWhole: Bool) -> MailboxState {
        var state = MailboxState()
        state.missed = missed
        state.gaps = gaps.map { GapState(target: $0.target, gap: $0.gap) }
        guard isWhole else { return state }
        for notice in held {
            let kept = notice.notice
            state.held.append(
                HeldNoticeState(
                    target: notice.observation.target, from: kept.from, level: kept.level, object: kept.object,
                    trace: kept.trace, meta: kept.meta, payload: payloads.place(of: kept.body), rank: notice.rank,
                    textCost: notice.textCost, missed: notice.missed))
        }
        return state
    }

    /// Continues with the state, after the observations are there.
    mutating func resume(_ state: MailboxState, _ payloads: [Payload]) throws(StateError) {
        for gap in state.gaps { observations.first { $0.target == gap.target }?.gap = gap.gap }
        let held = try state.held.map { (own) throws(StateError) in
            guard payloads.indices.contains(own.payload) else { throw StateError("a held notice has no body") }
            guard let observation = observations.first(where: { $0.wakes && $0.target == own.target }) else {
                throw StateError("a notice is held, and its observation wakes nobody")
            }
            let notice = KeptNotice(
                from: own.from, level: own.level, object: own.object, trace: own.trace, meta: own.meta,
                body: payloads[own.payload])
            return HeldNotice(
                observation: observation, notice: notice, rank: own.rank, textCost: own.textCost, missed: own.missed)
        }
        resume(missed: state.missed, held)
    }
}
