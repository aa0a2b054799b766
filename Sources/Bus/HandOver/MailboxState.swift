import StrataCore

/// The state of a `Mailbox`. Which observations it takes follows from the row and its session.
struct MailboxState: StatePart {
    var missed: UInt64 = 0
    var gaps: [GapState] = []
    var held: [HeldNoticeState] = []
    /// The held notices that a ready session still gets, instead of `held`. A build that delivers
    /// all of them at once can't continue with them, and skips them.
    var owed: [HeldNoticeState] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &missed)
        try file(2, &gaps)
        try file(3, &held)
        try file(4, &owed)
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
    var deliveredTo: UInt64 = 0
    /// The name that it is delivered under; empty if it is the target's.
    var name: [UInt8] = []

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
        try file(11, &deliveredTo)
        try file(12, &name)
    }
}

extension Mailbox {
    /// - Parameters:
    ///   - isWhole: false for a sample, which has no bodies and so no notices.
    ///   - isOwed: whether a ready session still gets the notices.
    func capture(_ payloads: inout PayloadList, isWhole: Bool, isOwed: Bool) -> MailboxState {
        var state = MailboxState()
        state.missed = missed
        state.gaps = gaps.map { GapState(target: $0.target, gap: $0.gap) }
        guard isWhole else { return state }
        let notices = held.map { notice in
            let kept = notice.notice
            return HeldNoticeState(
                target: notice.observation.target, from: kept.from, level: kept.level, object: kept.object,
                trace: kept.trace, meta: kept.meta, payload: payloads.place(of: kept.body), rank: notice.rank,
                textCost: notice.textCost, missed: notice.missed, deliveredTo: notice.deliveredTo,
                name: notice.name == notice.observation.target.name ? [] : notice.name)
        }
        if isOwed { state.owed = notices } else { state.held = notices }
        return state
    }

    /// Continues with the state, after the observations are there.
    mutating func resume(_ state: MailboxState, _ payloads: [Payload]) throws(StateError) {
        for gap in state.gaps { observations.first { $0.target == gap.target }?.gap = gap.gap }
        let held = try (state.held + state.owed).map { (own) throws(StateError) in
            guard payloads.indices.contains(own.payload) else { throw StateError("a held notice has no body") }
            guard let observation = observations.first(where: { $0.wakes && $0.target == own.target }) else {
                throw StateError("a notice is held, and its observation wakes nobody")
            }
            let notice = KeptNotice(
                from: own.from, level: own.level, object: own.object, trace: own.trace, meta: own.meta,
                body: payloads[own.payload])
            return HeldNotice(
                observation: observation, name: own.name.isEmpty ? own.target.name : own.name, notice: notice,
                rank: own.rank, textCost: own.textCost, missed: own.missed,
                deliveredTo: own.deliveredTo)
        }
        resume(missed: state.missed, held)
    }
}
