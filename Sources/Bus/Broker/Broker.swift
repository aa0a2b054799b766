public import StrataCore
public import StrataLoop

/// The broker: a socket on which it listens, its connections, and the bus between them.
///
/// An object on a loop; several brokers may run, each on its own loop. It reads and writes, gives
/// each connection its turns, and reports to the bus what has happened. The bus decides what is
/// allowed and what follows (`BusCore`). Used on its loop's thread.
public final class Broker {
    let loop: Loop
    // Implicitly unwrapped, because the bus needs its host first.
    private(set) var bus: BusCore!

    let buffer = ReadBuffer()
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var shares = TurnShares()
    /// Whether the current turn has used its time, so that its other frames wait for the next turn.
    @exclusivity(unchecked)  // the same
    var isTurnSpent = false
    /// The peers that have their turns at a round's end, longest wait first.
    @exclusivity(unchecked)  // the same
    var awaitingTurn: [Connection] = []
    /// The bytes that were read of heavy peers in this round. Each end of a session adds
    /// `TurnShares.endCost`.
    @exclusivity(unchecked)  // the same
    var readOfHeavy = 0
    /// Connections that end once everything that they have sent is handled. Their socket takes no
    /// more bytes, or they have a farewell.
    var heardOut: [Connection] = []

    /// What this broker may be replaced with; nil if it can't be replaced.
    public var next: (any NextBroker)? { didSet { bus.mayBeReplaced(next != nil) } }
    /// A message for people, if this broker continues another program's.
    private(set) var resumed: String?
    /// The progress of a replacement.
    enum Replacement {
        case none
        /// The next program is being tried.
        case trying
        /// The next program has shown that it understands the state. It takes over at the round's
        /// end.
        case tried
    }
    var replacement = Replacement.none
    private var onStopped: () -> Void = {}

    private(set) var listener: Listener?
    /// Closes the descriptors that came with frames.
    let closer = ThreadCloser()
    private var hook: RoundHook?
    /// Runs work that is done in batches, one in each round.
    private(set) var idleWork: IdleHook!
    /// Fires at `armedTick`, when the bus has a deadline or an alarm.
    private var timer: KernelTimer!
    private var armedTick = UInt64.max
    private var spareTimer: LoopTimer!

    /// Starts listening.
    /// - Parameters:
    ///   - loop: the loop that it runs on.
    ///   - table: the app's table.
    ///   - path: the socket's path, of at most 107 bytes. A dead socket there is replaced. A live
    ///     broker there, or anything that is no socket, makes this throw.
    ///   - listening: a socket that already listens there, and whose file belongs to a service
    ///     manager.
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

    /// Continues the broker of another program.
    /// - Parameters:
    ///   - loop: the loop that it runs on.
    ///   - descriptor: the sealed file to which that broker wrote its state. The sockets in it are
    ///     open in this process.
    /// - Throws: if the file can't be understood, or this process can't have one more descriptor.
    ///   The sockets must not be used any more then.
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
        // The file is mapped now, and stays readable without its descriptor.
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
        // The first round begins with an event, which may not come.
        if bus.hasIdleWork { idleWork.start() }
    }

    private func begin() {
        eventBegins()
        bus.descriptors.closer = closer
        listener?.onRefusal = { [unowned self] socket in self.refused(socket) }
        spareTimer = LoopTimer(loop) { [unowned self] in self.settleSpares() }
        hook = RoundHook(loop) { [unowned self] in self.endRound() }
        idleWork = IdleHook(loop) { [unowned self] in self.doIdleWork() }
    }

    // MARK: The loop's rounds

    /// Reads the clock, because something begins that gets its time.
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

    /// Does a batch of everything that takes long, so that no peer waits for all of it.
    private func doIdleWork() {
        eventBegins()
        let hadWork = bus.hasIdleWork
        bus.advanceIdleWork()
        settle()
        // While a light peer is connected, memory is given back only in rounds without other idle
        // work.
        if !bus.isShared || !hadWork {
            bus.reclaimer.giveBack(bus.isShared ? Reclaimer.smallBatch : Reclaimer.batch)
        }
        if !bus.hasIdleWork, awaitingTurn.isEmpty, heardOut.isEmpty, bus.connections.closed.isEmpty,
            bus.reclaimer.isEmpty
        {
            idleWork.stop()
        }
    }

    /// Gives back memory that was kept for the next large frames, and that none of them used.
    private func settleSpares() {
        bus.reclaimer.settle()
        if bus.reclaimer.spareCount == 0 { spareTimer.stop() }
        if !bus.reclaimer.isEmpty { idleWork.start() }
    }

    /// Ends a round: gives heavy peers their turns, writes what the round has produced, and frees
    /// what had to live until its end.
    private func endRound() {
        if !awaitingTurn.isEmpty {
            // What light peers sent goes out first.
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
        // After the writing, so that as little as possible waits.
        if replacement == .tried { handOver() }
        arm()
    }

    /// Sets the kernel's timer if it would fire later than the bus wants. One that fires too early,
    /// because its deadline was cancelled, costs only a round.
    private func arm() {
        guard bus.wakeAt < armedTick else { return }
        armedTick = bus.wakeAt
        timer.start(after: armedTick - min(armedTick, Loop.nanoseconds / 1_000_000))
    }

    // MARK: The end

    /// Ends the app in order. Each module tears down, in reverse start order. Every open request
    /// and every peer gets `shutting-down`. Then the socket closes.
    /// - Parameter then: called when everything is closed.
    public func shutDown(then: @escaping () -> Void) {
        guard bus.stage == .running else { return }
        eventBegins()
        onStopped = then
        bus.shutDown()
        settle()
    }

    /// Expects the process that started this broker to be its launcher. Until it says hello,
    /// requests wait for modules as if it were connected; it has as long for that as any peer.
    /// After a broker's death, other peers often reconnect first.
    public func awaitLauncher(_ pid: Int32) {
        eventBegins()
        bus.awaitLauncher(ProcessIdentity(pid: pid))
    }

    /// Leaves the loop and every descriptor to another broker of this process, which continues from
    /// the state that was written.
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

    /// Leaves the loop, because everything is sent.
    func finish() {
        listener?.close()
        listener = nil
        closeTimers()
        let stopped = onStopped
        onStopped = {}
        stopped()
    }

    /// Accepts no further connections, and removes the socket's file.
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
                "a broker is running on \(path): end it with `strata down`, or choose another --socket")
        case .foreign:
            throw .unusablePath("\(path) exists and is not a socket: remove it, or choose another --socket")
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
    func takeDescriptors(of peer: Peer) { peer.connection.socket.takeDescriptors() }

    func process(of peer: Peer) -> ProcessIdentity? {
        peer.connection.socket.lookAtPeer(peer.credentials) { $0 }
    }

    func descent(of peer: Peer, from process: ProcessIdentity) -> Ancestors.Descent? {
        peer.connection.socket.lookAtPeer(peer.credentials) { Ancestors.descent(of: $0, from: process) }
    }

    func process(_ pid: Int32) -> ProcessIdentity? { ProcessIdentity(pid: pid) }

    func isAlive(_ process: ProcessIdentity) -> Bool { process.isAlive }

    var wallMicroseconds: UInt64 { Loop.wallMicroseconds }

    var steadyNanoseconds: UInt64 { Loop.nanoseconds }
}

/// The reason why a broker did not start.
public enum BrokerStartError: Error, Sendable, CustomStringConvertible {
    /// A live broker has the socket.
    case alreadyRunning(String)
    /// The socket can't be made there.
    case unusablePath(String)
    /// The process can't have one more descriptor.
    case noTimer(SystemError)
    /// The state that another program's broker wrote can't be continued.
    case unusableState(String)

    public var description: String {
        switch self {
        case .alreadyRunning(let message), .unusablePath(let message): message
        case .unusableState(let message): "the broker's state can't be taken over: \(message)"
        case .noTimer(let error): "the broker has no clock for deadlines: \(error)"
        }
    }
}
