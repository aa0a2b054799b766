public import StrataCore
public import StrataLoop

/// The broker: a socket on which it listens, its connections, and the bus between them.
///
/// An object on a loop; several may run, each on a loop of its own. It reads and writes, gives
/// each connection its turns, and tells the bus what has happened; what is allowed, and
/// what follows, the bus decides (`BusCore`). Used on its loop's thread.
public final class Broker {
    let loop: Loop
    private(set) var bus: BusCore!

    let buffer = ReadBuffer()
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var shares = TurnShares()
    /// The present turn has used its time: its other frames wait for the next.
    @exclusivity(unchecked)  // the same
    var isTurnSpent = false
    /// Those who have their turn at a round's end; longest wait first.
    @exclusivity(unchecked)  // the same
    var awaitingTurn: [Connection] = []
    /// What was read of heavy peers in this round, in bytes; each end of a session counts
    /// `TurnShares.endCost` more.
    @exclusivity(unchecked)  // the same
    var readOfHeavy = 0
    /// Connections whose socket takes nothing any more, and those with a farewell: what they
    /// have sent is handled yet.
    var heardOut: [Connection] = []

    /// What this broker may be replaced with; nil: nothing.
    public var next: (any NextBroker)? { didSet { bus.mayBeReplaced(next != nil) } }
    /// Of a broker that goes on where another program's was: what to tell a person.
    private(set) var resumed: String?
    /// How far the next program is.
    enum Replacement {
        case none
        /// It is being tried.
        case trying
        /// It has shown that it understands the state: at the round's end it takes over.
        case tried
    }
    var replacement = Replacement.none
    private var onStopped: () -> Void = {}

    private(set) var listener: Listener?
    private var hook: RoundHook?
    /// Work that is done a piece a round.
    private(set) var idleWork: IdleHook!
    /// Fires at `armedTick`, when the bus has a deadline or an alarm.
    private var timer: KernelTimer!
    private var armedTick = UInt64.max
    private var spareTimer: LoopTimer!

    /// Starts listening.
    /// - Parameters:
    ///   - loop: what it lives on.
    ///   - table: the app's.
    ///   - path: where; at most 107 bytes. A dead socket there is replaced; a
    ///     live broker, or anything that is no socket, makes this throw.
    ///   - listening: a socket that listens there already, and whose file is somebody
    ///     else's: a service manager's.
    ///   - user: the user whose tools are operators.
    public init(
        _ loop: Loop, table: AppTable, path: String, listening: Int32? = nil, user: UInt32 = Broker.processUser
    ) throws(BrokerStartError) {
        self.loop = loop
        bus = BusCore(self, table: table, user: user, time: Loop.nanoseconds)
        do {
            timer = try KernelTimer(loop) { [unowned self] in self.timePassed() }
        } catch {
            throw .noTimer(error)
        }
        do {
            if let listening { try listen(path, on: listening) } else { try listen(path) }
        } catch {
            timer.close()
            throw error
        }
        begin()
    }

    /// Goes on where another program's broker was.
    /// - Parameters:
    ///   - loop: what it lives on.
    ///   - descriptor: the sealed file in which that one wrote down its state;
    ///     the sockets named there are open in this process.
    /// - Throws: where the file can't be understood, or this process can have no
    ///   descriptor more. The sockets are not to be used any more then.
    public init(_ loop: Loop, resuming descriptor: Int32) throws(BrokerStartError) {
        self.loop = loop
        let state: BrokerState
        let records: [ModuleRecord]
        do throws(StateError) {
            state = try StateFile.read(descriptor)
            let table = try state.appTable()
            records = try state.moduleRecords(table)
            bus = BusCore(self, resuming: state, table, records, time: Loop.nanoseconds)
        } catch {
            throw .unusableState(error.description)
        }
        if state.queues.descriptor >= 0 { Descriptors.close(state.queues.descriptor) }
        do throws(SystemError) {
            timer = try KernelTimer(loop) { [unowned self] in self.timePassed() }
            listener = try Listener(
                loop, path: state.listener.path, descriptor: state.listener.descriptor,
                removesFile: state.listener.removesFile
            ) { [unowned self] socket in self.accepted(socket) }
        } catch {
            throw .noTimer(error)
        }
        begin()
        do throws(StateError) { resumed = try resume(state, records) } catch {
            throw .unusableState(error.description)
        }
        arm()
    }

    private func begin() {
        eventBegins()
        listener?.onRefusal = { [unowned self] socket in self.refused(socket) }
        spareTimer = LoopTimer(loop) { [unowned self] in self.settleSpares() }
        hook = RoundHook(loop) { [unowned self] in self.endRound() }
        idleWork = IdleHook(loop) { [unowned self] in self.doIdleWork() }
    }

    // MARK: The loop's rounds

    /// Looks at the clock: something begins that has its time.
    func eventBegins() {
        let time = Loop.nanoseconds
        bus.eventBegins(at: time, isShared: shares.isShared(at: time))
    }

    private func timePassed() {
        eventBegins()
        armedTick = .max
        bus.timePassed()
        settle()
    }

    /// What takes long is done a piece a round, so that nobody waits for all of it.
    private func doIdleWork() {
        eventBegins()
        let hadWork = bus.hasIdleWork
        bus.advanceIdleWork()
        settle()
        // Where somebody waits, memory goes back in rounds that had nothing else.
        if !bus.isShared || !hadWork {
            bus.reclaimer.giveBack(bus.isShared ? Reclaimer.smallBatch : Reclaimer.batch)
        }
        if !bus.hasIdleWork, awaitingTurn.isEmpty, heardOut.isEmpty, bus.connections.closed.isEmpty, bus.reclaimer.isEmpty
        {
            idleWork.stop()
        }
    }

    /// Memory that is kept for the next large frames, and that nobody wanted, goes back.
    private func settleSpares() {
        bus.reclaimer.settle()
        if bus.reclaimer.spareCount == 0 { spareTimer.stop() }
        if !bus.reclaimer.isEmpty { idleWork.start() }
    }

    /// Writes out what the round has produced; then goes what was kept to its end.
    private func endRound() {
        if !awaitingTurn.isEmpty {
            // What light peers said goes out before.
            flushAll()
            giveTurns()
        }
        readOfHeavy = 0
        bus.endDrained()
        settle()
        flushAll()
        bus.dropSpent()
        freeClosed()
        if !bus.reclaimer.isEmpty || bus.hasIdleWork { idleWork.start() }
        if bus.reclaimer.spareCount > 0, !spareTimer.isActive {
            spareTimer.start(after: Reclaimer.sparePeriod, every: Reclaimer.sparePeriod)
        }
        if replacement == .tried { handOver() }
        arm()
    }

    /// Sets the kernel's timer where it would come later than the bus wants. One that comes too
    /// early, since what it was for is cancelled, costs a round.
    private func arm() {
        guard bus.wakeAt < armedTick else { return }
        armedTick = bus.wakeAt
        timer.start(after: armedTick - min(armedTick, Loop.nanoseconds / 1_000_000))
    }

    // MARK: The end

    /// Ends the app in order: each module's tearDown in reverse start order,
    /// `shutting-down` to every open request and every peer, then the socket.
    /// - Parameter then: called when all is closed.
    public func shutDown(then: @escaping () -> Void) {
        guard bus.stage == .running else { return }
        eventBegins()
        onStopped = then
        bus.shutDown()
        settle()
    }

    /// The process that started this broker is to be its launcher: until it has said
    /// hello, for which it has as long as any peer, requests wait for modules as if it
    /// was there. After a broker's death others are often faster than it.
    public func awaitLauncher(_ pid: Int32) {
        eventBegins()
        bus.awaitLauncher(ProcessIdentity(pid: pid))
    }

    /// Leaves the loop and every descriptor to another broker of this process,
    /// which goes on with the state that was written.
    func letGo() {
        listener?.letGo()
        listener = nil
        closeTimers()
        for peer in bus.letGo() { peer.connection.socket.letGo() }
    }

    private func closeTimers() {
        hook?.close()
        hook = nil
        idleWork.close()
        timer.close()
        spareTimer.close()
    }

    /// Everything is sent: lets go of the loop.
    func finish() {
        listener?.close()
        listener = nil
        closeTimers()
        let stopped = onStopped
        onStopped = {}
        stopped()
    }

    /// No further connection is taken, and the socket's file goes.
    func stopListening() {
        listener?.close()
        listener = nil
    }

    private func listen(_ path: String) throws(BrokerStartError) {
        do {
            try SocketPath.check(path)
        } catch {
            throw .unusablePath("\(error)")
        }
        switch SocketAddress.occupant(path) {
        case .nothing: break
        case .dead: FileRemoval.remove(path)
        case .live:
            throw .alreadyRunning(
                "a broker is live on \(path): end it with `strata down`, or choose another --socket")
        case .foreign:
            throw .unusablePath("\(path) exists and is no socket: remove it, or choose another --socket")
        case .unknown(let code):
            throw .unusablePath("\(SystemError(code, "look at \(path)"))")
        }
        do {
            listener = try Listener(
                loop, path: path, mode: bus.table.group == nil ? 0o600 : 0o660, group: bus.table.group
            ) { [unowned self] socket in self.accepted(socket) }
        } catch {
            throw .unusablePath("\(error)")
        }
    }

    private func listen(_ path: String, on descriptor: Int32) throws(BrokerStartError) {
        do {
            listener = try Listener(loop, path: path, descriptor: descriptor, removesFile: false) {
                [unowned self] socket in self.accepted(socket)
            }
        } catch {
            throw .unusablePath("\(error)")
        }
    }
}

extension Broker: BusHost {
    func process(of peer: Peer) -> ProcessIdentity? {
        peer.connection.socket.lookAtPeer(peer.credentials) { $0 }
    }

    func descent(of peer: Peer, from process: ProcessIdentity) -> Ancestors.Descent? {
        peer.connection.socket.lookAtPeer(peer.credentials) { Ancestors.descent(of: $0, from: process) }
    }

    func process(_ pid: Int32) -> ProcessIdentity? { ProcessIdentity(pid: pid) }

    func isAlive(_ process: ProcessIdentity) -> Bool { process.isAlive }

    var wallMicroseconds: UInt64 { Loop.wallMicroseconds }
}

/// Why a broker did not start.
public enum BrokerStartError: Error, Sendable, CustomStringConvertible {
    /// A live broker has the socket.
    case alreadyRunning(String)
    /// The socket can't be made there.
    case unusablePath(String)
    /// The process can't have one descriptor more.
    case noTimer(SystemError)
    /// What another program's broker wrote down can't be gone on with.
    case unusableState(String)

    public var description: String {
        switch self {
        case .alreadyRunning(let message), .unusablePath(let message): message
        case .unusableState(let message): "the broker's state can't be taken over: \(message)"
        case .noTimer(let error): "the broker has no clock for deadlines: \(error)"
        }
    }
}
