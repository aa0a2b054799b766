import Glibc
import StrataCore
import StrataLoop

/// `bus/handOver`: the broker is replaced while it runs. Connections and open requests stay open.
/// Everything that the broker knows passes to the next program, between two rounds of the loop. If
/// that fails, this program continues as before.
///
/// After the re-execution of systemd's manager, and of other long-lived servers.
extension Broker {
    /// Starts a trial of the next program, unless one is already running.
    func tryNext() {
        guard let next, replacement == .none else { return }
        if let problem = handOverLoad.problem({ MemoryRoom.now() }) { return bus.notHandedOver(problem) }
        replacement = .trying
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

    /// Captures the bus, and what only its connections know.
    private func capture(_ scope: inout CaptureScope) -> BrokerState {
        var state = bus.capture(&scope)
        state.listener.path = listener?.path ?? ""
        state.listener.descriptor = listener?.descriptor ?? -1
        state.listener.removesFile = listener?.removesFile ?? true
        for index in state.peers.indices {
            guard let connection = bus.connections[state.peers[index].number]?.connection else { continue }
            state.peers[index].descriptor = connection.socket.descriptor
            if scope.isWhole { state.peers[index].kept = .pieces([connection.assembler.kept]) }
            // The next program continues with what was read, as after a pause.
            if connection.hasFramesLeft, connection.isOpen { state.peers[index].life = .open(.answersUnread) }
            state.peers[index].assemblyDeadline = connection.assemblyDeadline
        }
        state.begunAt = Loop.nanoseconds
        return state
    }

    /// Returns the output of a trial that has read the state to its end. No other program writes it
    /// by accident, nor one that only repeats its input.
    private static func answer(toTrialWith nonce: [UInt8]) -> [UInt8] {
        Array("understood ".utf8) + StateFile.mark + nonce
    }

    private static func nonce() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private func tried(_ problem: String?) {
        eventBegins()
        replacement = problem == nil ? .tried : .none
        if let problem { bus.notHandedOver(problem) }
    }

    /// Hands over at a round's end, when no frame is being handled.
    func handOver() {
        replacement = .none
        guard let next else { return }
        guard let problem = bus.stage == .running ? handOver(to: next) : "the app is ending" else { return }
        bus.notHandedOver(problem)
        // This round has already been written, and the next one may come late.
        flushAll()
    }

    /// Replaces this broker now, without a trial.
    /// - Returns: why it continues; nil if another broker of this process does.
    package func handOver(to next: any NextBroker) -> String? {
        // More may be waiting than at the trial.
        if let problem = handOverLoad.problem({ MemoryRoom.now() }) { return problem }
        bus.endNodes("its broker was replaced")
        // Idle work isn't part of the state. The end of a node's requests may be some.
        bus.finishIdleWork()
        settle()
        do throws(StateError) {
            var scope = CaptureScope.whole
            var state = capture(&scope)
            // `execve` would close them on this thread, which may block.
            let closing = closer.takeWaiting()
            var isHandedOver = false
            defer { if !isHandedOver { closer.close(closing, of: getuid()) } }
            state.closing = closing
            let files = try StateFile.write(state)
            var descriptors =
                bus.connections.all.map(\.connection.socket.descriptor) + [listener?.descriptor].compactMap { $0 }
                + state.handedOn.flatMap(\.numbers) + closing
            if files.queues >= 0 { descriptors.append(files.queues) }
            // `letGo` may drop the last other reference to this broker.
            return withExtendedLifetime(self) {
                let problem = next.become(files.state, keeping: descriptors) {
                    for descriptors in state.handedOn { descriptors.letGo() }
                    self.letGo()
                }
                if problem != nil, files.queues >= 0 { Descriptors.close(files.queues) }
                isHandedOver = problem == nil
                return problem
            }
        } catch {
            return error.description
        }
    }

    /// Checks that the program of this process understands a state.
    /// - Returns: the answer to write then.
    static func tryOut(_ descriptor: Int32) throws(BrokerStartError) -> [UInt8] {
        do throws(StateError) {
            let state = try StateFile.read(descriptor)
            _ = try state.moduleRecords(try state.appTable())
            return answer(toTrialWith: state.nonce)
        } catch {
            throw .unusableState(error.description)
        }
    }

    // MARK: in the next program

    /// Makes this fresh broker continue another program's.
    /// - Returns: a message about the replacement, for people.
    func resume(_ state: BrokerState, _ records: [ModuleRecord]) throws(StateError) -> String {
        // Whose they were isn't known any more.
        closer.close(state.closing, of: getuid())
        try Resumption(bus, state, records).make(connect: connection)
        for peer in bus.connections.inOrder {
            attend(peer.connection)
            watch(peer.connection)
        }
        flushAll()
        // Peers that were paused for their unread answers may continue now.
        for peer in bus.connections.inOrder { bus.hasRoom(peer) }
        settle()
        flushAll()
        eventBegins()
        defer { flushAll() }
        return bus.answerHandOvers(begunAt: state.begunAt)
    }

    private func connection(_ state: PeerState, _ outbox: consuming Outbox) throws(StateError) -> Peer {
        let socket: Socket
        do throws(SystemError) { socket = try Socket(loop, descriptor: state.descriptor) } catch {
            throw StateError("the connection \(state.number) can't be taken over: \(error)")
        }
        let connection = Connection(
            number: state.number, socket: socket, credentials: state.credentials,
            limits: state.life.isOpen ? bus.frameLimits : bus.helloLimits, pool: bus.pool, outbox: outbox)
        state.kept.withPieces { pieces in for piece in pieces { connection.assembler.keep(piece) } }
        connection.assemblyDeadline = state.assemblyDeadline
        connection.isAssemblyTimed = state.assemblyDeadline != 0
        return connection
    }
}
