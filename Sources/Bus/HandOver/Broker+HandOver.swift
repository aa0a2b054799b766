import StrataCore

/// `bus/handOver`: the broker is replaced while it runs. Connections stay open,
/// and what is open goes on: all that it knows passes to the next program, between
/// two rounds of the loop. Where that can't be, this one goes on as it was.
///
/// After the re-execution of systemd's manager, and of other long-lived servers.
extension Broker {
    /// Answered by the next program; or here, with why there is none.
    func handOver(_ header: borrowing Header, from peer: Peer) throws(BusError) {
        guard stage == .running else { throw BusError(.shuttingDown, "the app is ending") }
        guard let next else {
            throw BusError(
                .unavailable, "this broker is a part of another program: only strata-broker can be replaced")
        }
        guard let call = openRequest(.served, header, from: peer) else { return }
        call.pointee.wasPassedOn = true
        handOvers.removeAll { !$0.isOpen }
        handOvers.append(CallReference(call))
        guard !isTryingNext, !isNextTried else { return }
        if let problem = handOverLoad.problem({ MemoryRoom.now() }) { return notHandedOver(problem) }
        isTryingNext = true
        do throws(StateError) {
            var scope = CaptureScope.sample
            var state = capture(&scope)
            state.nonce = Self.nonce()
            let answer = Self.answer(toTrialWith: state.nonce)
            next.tryOut(try StateFile.write(state).state, expecting: answer) { [weak self] problem in
                self?.tried(problem)
            }
        } catch {
            tried(error.description)
        }
    }

    /// What a trial says of a state that it has read to its end: no other program says this by
    /// accident, and none that only repeats what it is given.
    private static func answer(toTrialWith nonce: [UInt8]) -> [UInt8] {
        Array("understood ".utf8) + StateFile.mark + nonce
    }

    private static func nonce() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private func tried(_ problem: String?) {
        eventBegins()
        isTryingNext = false
        if let problem { notHandedOver(problem) } else { isNextTried = true }
    }

    /// At a round's end: nothing is in hand.
    func handOver() {
        isNextTried = false
        guard let next else { return }
        guard let problem = stage == .running ? handOver(to: next) : "the app is ending" else { return }
        notHandedOver(problem)
        // This round has written already, and the next one may come late.
        flushAll()
    }

    /// Replaces this broker now, without a trial.
    /// - Returns: why it goes on; nil where another broker of this process does.
    package func handOver(to next: any NextBroker) -> String? {
        // What waits may have become more since the trial.
        if let problem = handOverLoad.problem({ MemoryRoom.now() }) { return problem }
        finishFanOut()
        finishDepartures()
        finishListings()
        finishNotes()
        do throws(StateError) {
            let files = try writeState()
            var descriptors =
                peers.values.map(\.connection.socket.descriptor) + [listener?.descriptor].compactMap { $0 }
            if files.queues >= 0 { descriptors.append(files.queues) }
            // It may be the last reference to this broker that goes there.
            return withExtendedLifetime(self) {
                let problem = next.become(files.state, keeping: descriptors) { self.letGo() }
                if problem != nil, files.queues >= 0 { Descriptors.close(files.queues) }
                return problem
            }
        } catch {
            return error.description
        }
    }

    private func writeState() throws(StateError) -> StateFile.Descriptors {
        var scope = CaptureScope.whole
        return try StateFile.write(capture(&scope))
    }

    /// Whether the program of this process understands a state.
    /// - Returns: what to answer then.
    static func tryOut(_ descriptor: Int32) throws(BrokerStartError) -> [UInt8] {
        do throws(StateError) {
            let state = try StateFile.read(descriptor)
            _ = try state.moduleRecords(try state.appTable())
            return answer(toTrialWith: state.nonce)
        } catch {
            throw .unusableState(error.description)
        }
    }

    private func notHandedOver(_ problem: String) {
        let waiting = handOvers
        handOvers = []
        for asking in waiting where asking.isOpen {
            fail(asking.call, BusError(.unavailable, "the broker was not replaced, and goes on as it was: \(problem)"))
        }
    }

    // MARK: in the next program

    /// A connection that is there already.
    func admit(resumed peer: Connection) {
        peers[peer.number] = peer
        nextPeer = max(nextPeer, peer.number + 1)
        attend(peer)
        watch(peer)
        peer.isAssemblyTimed = peer.assemblyDeadline != 0
        if !peer.outbox.isEmpty || peer.phase == .ending { wrote(to: peer) }
    }

    /// Writes what waited, and lets those go on for whom there is room now.
    func goOnWriting() {
        flushAll()
        for peer in peers.values.sorted(by: { $0.number < $1.number }) where peer.phase == .open { resumeIfRoom(peer) }
        settle()
        flushAll()
    }

    /// - Returns: what there is to say of it, for a person.
    func answerHandOvers(begunAt: UInt64) -> String {
        let now = Loop.nanoseconds
        let microseconds = (now - min(begunAt, now)) / 1_000
        let answer: JSON = .object([
            .init("microseconds", .integer(Int64(microseconds))),
            .init("connections", .integer(Int64(peers.count))),
            .init("requests", .integer(Int64(calls.count))),
        ])
        let summary =
            "goes on as a new program after \(microseconds) µs, with \(peers.count) connections and \(calls.count) "
            + "open requests"
        let waiting = handOvers
        handOvers = []
        for asking in waiting where asking.isOpen {
            guard let peer = asking.call.pointee.caller?.takeUnretainedValue() else { continue }
            writeReply(peer, id: asking.call.pointee.callerID, answer)
            release(asking.call, "the broker was replaced")
        }
        flushAll()
        return summary
    }
}
