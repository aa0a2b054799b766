import Glibc
import StrataCore
import StrataTesting

@testable import StrataBus

/// A bus without sockets, threads and the machine's clock: for tests that ask what it decides.
///
/// It is `BusCore`'s connection side, as `Broker` is, in memory: it reads what peers have sent,
/// a turn each in the order in which they connected, writes what follows, and lets time pass
/// at once where nothing else is left to happen. What sockets, the loop and fairness are about
/// it has not: no connection is refused for want of room, and a frame may take as long as it likes.
final class MemoryBus: BusInMemory, BusHost {
    /// Runs a test on such a bus, as `TestBus.run` runs it on a broker.
    ///
    /// Where brokers are replaced after each round (`STRATA_TEST_HANDOVER`) it runs on one:
    /// so each of these tests passes over sockets too, and through their hand-over.
    @discardableResult
    static func run<Result>(
        _ table: AppTable, isLaunched: Bool = false, _ test: (TestBus) throws -> Result
    ) throws -> Result {
        if TestBus.isHandedOverEachRound { return try TestBus.run(table, isLaunched: isLaunched, test) }
        return try TestBus(table, MemoryBus(table, isLaunched: isLaunched)).run(test)
    }

    private var bus: BusCore!
    /// In the order in which they connected, without the closed ones.
    private var connections: [MemoryConnection] = []
    /// Those to be closed, or ended, when what they have sent is handled.
    private var heardOut: [MemoryConnection] = []
    private let buffer = ReadBuffer()
    private var isListening = true
    private var hasEnded = false
    /// Nanoseconds since `start`, and some: no time of the bus's is 0.
    private var time: UInt64 = 1_000_000_000
    private let start = ContinuousClock.now

    init(_ table: AppTable, isLaunched: Bool) {
        bus = BusCore(self, table: table, user: geteuid(), time: time)
        guard isLaunched else { return }
        eventBegins()
        bus.awaitLauncher(.own)
    }

    // MARK: What the test does

    var now: ContinuousClock.Instant { start + .nanoseconds(time) }

    func connect() throws -> any PeerLink {
        guard isListening else { throw SystemError(ECONNREFUSED, "connect to a bus that has ended") }
        eventBegins()
        let credentials = PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid(), seenAt: 0)
        let peer = Peer(number: bus.connections.next, credentials: credentials, outbox: Outbox(pool: bus.pool))
        let link = MemoryLink(self)
        connections.append(MemoryConnection(peer, link, FrameAssembler(limits: bus.helloLimits, bus.pool.reclaimer)))
        bus.connected(peer)
        return link
    }

    func awaitInput(of wanted: [any PeerLink], until deadline: Deadline) -> [Int] {
        while true {
            work()
            let ready = wanted.indices.filter { (wanted[$0] as? MemoryLink)?.isReadable == true }
            guard ready.isEmpty, passTime(until: deadline) else { return ready }
        }
    }

    func beginShutDown() {
        guard bus.stage == .running else { return }
        eventBegins()
        bus.shutDown()
        settle()
    }

    /// Does all that is left to do at this time: what a peer has sent is handled at once.
    func work() {
        guard !hasEnded else { return }
        while doRound() {}
    }

    func join(within time: Duration) -> Bool {
        _ = awaitInput(of: [], until: Deadline(time, from: now))
        return hasEnded
    }

    // MARK: Being replaced

    /// All that the bus knows, in a state's file, as a broker writes it that is replaced.
    func writtenDown() throws -> [UInt8] {
        work()
        eventBegins()
        bus.finishIdleWork()
        settle()
        work()
        var scope = CaptureScope.whole
        var state = bus.capture(&scope)
        for (index, own) in state.peers.enumerated() {
            guard let connection = connections.first(where: { $0.peer.number == own.number }) else { continue }
            state.peers[index].kept = .pieces([connection.assembler.kept])
        }
        state.begunAt = time
        let files = try StateFile.write(state)
        defer { files.close() }
        precondition(files.queues < 0, "what waits is small in these tests")
        var bytes = [UInt8](repeating: 0, count: Int(lseek(files.state, 0, SEEK_END)))
        guard pread(files.state, &bytes, bytes.count, 0) == bytes.count else {
            throw SystemError(errno, "read a state")
        }
        return bytes
    }

    /// Goes on as a bus of which a state tells, with the connections that there are.
    func resume(_ bytes: [UInt8]) throws {
        let file = try MemoryFile.makeSealable("test")
        defer { Glibc.close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw SystemError(errno, "write a state") }
        try MemoryFile.seal(file)
        let state = try StateFile.read(file)
        let table = try state.appTable()
        let records = try state.moduleRecords(table)
        let links = Dictionary(uniqueKeysWithValues: connections.map { ($0.peer.number, $0.link) })
        connections = []
        bus = BusCore(self, resuming: state, table, records, time: time)
        eventBegins()
        try Resumption(bus, state, records).make { (own, outbox) throws(StateError) in
            guard let link = links[own.number] else { throw StateError("there is no connection \(own.number)") }
            let peer = Peer(number: own.number, credentials: own.credentials, outbox: outbox)
            let limits = own.role == .none ? bus.helloLimits : bus.frameLimits
            var assembler = FrameAssembler(limits: limits, bus.pool.reclaimer)
            own.kept.withPieces { pieces in for piece in pieces { assembler.keep(piece) } }
            connections.append(MemoryConnection(peer, link, assembler))
            return peer
        }
        settle()
        for connection in connections { bus.hasRoom(connection.peer) }
        settle()
        work()
    }

    // MARK: Rounds and time

    /// - Returns: whether anything was left to do.
    private func doRound() -> Bool {
        var hasWorked = false
        for connection in connections where connection.peer.life != .closed {
            if connection.hasRoomAgain {
                hasWorked = true
                eventBegins()
                write(to: connection.peer)
                bus.hasRoom(connection.peer)
                settle()
            }
            if takeTurn(connection) { hasWorked = true }
        }
        if bus.hasIdleWork {
            hasWorked = true
            eventBegins()
            bus.advanceIdleWork()
            settle()
        }
        bus.dismissLeaving()
        settle()
        if flushAll() { hasWorked = true }
        bus.dropSpent()
        if bus.work.fanOut == nil { bus.dropGone(.max) }
        bus.reclaimer.giveBack(Reclaimer.piece)
        connections.removeAll { $0.peer.life == .closed }
        return hasWorked
    }

    /// Lets time pass until the bus has something due.
    /// - Returns: false where it has nothing before the deadline; then it is that late now.
    private func passTime(until deadline: Deadline) -> Bool {
        let end = UInt64((deadline.end - start) / .nanoseconds(1))
        let due = hasEnded || bus.wakeAt == .max ? .max : bus.wakeAt * 1_000_000
        guard due <= end else {
            time = max(time, end)
            return false
        }
        time = max(time, due)
        eventBegins()
        bus.timePassed()
        settle()
        return true
    }

    /// No two events have one time.
    private func eventBegins() {
        time += 1_000
        bus.eventBegins(at: time, isShared: false)
    }

    // MARK: Reading and writing

    private func takeTurn(_ connection: MemoryConnection) -> Bool {
        guard connection.link.hasInput, connection.peer.life != .ending else { return false }
        guard connection.peer.life.isRead else {
            // It isn't read for now, so its end is seen here.
            guard connection.link.hasHungUp, !connection.peer.awaitsIdleWork else { return false }
            eventBegins()
            close(connection)
            settle()
            return true
        }
        eventBegins()
        if !read(connection) { close(connection) }
        settle()
        return true
    }

    /// - Returns: false where nothing was there.
    private func read(_ connection: MemoryConnection) -> Bool {
        guard connection.readTurn(buffer) else { return false }
        process(connection)
        return true
    }

    private func process(_ connection: MemoryConnection) {
        var frames = 0
        do {
            while try bus.handleFrames(of: connection.peer, in: &connection.assembler, &frames) != nil {
                bus.takeBackLent()?.own()
            }
        } catch {
            bus.refuse(connection.peer, error)
        }
        switch connection.peer.life {
        case .greeting, .waitingForVouch, .open: connection.assembler.keepRest()
        case .ending, .closed: connection.assembler.drop()
        }
    }

    /// - Returns: whether anything was written or ended.
    private func flushAll() -> Bool {
        var hasWorked = false
        while !bus.connections.dirty.isEmpty || heardOut.contains(where: { !$0.peer.awaitsIdleWork }) {
            hasWorked = true
            let dirty = bus.connections.dirty
            bus.cleaned()
            for peer in dirty {
                peer.isDirty = false
                write(to: peer)
                if !peer.outbox.isEmpty { peer.outbox.noteWaiting() }
            }
            let leaving = heardOut
            heardOut = []
            for connection in leaving { hearOut(connection) }
            settle()
        }
        return hasWorked
    }

    private func hearOut(_ connection: MemoryConnection) {
        while connection.peer.life == .open(.read), read(connection) { settle() }
        if connection.peer.awaitsIdleWork {
            heardOut.append(connection)
        } else if let farewell = connection.peer.farewell, !connection.isBroken {
            bus.end(connection.peer, farewell)
        } else {
            close(connection)
        }
    }

    private func close(_ connection: MemoryConnection) {
        guard connection.peer.life != .closed else { return }
        connection.link.closeByBus()
        bus.closed(connection.peer, reason: connection.peer.life == .ending ? "" : "closed")
    }

    // MARK: What the bus wants

    private func settle() {
        var index = 0
        // Reading on may give further ones.
        while index < bus.event.effects.count {
            settle(bus.event.effects[index])
            index += 1
        }
        bus.settled()
    }

    private func settle(_ effect: Effect) {
        switch effect {
        case .readOn(let peer):
            guard let connection = connection(of: peer), peer.life.isRead, !connection.assembler.isEmpty else { return }
            connection.assembler.resume()
            process(connection)
        case .writeLast(let peer):
            write(to: peer)
            guard peer.life == .ending else { return }
            bus.setAlarm(.lingering, of: peer, after: Broker.lingering)
            bus.boundLingering(Broker.mostLingering)
        case .hearOut(let peer): connection(of: peer).map { heardOut.append($0) }
        case .close(let peer): connection(of: peer).map { close($0) }
        case .stopListening: isListening = false
        case .finish: hasEnded = true
        case .lookAtFrame, .replaceProgram: preconditionFailure("it has set no alarm for frames, and isn't replaceable")
        }
    }

    private func connection(of peer: Peer) -> MemoryConnection? { connections.first { $0.peer === peer } }

    // MARK: What the bus asks

    func write(to peer: Peer) {
        guard let connection = connection(of: peer), !connection.isBroken else { return }
        connection.write()
        if connection.isBroken { heardOut.append(connection) }
        if peer.life == .ending, peer.outbox.isEmpty { close(connection) }
    }

    func process(of peer: Peer) -> ProcessIdentity? { .own }

    /// All peers are this process.
    func descent(of peer: Peer, from process: ProcessIdentity) -> Ancestors.Descent? {
        process == .own ? .itself : .unrelated
    }

    func process(_ pid: Int32) -> ProcessIdentity? { ProcessIdentity(pid: pid) }

    func isAlive(_ process: ProcessIdentity) -> Bool { process.isAlive }

    var wallMicroseconds: UInt64 { 1_800_000_000_000_000 + time / 1_000 }

    var processID: Int32 { getpid() }
}
