package import StrataCore

/// A broker without sockets, threads and the machine's clock. The bus's connections are in memory,
/// and each event happens when the owner says so.
///
/// It does what `Broker` does, but leaves out what only sockets need: fairness between peers,
/// watching descriptors, and the operating system. The owner decides which peer has the next turn,
/// how many bytes come and go, and what time it is. Used on one thread.
package final class MemoryBroker {
    private(set) var bus: BusCore!  // because the bus needs its host first
    package let processes: MemoryProcesses
    /// The connections in the order in which they came, without the closed ones.
    package private(set) var connections: [MemoryConnection] = []
    /// Connections that are closed or ended once everything that they have sent is handled.
    private var heardOut: [MemoryConnection] = []
    private let buffer = ReadBuffer()
    /// Asked whether another app can be reached, which the owner then plays.
    package var reaches: (OtherApp) -> Bool = { _ in false }
    /// The connections to other apps, in the order in which the bus made them.
    package private(set) var linked: [(app: OtherApp, number: UInt64, pipe: MemoryPipe)] = []
    package private(set) var isListening = true
    package private(set) var hasEnded = false
    /// The time in nanoseconds. The bus never sees the time 0.
    package private(set) var time: UInt64
    /// The number of events that the bus was given.
    package private(set) var events: UInt64 = 0
    /// Whether long work is done in small batches, as if a light peer were connected.
    package var isShared = false
    /// Asked after a frame that may have taken long: whether the peer's turn ends there.
    package var endsTurn: () -> Bool = { false }
    /// Called at the end of each event.
    package var onEvent: () -> Void = {}
    /// Called after frames of a turn were handled, with their number. The last one may have been
    /// put back.
    package var onHandled: (MemoryConnection, _ frames: Int) -> Void = { _, _ in }

    /// - Parameters:
    ///   - user: the user whose tools are operators.
    ///   - launcher: the process that will be the launcher, if the bus has to wait for one.
    ///   - time: when it starts, in nanoseconds.
    package init(
        _ table: AppTable, _ processes: MemoryProcesses, user: UInt32, awaiting launcher: ProcessIdentity? = nil,
        at time: UInt64 = 1_000_000_000
    ) {
        self.processes = processes
        self.time = time
        bus = BusCore(self, table: table, user: user, time: time)
        guard let launcher else { return }
        eventBegins()
        bus.awaitLauncher(launcher)
    }

    // MARK: Events

    /// Accepts a connection, which may end another one if there are too many.
    package func connect(_ credentials: PeerCredentials) -> MemoryConnection {
        eventBegins()
        let connection = MemoryConnection(bus.connections.next, credentials, bus)
        connections.append(connection)
        bus.connected(connection)
        bus.makeRoom(for: connection, looksRegistered)
        settle()
        return connection
    }

    /// Gives a connection a turn if it has bytes to be read or an end to be noticed.
    /// - Parameter most: the most bytes that are read.
    /// - Returns: whether anything happened.
    @discardableResult
    package func takeTurn(_ connection: MemoryConnection, most: Int = .max) -> Bool {
        guard connection.wantsTurn else { return false }
        eventBegins()
        // The end of a connection that isn't read for now is noticed here.
        if !connection.life.isRead || read(connection, most: most) == 0 { close(connection) }
        settle()
        return true
    }

    /// Continues writing to a connection whose pipe was full, if it takes bytes again.
    /// - Returns: whether anything happened.
    @discardableResult
    package func writeOn(_ connection: MemoryConnection) -> Bool {
        guard connection.hasRoomAgain else { return false }
        eventBegins()
        connection.unblock()
        flush(connection)
        bus.hasRoom(connection)
        settle()
        return true
    }

    /// Whether there is work that is done in batches.
    package var hasIdleWork: Bool { bus.hasIdleWork }

    /// Does a batch of idle work.
    /// - Returns: whether there was any.
    @discardableResult
    package func advanceIdleWork() -> Bool {
        guard bus.hasIdleWork else { return false }
        eventBegins()
        bus.advanceIdleWork()
        settle()
        return true
    }

    /// Ends a round: writes what it has produced, and frees what had to live until its end.
    /// - Returns: whether anything was written or ended.
    @discardableResult
    package func endRound() -> Bool {
        events += 1
        bus.endDrained()
        settle()
        let hasWorked = flushAll()
        bus.dropSpent()
        if bus.work.fanOut == nil { bus.freeClosed(.max) }
        bus.reclaimer.giveBack(Reclaimer.batch)
        connections.removeAll { $0.life == .closed }
        return hasWorked
    }

    /// Moves the clock forward, and lets the bus do what is due.
    package func pass(to time: UInt64) {
        self.time = max(self.time, time)
        guard !hasEnded else { return }
        eventBegins()
        bus.timePassed()
        settle()
    }

    /// The table that is in force.
    package var table: AppTable { bus.table }

    /// When the bus has something due, in nanoseconds; nil for never.
    package var due: UInt64? { hasEnded || bus.wakeAt == .max ? nil : bus.wakeAt * 1_000_000 }

    /// Ends like a killed broker: its connections close without an error.
    package func crash() {
        for connection in connections { connection.pipe.closeByBroker() }
        connections = []
        (isListening, hasEnded) = (false, true)
    }

    /// Begins the orderly end of the app.
    package func shutDown() {
        guard bus.stage == .running else { return }
        eventBegins()
        bus.shutDown()
        settle()
    }

    /// Begins an event. Each event has a time of its own.
    private func eventBegins() {
        time += 1_000
        events += 1
        bus.eventBegins(at: time, isShared: isShared)
    }

    // MARK: Connections

    /// Handles what a connection has sent so far.
    /// - Returns: whether its hello was answered, or the connection has ended.
    private func looksRegistered(_ peer: Peer) -> Bool {
        while peer.life == .greeting, read(peer.memory) > 0 {}
        return peer.life != .greeting && peer.life != .waitingForVouch
    }

    /// - Returns: the number of bytes that were handled.
    @discardableResult
    private func read(_ connection: MemoryConnection, most: Int = .max) -> Int {
        if connection.hasFramesLeft {
            connection.hasFramesLeft = false
            let kept = connection.assembler.keptCount
            connection.assembler.resume()
            process(connection)
            return max(1, kept - connection.assembler.keptCount)
        }
        let count = connection.read(buffer, most: most)
        if count > 0 { process(connection) }
        return count
    }

    private func process(_ connection: MemoryConnection) {
        var (frames, isSpent) = (0, false)
        do {
            while !isSpent,
                let interruption = try bus.handleFrames(of: connection, in: &connection.assembler, &frames)
            {
                switch interruption {
                case .lent: bus.takeBackLent(from: &connection.assembler)
                case .slow: isSpent = endsTurn()
                }
            }
        } catch {
            bus.refuse(connection, error)
        }
        if frames > 0 { connection.assemblyDeadline = 0 }
        switch connection.life {
        case .greeting, .waitingForVouch, .open:
            connection.assembler.keepRest(forLong: connection.life == .waitingForVouch)
            connection.hasFramesLeft = isSpent && connection.life.isRead && !connection.assembler.isEmpty
            if connection.life.isRead, !connection.hasFramesLeft { timeAssembly(connection) }
        case .ending, .closed: connection.assembler.drop()
        }
        onHandled(connection, frames)
    }

    private func close(_ connection: MemoryConnection) {
        guard connection.life != .closed else { return }
        connection.pipe.closeByBroker()
        bus.closed(connection, reason: connection.life == .ending ? "" : "closed")
    }

    private func timeAssembly(_ connection: MemoryConnection) {
        guard !connection.assembler.isEmpty, connection.assemblyDeadline == 0 else { return }
        connection.assemblyDeadline = bus.now + bus.table.assembly
        bus.setAlarm(.assembly, of: connection, at: connection.assemblyDeadline)
    }

    /// Checks the frame that a connection has begun. The alarm may have been set for an earlier
    /// frame.
    private func lookAtFrame(of connection: MemoryConnection) {
        guard connection.life == .greeting || connection.isOpen, connection.assemblyDeadline != 0 else { return }
        guard connection.assemblyDeadline <= bus.now else {
            return bus.setAlarm(.assembly, of: connection, at: connection.assemblyDeadline)
        }
        bus.frameTookTooLong(connection)
    }

    // MARK: Writing

    private func flushAll() -> Bool {
        var hasWorked = false
        while !bus.connections.dirty.isEmpty || heardOut.contains(where: { !$0.awaitsIdleWork }) {
            hasWorked = true
            let dirty = bus.connections.dirty
            bus.cleaned()
            for peer in dirty {
                peer.isDirty = false
                flush(peer.memory)
                if !peer.outbox.isEmpty { peer.outbox.noteWaiting() }
            }
            let leaving = heardOut
            heardOut = []
            for connection in leaving { hearOut(connection) }
            settle()
        }
        return hasWorked
    }

    private func flush(_ connection: MemoryConnection) {
        connection.writeShare(isShared: isShared)
        written(connection)
    }

    private func written(_ connection: MemoryConnection) {
        if connection.isBroken { heardOut.append(connection) }
        if connection.life == .ending, connection.outbox.isEmpty { close(connection) }
    }

    private func hearOut(_ connection: MemoryConnection) {
        guard connection.life != .closed else { return }
        while connection.life == .open(.read), read(connection) > 0 { settle() }
        if connection.awaitsIdleWork {
            heardOut.append(connection)
        } else if let farewell = connection.farewell, !connection.isBroken, connection.isOpen {
            bus.end(connection, farewell)
        } else {
            close(connection)
        }
    }

    // MARK: What the bus asks for

    private func settle() {
        var index = 0
        // Reading on may add further effects.
        while index < bus.event.effects.count {
            settle(bus.event.effects[index])
            index += 1
        }
        bus.settled()
        onEvent()
    }

    private func settle(_ effect: Effect) {
        switch effect {
        case .readOn(let peer):
            guard peer.life.isRead, !peer.memory.assembler.isEmpty else { return }
            peer.memory.hasFramesLeft = false
            peer.memory.assembler.resume()
            process(peer.memory)
        case .writeLast(let peer):
            peer.memory.write()
            written(peer.memory)
            guard peer.life == .ending else { return }
            bus.setAlarm(.lingering, of: peer, after: Broker.lingering)
            bus.boundLingering(Broker.mostLingering)
        case .hearOut(let peer): heardOut.append(peer.memory)
        case .close(let peer): close(peer.memory)
        case .lookAtFrame(let peer): lookAtFrame(of: peer.memory)
        case .writeOn: break
        case .replaceProgram: bus.notHandedOver("this broker runs in memory")
        case .stopListening: isListening = false
        case .finish: hasEnded = true
        }
    }

    // MARK: Being replaced

    /// Captures everything that the bus knows, as a broker does that is replaced.
    func capture() -> BrokerState {
        eventBegins()
        bus.endNodes("its broker was replaced")
        bus.finishIdleWork()
        settle()
        var scope = CaptureScope.whole
        var state = bus.capture(&scope)
        for index in state.peers.indices {
            guard let connection = bus.connections[state.peers[index].number]?.memory else { continue }
            state.peers[index].kept = .pieces([connection.assembler.kept])
            // The next bus continues with what was read, as after a pause.
            if connection.hasFramesLeft, connection.isOpen { state.peers[index].life = .open(.answersUnread) }
            state.peers[index].assemblyDeadline = connection.assemblyDeadline
        }
        state.begunAt = time
        return state
    }

    /// Continues as the bus that a state describes, with the current connections.
    func resume(_ state: BrokerState) throws(StateError) {
        let table = try state.appTable()
        let records = try state.moduleRecords(table)
        let former = Dictionary(uniqueKeysWithValues: connections.map { ($0.number, $0) })
        (connections, heardOut) = ([], [])
        bus = BusCore(self, resuming: state, table, records, time: time)
        eventBegins()
        try Resumption(bus, state, records).make { (own, outbox) throws(StateError) in
            guard let former = former[own.number] else { throw StateError("there is no connection \(own.number)") }
            let connection = MemoryConnection(own, outbox, insteadOf: former, bus)
            connections.append(connection)
            return connection
        }
        settle()
        for connection in connections { bus.hasRoom(connection) }
        settle()
    }

    /// Replaces the bus with one that continues from the captured state.
    package func replace() throws {
        let state = try StateFile.reread(capture())
        try withExtendedLifetime(state.queues.mapped) { try resume(state) }
    }

    // MARK: What must be empty in the end

    /// Everything that the bus still has, by name. There should be nothing, because its peers are
    /// gone.
    package var leftovers: [(name: String, count: Int)] {
        [
            ("connections", bus.connections.count), ("open requests", bus.calls.count),
            ("bytes that wait", bus.pool.waiting), ("bytes of requests that are held", bus.calls.heldBytes),
            ("bytes of retained broadcasts", bus.retained.textBytes), ("instances", bus.instances.count),
            ("links", bus.links.links.count),
            ("monitors", bus.monitors.monitors.count), ("traffic streams", bus.traffic.streams.count),
            ("calls whose parents ended", bus.calls.orphanCount),
            ("connections without hello", bus.connections.pools.known.count + bus.connections.pools.others.count),
        ].filter { $0.1 != 0 }
    }
}

extension MemoryBroker: BusHost {
    /// A transport in memory carries none.
    func takeDescriptors(of peer: Peer) {}

    func write(to peer: Peer) {
        guard !peer.memory.isBroken else { return }
        peer.memory.write(most: isShared ? TurnShares.mostWrittenForRoom : .max)
        written(peer.memory)
    }

    func process(of peer: Peer) -> ProcessIdentity? { processes.living(peer.credentials.pid) }

    func descent(of peer: Peer, from ancestor: ProcessIdentity) -> Ancestors.Descent? {
        process(of: peer).map { processes.descent(of: $0, from: ancestor) }
    }

    func process(_ pid: Int32) -> ProcessIdentity? { processes.living(pid) }

    func isAlive(_ process: ProcessIdentity) -> Bool { processes.living(process.pid) == process }

    func connect(to app: OtherApp) throws(BusError) -> Peer {
        guard reaches(app) else { throw BusError(.unavailable, "\(app.text) can't be reached: no other app is there") }
        let listener = PeerCredentials(pid: processes.broker.pid, uid: app.user ?? bus.user, gid: 0, seenAt: 0)
        let connection = MemoryConnection(bus.connections.next, listener, bus)
        connections.append(connection)
        linked.append((app, connection.number, connection.pipe))
        return connection
    }

    var wallMicroseconds: UInt64 { 1_800_000_000_000_000 + time / 1_000 }

    var steadyNanoseconds: UInt64 { time }

    var processID: Int32 { processes.broker.pid }
}
