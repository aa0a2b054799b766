import StrataCore

/// `bus/handOver`: the program is replaced, and the bus continues in the next one.
extension BusCore {
    /// Begins the replacement. The next program answers the call; if there is none, this one
    /// answers with the reason.
    func handOver(_ asked: BusCall) throws(BusError) {
        try require(
            !asked.peer.isRemote, .forbidden,
            "a broker is replaced by operators of its own node, because its connections to other nodes end with it")
        guard stage == .running else { throw BusError(.shuttingDown, "the app is ending") }
        guard replacement.isPossible else {
            throw BusError(
                .unavailable, "this broker is a part of another program: only strata-broker can be replaced")
        }
        let call = try open(asked)
        // If it ends early, `ran` must be `maybe`, because the program may have been replaced.
        call.pointee.stream.wasPassedOn = true
        replacement.add(CallReference(call))
        event.add(.replaceProgram)
    }

    func notHandedOver(_ problem: String) {
        for asking in replacement.takeWaiting() where asking.isOpen {
            fail(
                asking.call, BusError(.unavailable, "the broker was not replaced, and continues as it was: \(problem)"))
        }
    }

    /// Adds a connection that the previous program had.
    func resumed(_ peer: Peer) {
        connections.add(peer)
        if !peer.outbox.isEmpty || peer.life == .ending { wrote(to: peer) }
    }

    /// - Returns: a message about the replacement, for people.
    func answerHandOvers(begunAt: UInt64) -> String {
        let microseconds = (time - min(begunAt, time)) / 1_000
        let answer: JSON = .object([
            .init("microseconds", .integer(Int64(microseconds))),
            .init("connections", .integer(Int64(connections.count))),
            .init("requests", .integer(Int64(calls.count))),
        ])
        let summary =
            "continues as a new program after \(microseconds) µs, with \(connections.count) connections and \(calls.count) "
            + "open requests"
        for asking in replacement.takeWaiting() where asking.isOpen {
            guard let peer = asking.call.pointee.caller?.takeUnretainedValue() else { continue }
            writeReply(peer, id: asking.call.pointee.callerID, answer)
            release(asking.call, "the broker was replaced")
        }
        return summary
    }
}

/// Whether the bus's program can be replaced, and the calls of `bus/handOver` that wait for it.
struct Replacement {
    private(set) var isPossible = false
    private(set) var waiting: [CallReference] = []

    mutating func may(_ isPossible: Bool) { self.isPossible = isPossible }

    /// Adds a call, and forgets the calls that have ended.
    mutating func add(_ call: CallReference) {
        waiting.removeAll { !$0.isOpen }
        waiting.append(call)
    }

    mutating func takeWaiting() -> [CallReference] {
        defer { waiting = [] }
        return waiting
    }

    /// Continues the calls of the previous program's bus.
    mutating func resume(_ calls: [CallReference]) { waiting = calls }
}
